"""The three steps for any stage: plan (per stage), work on one shard, join all shards."""

from dataclasses import dataclass
from pathlib import Path

from lookalike.core.progress import Progress
from lookalike.store.shards.packed import Packed, packing
from lookalike.store.shards.places import place_at
from lookalike.store.workspace import Workspace
from lookalike.workflows.shards import embed
from lookalike.workflows.shards.plans import Part, made_units, read_plan, require_of, shard_header


@dataclass(frozen=True)
class Planned:
    """A plan: where it is, what it computes, and its size."""

    place: str
    kind: str
    encoder: str
    images: int
    units: int
    identity: str

    @classmethod
    def of(cls, plan: Packed) -> "Planned":
        """The plan of a file."""
        header = plan.header
        return cls(
            plan.place.name,
            header["kind"],
            header["encoder"],
            header["rows"],
            len(plan.chunks),
            plan.identity,
        )


@dataclass(frozen=True)
class WorkedShard:
    """A shard that is in its place now; `existed` if an earlier worker had made it. `units` is 0 for an empty one."""

    place: str
    shard: str
    units: int
    existed: bool


@dataclass(frozen=True)
class JoinedShards:
    """What `join` wrote. `made` are the kinds of processors; with several, results may differ in the last bits."""

    encoder: str
    images: int
    dimension: int
    shards: int
    made: tuple[str, ...]


def work(
    address: str,
    part: Part,
    *,
    photos: Path | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> WorkedShard:
    """Compute one shard of the plan at a path or address. A shard that is there is not computed again."""
    place = place_at(address)
    plan = read_plan(place)
    units = part.units(len(plan.chunks))
    if not units:
        return WorkedShard(address, f"{part.number}/{part.of}", 0, existed=False)
    found = Packed.opened(place, part.name)
    if found:
        require_of(plan, found)
    existed = found is not None
    if not existed:
        with packing() as (packed, path):
            device = embed.work_embed(plan, units, packed, photos=photos, workers=workers, progress=progress)
            packed.close(shard_header(plan, part, device))
            packed.file.flush()
            existed = not place.put(part.name, path)
    return WorkedShard(address, f"{part.number}/{part.of}", len(units), existed)


def join(workspace: Workspace, address: str, progress: Progress | None = None) -> JoinedShards:
    """Check that all shards of a plan are there, and write what one process would have written."""
    place = place_at(address)
    plan = read_plan(place)
    made = made_units(place, plan)
    embeddings = embed.join_embed(workspace, plan, made, progress)
    rows, dimension = embeddings.vectors.shape
    return JoinedShards(embeddings.encoder, rows, dimension, made.shards, made.kinds)
