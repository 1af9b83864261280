"""One page per command, from what the command itself declares: its help, its options, the schema of its JSON."""

import contextlib
import inspect
import re
from collections.abc import Iterable, Iterator
from typing import Any

import typer.main

from lookalike.cli.app import app
from lookalike.cli.commands import COMMANDS, HIDDEN, PANELS
from lookalike.core.json import schema_of, to_json

FOLDER = "reference/commands"


class Rows:
    """What help would print: the rows of each section."""

    def __init__(self) -> None:
        self.sections: dict[str, list[tuple[str, str]]] = {}

    @contextlib.contextmanager
    def section(self, name: str) -> Iterator[None]:
        """Begin a section."""
        self.sections[name] = []
        yield

    def write_dl(self, rows: Iterable[tuple[str, str]]) -> None:
        """Add rows to the section."""
        self.sections[list(self.sections)[-1]].extend(rows)


def listed() -> list[str]:
    """The full names of the commands that help lists, groups included."""
    return [name for name, entry in COMMANDS.items() if entry.panel != HIDDEN or " " in name]


def command(name: str) -> Any:  # noqa: ANN401 - a command or group of the parser
    """A command by its full name."""
    found: Any = typer.main.get_command(app)
    for word in name.split():
        found = found.commands[word]
    return found


def page_name(name: str) -> str:
    """The page of a command, as Sphinx names it."""
    return f"{FOLDER}/{name.replace(' ', '-')}"


def page(name: str) -> str:
    """The page of a command or group."""
    one = command(name)
    context = one.context_class(one, info_name=f"lookalike {name}")
    rows = Rows()
    one.format_options(context, rows)
    parts = [f"# lookalike {name}", escaped(inspect.cleandoc(one.help))]
    if inner := [other for other in listed() if other.startswith(f"{name} ")]:
        rows.sections.pop("Commands", None)
        parts.append("\n".join(f"- {_line(other)}" for other in inner))
    parts.append(f"    lookalike {name} {' '.join(one.collect_usage_pieces(context))}")
    for section, entries in rows.sections.items():
        parts += [f"## {section}", *(f"`{option}`\n: {escaped(help) or '-'}" for option, help in entries)]
    if getattr(one, "result", None) is not None:
        schema = to_json(schema_of(one.result))
        introduction = f"`lookalike {name} --json` prints one JSON object of this schema."
        parts += ["## JSON schema", introduction, f"```json\n{schema}\n```"]
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """The page that lists all commands by their panel in the help."""
    parts = [
        "# Commands",
        "This page lists all commands. The page of a command shows its help, and the JSON schema of its output.",
        "`lookalike COMMAND --help` prints the same help, and `lookalike COMMAND --json-schema` the same schema.",
    ]
    for panel in PANELS:
        names = [name for name in listed() if COMMANDS[name.partition(" ")[0]].panel == panel]
        parts += [f"## {panel}", "\n".join(f"- {_line(name)}" for name in names)]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """Plain text as Markdown; code in backticks stays code.

    >>> escaped("Keep `a_b` and *.jpg")
    'Keep `a_b` and \\\\*.jpg'
    """
    return re.sub(
        r"`[^`\n]+`|([\\*_<>\[\]|#$~])", lambda found: f"\\{found[1]}" if found[1] else found[0], text
    )


def _line(name: str) -> str:
    return f"[lookalike {name}](/{page_name(name)}.md): {COMMANDS[name].summary}"
