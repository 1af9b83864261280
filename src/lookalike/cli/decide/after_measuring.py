"""What to do after encoders were measured: the next commands, and the licence to check before a promotion."""

from lookalike.cli.console import next_step, say
from lookalike.core.text import folded
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.training_verdict import PROMOTE


def next_after_measuring(workspace: Workspace, *commands: str) -> None:
    """Print the next commands; before a promotion also the licence that the user has to check."""
    for command in commands:
        if command.startswith(PROMOTE):
            say(*map(folded, _open_licence(workspace, command.removeprefix(PROMOTE))))
    next_step(*commands, workspace=workspace.folder)


def _open_licence(workspace: Workspace, encoder: str) -> tuple[str, ...]:
    from lookalike.workflows.release.licence import CLEARED, check_licence

    found = check_licence(workspace, encoder, cleared=False)
    if found.passed:
        return ()
    if CLEARED in found.fix:
        return (
            f"The licence of the weights that {encoder} uses is not known, or leaves open whether you may serve it. If "
            f"you may, add {CLEARED} to the promotion.",
        )
    return (f"{found.why} {found.fix}",)
