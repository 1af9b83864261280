"""Every command, option and choice that the documentation names exists."""

import itertools
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from lookalike.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
OF_OTHER_PROGRAMS = {"--think", "--kill", "--pairs", "--on", "--tests", "--journal", "--logdir", "--card"}


def listed(group: Any, prefix: str = "") -> dict[str, Any]:
    """The commands that the help of a group lists, by their full name; those of its subgroups too."""
    context = group.context_class(group)
    names = re.findall(r"^  ([a-z-]+)(?: |$)", group.get_help(context), re.MULTILINE)
    found: dict[str, Any] = {}
    for name in names:
        command = group.get_command(context, name)
        if command is None:  # a word of the description
            continue
        found[prefix + name] = command
        if hasattr(command, "list_commands"):
            found |= listed(command, f"{prefix}{name} ")
    return found


@cache
def commands() -> dict[str, Any]:
    """All commands by their full name, with "" for `lookalike` itself."""
    root = typer.main.get_command(app)
    return {"": root, **listed(root)}


def options(command: Any) -> dict[str, Any]:
    """The options that the help of a command shows."""
    shown = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    return {name: each for each in shown for name in (*each.opts, *each.secondary_opts)}


def everything() -> set[str]:
    """All options of all commands."""
    return {
        "--help",
        "--json-schema",
        *(name for command in commands().values() for name in options(command)),
    }


def written(page: Path) -> list[str]:
    """The command lines of a page: indented lines, also as processes of torchrun, and code in the text."""
    text = page.read_text(encoding="utf-8")
    lines = re.findall(r"^ {4,}(?:torchrun .* -m )?(lookalike .*)$", text, re.MULTILINE)
    return lines + re.findall(r"`(lookalike [^`]+)`", text)


def check(line: str) -> None:
    """Raise if the line names a command, an option or a choice that does not exist."""
    words = shlex.split(line, comments=True)[1:]
    name = ""
    while words and f"{name} {words[0]}".strip() in commands():
        name = f"{name} {words.pop(0)}".strip()
    command = commands()[name]
    if words and hasattr(command, "list_commands"):  # a group: what follows is a placeholder or an option
        assert words[0].isupper() or words[0].startswith("-"), line
    known = options(command)
    for word, following in itertools.pairwise([*words, ""]):
        if word.startswith("-") and word != "--help":
            assert word in known, line
            shown = known[word].get_help_record(command.context_class(command))[0]
            choices = re.findall(r"[\w-]+", shown.split()[-1]) if "|" in shown else []
            assert not choices or following.isupper() or following in (*choices, ""), line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_command_lines_name_what_exists(page):
    for line in written(page):
        check(line)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_options_in_the_text_exist(page):
    text = page.read_text(encoding="utf-8")
    named = {
        name for code in re.findall(r"`([^`\n]+)`", text) for name in re.findall(r"(?<!\S)--[a-z-]+", code)
    }
    assert named <= everything() | OF_OTHER_PROGRAMS


@pytest.mark.parametrize(
    "line",
    [
        "lookalike embd x",
        "lookalike evaluate --nothing",
        "lookalike labels stats --level photo",
        "lookalike settle a b",
    ],
)
def test_the_check_finds_faults(line):
    with pytest.raises(AssertionError):
        check(line)
