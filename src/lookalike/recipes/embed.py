"""`embed`: one encoder over the workspace's catalog."""

from pathlib import Path

from lookalike.core.errors import EmbeddingsError
from lookalike.core.progress import Progress
from lookalike.core.types import Embeddings
from lookalike.encode.precomputed import precomputed
from lookalike.encode.run import encode_catalog, photo_encoder
from lookalike.encode.spec import check_name, parse, require_built
from lookalike.rank.cores import cores
from lookalike.store.workspace import Workspace

NOT_KNOWN = "not known: precomputed"


def embed(
    workspace: Workspace,
    encoder: str,
    *,
    name: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> Embeddings:
    """Compute or take in an encoder's vectors and keep them under a short name.

    A name that holds the vectors of another encoder string is refused unless `replace`.
    """
    spec = parse(encoder)
    require_built(spec)
    name = spec.short_name if name is None else check_name(name)
    preprocessing = NOT_KNOWN if spec.source == "precomputed" else photo_encoder(spec)[1]
    if not replace:
        workspace.require_free(name, str(spec))
    with workspace.embedding(name):
        if spec.source == "precomputed":
            vectors = precomputed(workspace.catalog, Path(spec.name))
            made = Embeddings(name, workspace.catalog.image, vectors, str(spec))
            workspace.save_embeddings(made, preprocessing)
        else:
            if workspace.photos is None:
                raise EmbeddingsError(
                    f"{spec} needs photos, but this workspace has none.",
                    fix="Make it again with the photos: lookalike init TABLE --images FOLDER --replace",
                )
            shards = workspace.shards(name, str(spec), preprocessing)
            encode_catalog(
                workspace.catalog, workspace.photos, spec, shards, workers=cores(), progress=progress
            )
            workspace.finish_shards(shards)
    return workspace.embeddings(name)
