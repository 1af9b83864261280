"""Embeddings on disk: `embeddings/NAME/vectors.npy` and a `manifest.json` that says what made them."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from lookalike.core.checks import fingerprint
from lookalike.core.errors import EmbeddingsError
from lookalike.core.types import Catalog, Embeddings
from lookalike.store.disk import new_folder

VECTORS, MANIFEST = "vectors.npy", "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """What the vectors are of. `images` is a fingerprint of ids and photo contents, in catalog order."""

    spec: str
    preprocessing: str
    images: str
    rows: int
    dimension: int
    created: str


def images_fingerprint(catalog: Catalog) -> str:
    """Equal exactly when the catalog has the same images with the same photo contents, in the same order."""
    return fingerprint(catalog.image, catalog.digest)


def save_embeddings(folder: Path, embeddings: Embeddings, manifest: Manifest) -> None:
    """Write a folder as a whole: it holds all of the vectors or is not there."""
    with new_folder(folder) as new:
        with (new / VECTORS).open("wb") as file:
            np.save(file, embeddings.vectors)
        (new / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """The manifest of one encoder's vectors."""
    try:
        return Manifest(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise _damaged(folder, error) from None


def load_embeddings(folder: Path, catalog: Catalog) -> Embeddings:
    """Vectors of the catalog as it is now; vectors of another state of it are refused as stale."""
    manifest = read_manifest(folder)
    if manifest.images != images_fingerprint(catalog):
        raise EmbeddingsError(
            f"The vectors of {folder.name} are stale: the catalog's images changed after they were made "
            f"({manifest.rows:,} images then, {len(catalog):,} now).",
            fix=f"Make them again: lookalike embed '{manifest.spec}' --name {folder.name}",
        )
    try:
        vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _damaged(folder, error) from None
    return Embeddings(folder.name, catalog.image, vectors, manifest.spec)


def _damaged(folder: Path, error: Exception) -> EmbeddingsError:
    return EmbeddingsError(
        f"The vectors of {folder.name} are damaged ({error}).",
        fix=f"Delete {folder} and embed again.",
    )
