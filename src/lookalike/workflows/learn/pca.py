"""`pca`: an encoder's vectors in fewer dimensions, fitted on the training split without labels."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lookalike.core.checks import at_least
from lookalike.core.progress import Progress, part
from lookalike.encode.open import require_torch
from lookalike.encode.spec import MODELS, check_name, parse
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn.made import identity_of, keep_encoder
from lookalike.workflows.learn.requirements import require_trainable


@dataclass(frozen=True)
class ReducedEncoder:
    """An encoder made from `base` by principal components.

    `variance` is their share of the variance of the `images` that they were fitted on.
    """

    encoder: str
    spec: str
    base: str
    base_dimension: int
    dimension: int
    images: int
    variance: float
    folder: str


def pca(
    workspace: Workspace,
    encoder: str,
    name: str,
    dimensions: int,
    *,
    replace: bool = False,
    progress: Progress | None = None,
) -> ReducedEncoder:
    """Fit principal components to an encoder's vectors of the training split, and keep them as the encoder `name`.

    The dimension is smaller than requested where the encoder's, or the number of images less 1, is smaller. A finished
    run with the same settings and data is not repeated.
    """
    at_least(dimensions, 1, "dimensions")
    spec = f"checkpoint:{MODELS}/{check_name(name)}"
    require_trainable(workspace, encoder, name, spec, None, replace=replace)
    require_torch(parse(spec))
    vectors, manifest = workspace.embeddings(encoder).vectors, workspace.manifest(encoder)
    rows = np.flatnonzero(workspace.catalog.split == "train")

    def files() -> Mapping[str, bytes]:
        from lookalike.encode.sources.checkpoint import head_files
        from lookalike.learn.components import fit_components

        found = fit_components(vectors, rows, dimensions, part(progress, 0, 2))
        fitted = {"images": len(rows), "variance": found.share}
        return head_files(manifest.origin, found.head, {}, fitted)

    identity = identity_of(workspace, encoder) | {"command": "pca", "settings": {"dimensions": dimensions}}
    about = keep_encoder(workspace, name, identity, files, replace=replace, progress=part(progress, 1, 2))
    return ReducedEncoder(
        encoder=name,
        spec=spec,
        base=encoder,
        base_dimension=vectors.shape[1],
        dimension=about["head"]["projection"],
        images=about["fitted"]["images"],
        variance=about["fitted"]["variance"],
        folder=str(workspace.folder / MODELS / name),
    )
