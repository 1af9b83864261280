"""`lookalike users`: who may log in."""

import sys
import time
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, elsewhere, next_step, print_json, say, table
from lookalike.core.errors import ArgumentError

users = typer.Typer(no_args_is_help=True, help="Who may log in, and as what.", rich_markup_mode=None)
Name = Annotated[str, typer.Argument(help="The person's name; case does not count.")]


class Role(StrEnum):
    """What somebody may do."""

    annotator = "annotator"
    lead = "lead"


@users.command("add")
def add(
    name: Name,
    workspace: WorkspaceOption = Path(),
    role: Annotated[Role, typer.Option(help="A lead also manages people and decides.")] = Role.annotator,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from standard input, one line.")
    ] = False,
    invite: Annotated[
        bool, typer.Option("--invite", help="Print a link by which they set their password.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Add somebody; asks for their password."""
    from lookalike.recipes.people import add_person, invite_person
    from lookalike.store.people import clean_name
    from lookalike.store.workspace import Workspace

    opened = Workspace(workspace)
    clean_name(name)
    link = ""
    if invite:
        made, link = invite_person(opened, name, role.value, _now())
    else:
        made = add_person(opened, name, role.value, _password(password_stdin), _now())
    if json:
        print_json({**asdict(made), "link": link or None})
        return
    say(f"Added {made.name} as {'a lead' if made.is_lead else 'an annotator'}.")
    if link:
        _say_link(link)
    next_step("lookalike serve", workspace=workspace)


@users.command("list")
def list_users(workspace: WorkspaceOption = Path(), json: JsonOption = False) -> None:
    """Everybody who may log in, and who was removed."""
    from lookalike.recipes.people import everyone
    from lookalike.store.workspace import Workspace

    found = everyone(Workspace(workspace))
    if json:
        print_json({"people": [asdict(one) for one in found]})
        return
    if not found:
        say("Nobody yet.")
        next_step("lookalike users add NAME --role lead", workspace=workspace)
        return
    rows = [(one.name, one.role, _state(one.removed, one.has_password), _day(one.created)) for one in found]
    table(["name", "role", "", "since"], rows, left=4)


@users.command("reset")
def reset(name: Name, workspace: WorkspaceOption = Path(), json: JsonOption = False) -> None:
    """Print a link by which somebody sets a new password."""
    from lookalike.recipes.people import reset_person
    from lookalike.store.workspace import Workspace

    found, link = reset_person(Workspace(workspace), name, _now())
    if json:
        print_json({**asdict(found), "link": link})
        return
    say(f"{found.name} can set a new password; the present one works until then.")
    _say_link(link)


@users.command("remove")
def remove(name: Name, workspace: WorkspaceOption = Path(), json: JsonOption = False) -> None:
    """Shut somebody out at once; their votes stay."""
    from lookalike.recipes.people import remove_person
    from lookalike.store.workspace import Workspace

    found = remove_person(Workspace(workspace), name, _now())
    if json:
        print_json({"removed": found.name})
        return
    say(
        f"Removed {found.name}: they are logged out, and their votes stay.",
        f"Everybody else: lookalike users list{elsewhere(workspace)}",
    )


def _password(from_input: bool) -> str:
    if from_input:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise ArgumentError(
            "There is no terminal to ask for the password at.",
            fix="Use --password-stdin and send it as one line, or --invite for a link.",
        )
    asked: str = typer.prompt("Password", hide_input=True, confirmation_prompt="The same again")
    return asked


def _say_link(link: str) -> None:
    say(
        f"Their link, after the address that `lookalike serve` prints: {link}",
        "It works once, for 7 days; hand it over yourself.",
    )


def _state(removed: int | None, has_password: bool) -> str:
    if removed is not None:
        return f"removed {_day(removed)}"
    return "" if has_password else "no password yet"


def _day(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d")


def _now() -> int:
    return time.time_ns() // 1_000_000
