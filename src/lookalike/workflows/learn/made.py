"""An encoder made from others in one step: its checkpoint and its vectors, once."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from lookalike.core.checks import fingerprint
from lookalike.core.progress import Progress
from lookalike.encode.sources.checkpoint_file import read_about
from lookalike.encode.spec import MODELS
from lookalike.store.vectors import models
from lookalike.store.vectors.arrays import images_fingerprint
from lookalike.store.workspace import Workspace
from lookalike.workflows.start.embed import embed


def identity_of(workspace: Workspace, encoder: str) -> dict[str, Any]:
    """What an encoder made from another depends on, apart from its settings: one part of the run's identity."""
    manifest, catalog = workspace.manifest(encoder), workspace.catalog
    return {
        "encoder": asdict(manifest.origin),
        "vectors": f"{manifest.sum:08x}",
        "images": images_fingerprint(catalog),
        "split": fingerprint(catalog.split),
    }


def keep_encoder(
    workspace: Workspace,
    name: str,
    identity: Mapping[str, Any],
    files: Callable[[], Mapping[str, bytes]],
    *,
    replace: bool,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Make a checkpoint, embed the catalog with it, and return what its checkpoint.json says.

    The files are not computed again if they were made with the same identity. Raises LearningError for a name that
    another run has, unless `replace`.
    """
    spec, folder = f"checkpoint:{MODELS}/{name}", workspace.folder
    with models.running(folder, name):
        if replace or not models.is_finished(folder, name, identity):
            models.require_startable(folder, name, identity, replace=replace)
            content = files()
            if replace and name in workspace.encoders:
                workspace.remove_embeddings(name)
            run = models.begin(folder, name, identity, replace=replace)
            run.write(content)
        if name not in workspace.encoders:
            embed(workspace, spec, name=name, stored=True, progress=progress)
    return read_about(folder / MODELS / name, name)
