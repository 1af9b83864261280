"""The steps for any stage: work on one shard, join all shards. Each stage makes its own plan."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lookalike.core.errors import ArgumentError
from lookalike.core.progress import Progress
from lookalike.store.shards.packed import Packed, packing
from lookalike.store.shards.places import place_at
from lookalike.store.workspace import Workspace
from lookalike.workflows.shards import discover, duplicates, embed, evaluate
from lookalike.workflows.shards import init as catalogs
from lookalike.workflows.shards.discover import JoinedPool
from lookalike.workflows.shards.evaluate import JoinedRanks
from lookalike.workflows.shards.plans import (
    Part,
    ShardWork,
    made_units,
    read_plan,
    require_of,
    shard_header,
    unit_count,
)
from lookalike.workflows.start.embed import EmbeddedEncoder
from lookalike.workflows.start.init import InitSummary, summary

WORK = MappingProxyType(
    {
        catalogs.KIND: catalogs.work_init,
        duplicates.KIND: duplicates.work_duplicates,
        embed.KIND: embed.work_embed,
        discover.KIND: discover.work_discover,
        evaluate.KIND: evaluate.work_evaluate,
    }
)


@dataclass(frozen=True)
class Planned:
    """A plan: where it is, the command that it divides, the name of its result, and its size."""

    place: str
    command: str
    name: str
    images: int
    units: int
    reads: str
    identity: str

    @classmethod
    def of(cls, plan: Packed) -> "Planned":
        """The plan of a file."""
        head, units = plan.header, unit_count(plan)
        return cls(
            plan.place.name, head["kind"], head["name"], head["rows"], units, head["reads"], plan.identity
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
    """What `join` wrote. `made` are the kinds of processors; with several, vectors may differ in the last bits."""

    shards: int
    made: tuple[str, ...]
    result: EmbeddedEncoder | InitSummary | JoinedPool | JoinedRanks


def work(
    address: str,
    part: Part,
    *,
    photos: str | None = None,
    vectors: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> WorkedShard:
    """Compute one shard of the plan at a path or address. A shard that is there is not computed again."""
    place = place_at(address)
    plan = read_plan(place)
    units = part.units(unit_count(plan))
    if not units:
        return WorkedShard(address, f"{part.number}/{part.of}", 0, existed=False)
    found = Packed.opened(place, part.name)
    if found:
        require_of(plan, found)
    existed = found is not None
    if not existed:
        stage = WORK[plan.header["kind"]]
        with packing() as (packed, path):
            device = stage(ShardWork(plan, units, packed, photos, vectors, workers, progress))
            packed.close(shard_header(plan, part, device))
            packed.file.flush()
            existed = not place.put(part.name, path)
    return WorkedShard(address, f"{part.number}/{part.of}", len(units), existed)


def join(folder: Path, address: str, progress: Progress | None = None) -> JoinedShards:
    """Check that all shards of a plan are there, and write what one process would have written."""
    place = place_at(address)
    plan = read_plan(place)
    made = made_units(place, plan)
    result: EmbeddedEncoder | InitSummary | JoinedPool | JoinedRanks
    match plan.header["kind"]:
        case catalogs.KIND:
            result = summary(*catalogs.join_init(folder, plan, made, progress=progress))
        case duplicates.KIND:
            raise ArgumentError(
                f"The near duplicates in {address} are joined together with the photos.",
                fix=f"Run: lookalike join {join_arguments(address)}",
            )
        case discover.KIND:
            result = discover.join_discover(folder, plan, made, progress)
        case evaluate.KIND:
            result = evaluate.join_evaluate(folder, plan, made, progress)
        case _:
            found = embed.join_embed(Workspace(folder), plan, made, progress)
            result = EmbeddedEncoder(found.encoder, found.spec, *found.vectors.shape)
    return JoinedShards(made.shards, made.kinds, result)


def join_with_duplicates(
    folder: Path, address: str, near: str, progress: Progress | None = None
) -> JoinedShards:
    """Join a plan of `init` whose near duplicates were searched by workers too, by the plan in `near`."""
    place = place_at(address)
    plan = duplicates.plan_of(place, catalogs.KIND)
    made = made_units(place, plan)
    found, find_pairs = duplicates.found_pairs(plan, place_at(near))
    result = summary(*catalogs.join_init(folder, plan, made, find_pairs, progress))
    return JoinedShards(made.shards + found.shards, tuple(sorted({*made.kinds, *found.kinds})), result)


def join_arguments(address: str) -> str:
    """What `lookalike join` takes for the plan in a place."""
    header = read_plan(place_at(address)).header
    given = shlex.quote(address)
    return (
        f"{shlex.quote(header['place'])} --duplicates {given}" if header["kind"] == duplicates.KIND else given
    )
