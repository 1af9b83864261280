"""What all commands share at the terminal: words on one stream, progress on the other, JSON for programs."""

import json
import math
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from lookalike.core.errors import ArgumentError

QUIET_SECONDS = 5.0
HERE = Path()

WorkspaceOption = Annotated[
    Path,
    typer.Option("--workspace", "-w", help="Folder of the workspace.", show_default="the current folder"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]

WIDTH = 100  # of sentences
WIDE = 10_000  # a pipe or a file has no edge to fold tables at


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, soft_wrap=True, highlight=False)
    return (
        console
        if console.is_terminal
        else Console(stderr=stderr, soft_wrap=True, highlight=False, width=WIDE)
    )


out, err = _console(stderr=False), _console(stderr=True)


def say(*sentences: str) -> None:
    """Print sentences as they are; brackets in file names are no markup."""
    for sentence in sentences:
        out.print(Text(printable(sentence)))


def folded(sentence: str, indent: str = "") -> str:
    """A sentence of any length on lines that fit, further ones indented by two more; names are never broken.

    >>> print(folded("Undefined: " + "word " * 18 + "some-long-name"))
    Undefined: word word word word word word word word word word word word word word word word word word
      some-long-name
    """
    return fill(
        sentence,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def elsewhere(workspace: Path) -> str:
    """What a command needs at its end for a workspace that is not the current folder."""
    return "" if workspace == HERE else f" --workspace {shlex.quote(str(workspace))}"


def next_step(*commands: str, workspace: Path = HERE) -> None:
    """Say what comes next, in words that can be typed here."""
    where = elsewhere(workspace)
    for at, command in enumerate(commands):
        head, dashes, names = command.partition(" -- ")  # what comes after these is never an option
        typed = (
            head.replace("lookalike", program(), 1) + where + dashes + names
            if command.startswith("lookalike ")
            else command
        )
        out.print(
            Text("Next: " if at == 0 else "      ", style="bold") + Text(printable(typed), style="cyan")
        )


def plural(count: int, one: str, many: str = "") -> str:
    """A number with its noun.

    >>> plural(1, "query", "queries"), plural(2_000, "pair")
    ('1 query', '2,000 pairs')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def megabytes(count: float) -> str:
    """Bytes as people read them.

    >>> megabytes(500), megabytes(2.4e6)
    ('under 1 MB', '2 MB')
    """
    return f"{count / 1e6:,.0f} MB" if count >= 1e6 else "under 1 MB"


def program() -> str:
    """`lookalike` where a shell finds it, else the path it was started by."""
    started = Path(sys.argv[0])
    if started.name != "lookalike" or shutil.which("lookalike"):
        return "lookalike"
    return os.path.relpath(started) if started.is_relative_to(Path.cwd()) else str(started)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
    """Print a table; the first `left` columns are words, the others numbers. Blank column names: no head."""
    shown = Table(box=None, pad_edge=False, header_style="bold", show_header=any(columns))
    for at, column in enumerate(columns):
        shown.add_column(Text(column), justify="left" if at < left else "right", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    out.print(shown)


def printable(text: str) -> str:
    """Control characters of file names spelled out, so that a name cannot draw on the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def pairs(given: Sequence[str] | None, option: str, example: str) -> dict[str, str] | None:
    """Options of the form name=value as a mapping, None where none is given."""
    if not given:
        return None
    found = dict(part.partition("=")[::2] for part in given)
    if not all(found) or not all(found.values()):
        raise ArgumentError(f"{option} is {given[0]!r}.", fix=f"Write it like {option} {example}.")
    return found


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2, default=_plain) + "\n")


def number(value: float) -> float | None:
    """A number for JSON: NaN and infinity, which JSON lacks, become null."""
    return float(value) if math.isfinite(value) else None


def finite(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields for JSON, with null for the numbers that it lacks."""
    return {name: number(value) if isinstance(value, float) else value for name, value in fields.items()}


@contextmanager
def progress(doing: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """A bar with the time left on a terminal; elsewhere a line now and then; nothing with --json."""
    if quiet:
        yield None
    elif err.is_terminal:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=err, transient=True) as bar:
            task = bar.add_task(doing, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
    else:
        yield _line_now_and_then(doing)


def _line_now_and_then(doing: str) -> Callable[[int, int], None]:
    last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > QUIET_SECONDS:
            last = time.monotonic()
            err.print(Text(f"{doing}: {done:,} of {total:,}"))

    return tell


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever json cannot write
    return value.item() if hasattr(value, "item") else str(value)
