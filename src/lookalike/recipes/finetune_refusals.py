"""What `finetune` refuses before anything is removed or computed: an encoder or a name that cannot be what is asked."""

import shlex
from contextlib import suppress
from pathlib import Path

from lookalike.core.checks import shortened
from lookalike.core.errors import EmbeddingsError, EncoderError, LearningError
from lookalike.encode.checkpoint_file import checkpoints, heads_down
from lookalike.encode.spec import MODELS, SOURCES, EncoderSpec, checkpoint_folder, parse
from lookalike.store.workspace import Workspace


def require_vectors(workspace: Workspace, encoder: str) -> None:
    """Refuse an encoder without vectors here; an encoder string is told how to become one with."""
    if encoder in workspace.encoders:
        return
    if encoder.partition(":")[0] in SOURCES and ":" in encoder:
        holding = [one for one in workspace.encoders if workspace.manifest(one).spec == encoder]
        raise EmbeddingsError(
            f"A head is trained on vectors by the short name of their encoder, and {encoder!r} is an encoder string.",
            fix=f"Name {holding[0]}, which holds its vectors."
            if holding
            else f"Embed it first: lookalike embed {shlex.quote(encoder)}",
        )
    workspace.vectors_folder(encoder)


def require_another(workspace: Workspace, name: str, encoder: str) -> None:
    """Refuse to train a head in the place of what it is on, by whatever name and however far down that is."""
    beneath = heads_down(parse(workspace.manifest(encoder).spec), workspace.folder)
    if name == encoder or _folder(workspace, name) in _folders(workspace, beneath):
        on = "what it would be trained on" if name == encoder else f"what {encoder} is made with"
        raise LearningError(
            f"The name {name!r} is taken: {name} is {on}.", fix="Choose another name with --name NAME."
        )


def require_none_above(workspace: Workspace, name: str) -> None:
    """Refuse to replace a head that others are on: they could no longer be embedded or trained again."""
    above = heads_on(workspace, name)
    if above:
        raise LearningError(
            f"{name} cannot be replaced: {shortened(above)} {'is a head' if len(above) == 1 else 'are heads'} on it, "
            "and would belong to an encoder that is gone.",
            fix=f"Choose another name with --name NAME, or delete {'it' if len(above) == 1 else 'them'} first "
            f"(in {workspace.folder / MODELS}).",
        )


def heads_on(workspace: Workspace, name: str) -> list[str]:
    """Checkpoints and encoders of the workspace that have the run `name` beneath them, not counting its own copies."""
    folder, models = _folder(workspace, name), {}
    for checkpoint in checkpoints(workspace.folder):
        models[checkpoint] = f"checkpoint:{MODELS}/{checkpoint}"
    for encoder in workspace.encoders:
        with suppress(EmbeddingsError):  # damaged vectors: the report of the workspace says so
            models.setdefault(encoder, workspace.manifest(encoder).spec)
    found = []
    for one, spec in models.items():
        with suppress(EncoderError):  # a checkpoint that cannot be read is on nothing that is known
            if folder in _folders(workspace, heads_down(parse(spec), workspace.folder)[1:]):
                found.append(one)
    return sorted(found)


def _folder(workspace: Workspace, name: str) -> Path:
    return (workspace.folder / MODELS / name).resolve()


def _folders(workspace: Workspace, specs: tuple[EncoderSpec, ...]) -> set[Path]:
    """Where those of some encoders that are checkpoints lie."""
    there = (checkpoint_folder(one.name, workspace.folder) for one in specs if one.source == "checkpoint")
    return {folder.resolve() for folder in there if folder is not None}
