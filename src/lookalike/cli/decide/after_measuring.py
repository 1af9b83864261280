"""What to do after encoders were measured: the next commands, and the licence to check before a promotion."""

from lookalike.cli.console import next_step, say
from lookalike.core.text import folded
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.next_steps import OPEN_LICENCE
from lookalike.workflows.release.licence import CLEARED, PROMOTE, check_licence


def next_after_measuring(workspace: Workspace, *commands: str) -> None:
    """Print the next commands; before a promotion also what there is to check about the licence."""
    say_licence(workspace, *commands)
    next_step(*commands, workspace=workspace.folder)


def say_licence(workspace: Workspace, *commands: str) -> None:
    """What there is to check about the licence of an encoder before it is promoted."""
    for command in commands:
        if CLEARED in command:
            say(folded(OPEN_LICENCE))
        elif command.startswith(PROMOTE):
            found = check_licence(workspace, command.removeprefix(PROMOTE), cleared=False)
            say(*([] if found.passed else [folded(f"{found.why} {found.fix}")]))
