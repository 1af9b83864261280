"""What `finetune` checks before it removes or computes anything: the encoder, the name and the ONNX file."""

import os
import shlex
from contextlib import suppress
from pathlib import Path

from lookalike.core.errors import ArgumentError, EmbeddingsError, EncoderError, LearningError
from lookalike.core.text import quoted
from lookalike.encode.sources.checkpoint_file import ancestry, checkpoints
from lookalike.encode.spec import MODELS, SOURCES, EncoderSpec, checkpoint_folder, parse
from lookalike.store.workspace import Workspace

SUFFIX = ".onnx"


def require_trainable(
    workspace: Workspace, encoder: str, name: str, spec: str, onnx: Path | None, *, replace: bool
) -> None:
    """Refuse a run that could not start or whose result could not be written."""
    require_vectors(workspace, encoder)
    _require_another(workspace, name, encoder)
    if replace:
        _require_none_above(workspace, name)
    workspace.require_free(name, spec)
    if onnx is not None:
        _require_writable(onnx)


def require_vectors(workspace: Workspace, encoder: str) -> None:
    """Refuse an encoder without vectors here; for an encoder string, say how to get its vectors."""
    if encoder in workspace.encoders:
        return
    if encoder.partition(":")[0] in SOURCES and ":" in encoder:
        holding = [one for one in workspace.encoders if workspace.manifest(one).spec == encoder]
        raise EmbeddingsError(
            f"{encoder!r} is an encoder string; training needs the name of an encoder with vectors.",
            fix=f"Use {holding[0]}, which holds its vectors."
            if holding
            else f"Embed it first: lookalike embed {shlex.quote(encoder)}",
        )
    workspace.vectors_folder(encoder)


def _require_another(workspace: Workspace, name: str, encoder: str) -> None:
    """Refuse to overwrite the encoder that the new one is made from, directly or through others."""
    bases = ancestry(parse(workspace.manifest(encoder).spec), workspace.folder)
    if name == encoder or _folder(workspace, name) in _folders(workspace, bases):
        on = "the encoder that you start from" if name == encoder else f"part of {encoder}"
        raise LearningError(
            f"The name {name!r} is taken: {name} is {on}.", fix="Choose another name with --name NAME."
        )


def _require_none_above(workspace: Workspace, name: str) -> None:
    """Refuse to replace a head that other heads are trained on: they could no longer be embedded."""
    above = heads_on(workspace, name)
    if above:
        raise LearningError(
            f"{name} cannot be replaced: {quoted(above)} {'was' if len(above) == 1 else 'were'} made from it.",
            fix=f"Choose another name with --name NAME, or delete {'it' if len(above) == 1 else 'them'} first "
            f"(in {workspace.folder / MODELS}).",
        )


def _require_writable(file: Path) -> None:
    """Refuse an ONNX file that could not be written at the end, and a machine without the libraries to make it."""
    from lookalike.encode.export import require_onnx

    require_onnx()
    folder = file.parent
    checks = (
        (file.suffix.lower() != SUFFIX, f"its name does not end with {SUFFIX}"),
        (file.is_dir(), "it is a folder"),
        (not folder.is_dir(), f"there is no folder {folder}"),
        (folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK), f"{folder} is not writable"),
    )
    problems = [problem for failed, problem in checks if failed]
    if problems:
        raise ArgumentError(
            f"Cannot write the ONNX file {str(file)!r}: {'; '.join(problems)}.",
            fix=f"Choose a file in an existing folder, for example head{SUFFIX}.",
        )


def heads_on(workspace: Workspace, name: str) -> list[str]:
    """Checkpoints and encoders of the workspace that were trained on the run `name`, without its own copies."""
    folder, models = _folder(workspace, name), {}
    for checkpoint in checkpoints(workspace.folder):
        models[checkpoint] = f"checkpoint:{MODELS}/{checkpoint}"
    for encoder in workspace.encoders:
        with suppress(EmbeddingsError):  # damaged vectors: the report of the workspace says so
            models.setdefault(encoder, workspace.manifest(encoder).spec)
    found = []
    for one, spec in models.items():
        with suppress(EncoderError):  # a checkpoint that cannot be read is on nothing that is known
            if folder in _folders(workspace, ancestry(parse(spec), workspace.folder)[1:]):
                found.append(one)
    return sorted(found)


def _folder(workspace: Workspace, name: str) -> Path:
    return (workspace.folder / MODELS / name).resolve()


def _folders(workspace: Workspace, specs: tuple[EncoderSpec, ...]) -> set[Path]:
    """The folders of those encoders that are checkpoints."""
    there = (checkpoint_folder(one.name, workspace.folder) for one in specs if one.source == "checkpoint")
    return {folder.resolve() for folder in there if folder is not None}
