"""`embed` in shards: workers compute vectors of ranges of the catalog, from a plan and the photos alone.

A unit is a range of rows that one process would save together, so batches are the same as in one process.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32

from lookalike.catalog.photos.masks import Region
from lookalike.core.cores import cores
from lookalike.core.errors import EmbeddingsError, StorageError
from lookalike.core.object_store import is_address
from lookalike.core.progress import Progress, further
from lookalike.core.types import Catalog, Embeddings, KnownVectors, Origin
from lookalike.encode.batch_size import planning_batches
from lookalike.encode.encoder import Encoder
from lookalike.encode.open import open_encoder
from lookalike.encode.run import SHARD, encode_catalog
from lookalike.encode.spec import check_name, located, parse
from lookalike.store.shards.packed import Packed, Packing
from lookalike.store.shards.places import Place
from lookalike.store.workspace import Workspace
from lookalike.workflows.shards.photos import staged
from lookalike.workflows.shards.plans import MadeUnits, ShardWork, save_plan
from lookalike.workflows.start.heads import base_vectors

KIND = "embed"
COLUMNS = ("image", "path", "digest", "box")


@dataclass(frozen=True)
class Rows:
    """Rows of the catalog, and which of them have no vectors yet."""

    catalog: Catalog
    new: np.ndarray


def plan_embed(
    workspace: Workspace,
    place: Place,
    encoder: str,
    *,
    name: str | None = None,
    batch: int | None = None,
    replace: bool = False,
) -> Packed:
    """Freeze what workers need to compute the vectors of an encoder: rows, photos, encoder, batch size."""
    spec = located(parse(encoder), workspace.folder)
    name = spec.short_name if name is None else check_name(name)
    if not replace:
        workspace.require_free(name, str(spec))
    if spec.source == "precomputed" or base_vectors(workspace, spec):
        raise EmbeddingsError(
            f"{spec} reads vectors, not photos, so one machine computes it in seconds.",
            fix=f"Use: lookalike embed {encoder}",
        )
    if workspace.photos is None:
        raise EmbeddingsError(
            f"{spec} needs photos, but this workspace has none.",
            fix="Create the workspace again with photos: lookalike init TABLE --images FOLDER --overwrite",
        )
    with ExitStack() as stack:
        if batch:
            stack.enter_context(planning_batches(batch))
        made_by = open_encoder(spec, workspace.folder)
    catalog, known = workspace.catalog, workspace.known_rows(name, made_by.origin)
    header = {
        "name": name,
        "replace": replace,
        "origin": asdict(made_by.origin),
        "dimension": made_by.dimension,
        "batch": made_by.batch,
        "rows": len(catalog),
        "images": catalog.images_fingerprint,
        "reads": str(workspace.photos.resolve()),
        "folder": str(workspace.folder.resolve()),
    }
    return save_plan(place, KIND, header, _units(catalog, known))


def work_embed(work: ShardWork) -> str:
    """Compute the vectors of some units; returns the device. No database is opened."""
    encoder = opened(work.plan)
    encode_units(work, encoder)
    return str(getattr(encoder, "device", ""))


def encode_units(work: ShardWork, encoder: Encoder) -> None:
    """Append the vectors of some units, one chunk each.

    Batches never cross units, so units from an object store are encoded one by one with the same result.
    """
    plan, units, root = work.plan, work.units, work.photos or str(work.plan.header["reads"])
    if is_address(root):
        parts = [range(unit, unit + 1) for unit in units]
        folders = staged(root, [_files(_rows(plan, part)) for part in parts])
    else:
        parts, folders = [units], iter([Path(root)])
    done, total = 0, sum(len(_rows(plan, part).new) for part in parts)
    for part, folder in zip(parts, folders, strict=True):
        rows = _rows(plan, part)
        left_blank = KnownVectors(np.zeros((1, encoder.dimension), np.float32), np.where(rows.new, -1, 0))
        encode_catalog(
            rows.catalog,
            folder,
            encoder,
            _Chunks(work.packing, rows.new),
            known=left_blank,
            workers_count=work.workers or cores(),
            progress=further(work.progress, done, total),
        )
        done += len(rows.new)


def _files(rows: Rows) -> list[str]:
    """The photos and masks of the rows without vectors."""
    masks = (Region.of(box).mask for box in rows.catalog.box[rows.new])
    return [*rows.catalog.path[rows.new].tolist(), *(mask for mask in masks if mask)]


def join_embed(
    workspace: Workspace, plan: Packed, made: MadeUnits, progress: Progress | None = None
) -> Embeddings:
    """Write the vectors that one process would have written."""
    header, name = plan.header, str(plan.header["name"])
    origin, dimension = Origin(**header["origin"]), int(header["dimension"])
    if workspace.catalog.images_fingerprint != header["images"]:
        raise EmbeddingsError(
            f"The catalog changed after the plan: it had {header['rows']:,} images then, and has "
            f"{len(workspace.catalog):,} now, or photos were replaced.",
            fix="Plan again into another folder.",
        )
    if not header["replace"]:
        workspace.require_free(name, origin.spec)
    with workspace.embedding(name):
        known = workspace.known_rows(name, origin)
        shards = workspace.shards(name, origin)
        for unit in range(len(plan.chunks)):
            new = _rows(plan, [unit]).new
            first = unit * SHARD
            if not shards.holds(first, first + len(new)):
                shards.put(first, _complete(made.chunk(unit), new, dimension, known, first))
            if progress:
                progress(unit + 1, len(plan.chunks))
        shards.finish()
    return workspace.embeddings(name)


def _complete(
    chunk: bytes, new: np.ndarray, dimension: int, known: KnownVectors | None, first: int
) -> Float32[np.ndarray, "rows dimension"]:
    """The vectors of a unit: those that a worker made, and those that the workspace has."""
    vectors = np.empty((len(new), dimension), np.float32)
    vectors[new] = np.frombuffer(chunk, "<f4").reshape(-1, dimension)
    if not new.all():
        rows = np.full(len(new), -1) if known is None else known.row[first : first + len(new)]
        if known is None or (rows[~new] < 0).any():
            raise EmbeddingsError(
                "Vectors that the workspace had when the work was planned are gone, and no worker computed them.",
                fix="Plan again into another folder.",
            )
        vectors[~new] = known.vectors[rows[~new]]
    return vectors


class _Chunks:
    """A sink that appends the new vectors of each unit to the file of a shard."""

    def __init__(self, packing: Packing, new: np.ndarray) -> None:
        self.packing, self.new = packing, new

    def holds(self, first: int, last: int) -> bool:
        """Always False: a worker makes its file from the start."""
        return False

    def put(self, first: int, vectors: Float32[np.ndarray, "rows dimension"]) -> None:
        """Append a unit; they come in order."""
        self.packing.add(vectors[self.new[first : first + len(vectors)]].astype("<f4").tobytes())


def _units(catalog: Catalog, known: KnownVectors | None) -> Iterator[bytes]:
    """The rows of each unit, as compressed JSON."""
    for first in range(0, len(catalog), SHARD):
        part = slice(first, first + SHARD)
        columns: dict[str, Any] = {column: getattr(catalog, column)[part].tolist() for column in COLUMNS}
        new = np.ones(len(columns["image"]), bool) if known is None else known.row[part] < 0
        yield zlib.compress(json.dumps({**columns, "new": new.tolist()}).encode())


def _rows(plan: Packed, units: Sequence[int]) -> Rows:
    """Read the rows of consecutive units."""
    found = [json.loads(zlib.decompress(plan.chunk(unit))) for unit in units]
    image, path, digest, box = (_texts([one for part in found for one in part[name]]) for name in COLUMNS)
    none, zero = np.full(len(image), "", object), np.zeros(len(image), np.int64)
    position = units[0] * SHARD + np.arange(len(image))
    catalog = Catalog(image, path, image, none, none, none, position, digest, zero, zero, box=box)
    return Rows(catalog, np.concatenate([np.array(part["new"], bool) for part in found]))


def _texts(values: list[str]) -> np.ndarray:
    found = np.empty(len(values), object)
    found[:] = values
    return found


def opened(plan: Packed) -> Encoder:
    """The encoder of a plan, if it is the same here."""
    origin = Origin(**plan.header["origin"])
    with planning_batches(int(plan.header["batch"])):
        encoder = open_encoder(parse(origin.spec), Path(plan.header["folder"]))
    here = asdict(encoder.origin)
    for what, planned in asdict(origin).items():
        if here[what] != planned:
            raise StorageError(
                f"{origin.spec} is not the encoder of the plan: its {what} here is {here[what]!r}, planned was "
                f"{planned!r}.",
                fix="Use the same weights, the same versions and the same kind of device on all machines, or plan "
                "again with ?precision=float32 in the encoder string.",
            )
    return encoder
