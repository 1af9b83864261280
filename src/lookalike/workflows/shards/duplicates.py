"""Near duplicates of a planned `init` in shards: workers search runs of cells; `join` of `init` takes what they found.

The plan is made after all photos were read. One machine makes the plan, because it needs all photos to find the
distinct signatures and their cells. One machine also makes the groups.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping

import numpy as np

from lookalike.catalog.duplicates.groups import LOOKED_AT, FindPairs
from lookalike.catalog.duplicates.neighbours import NONE, Cell
from lookalike.catalog.duplicates.parts import CellRun, NearInCells, cell_runs, joined_pairs, search
from lookalike.core.errors import ArgumentError, CatalogError, StorageError
from lookalike.core.object_store import is_address
from lookalike.core.progress import Progress
from lookalike.store.shards.packed import Packed
from lookalike.store.shards.places import Place
from lookalike.workflows.shards import init
from lookalike.workflows.shards.gallery import arrays, read_arrays
from lookalike.workflows.shards.plans import MadeUnits, ShardWork, made_units, read_plan, save_plan

KIND = "duplicates"


def plan_duplicates(photos: Place, place: Place, progress: Progress | None = None) -> Packed:
    """Freeze what workers compare, from the plan of `init` in a place and all its shards."""
    plan = plan_of(photos, init.KIND)
    made, written = made_units(photos, plan), list[Packed]()

    def find_pairs(looks: np.ndarray) -> np.ndarray:
        header = {
            "name": plan.header["name"],
            "place": photos.name if is_address(photos.name) else os.path.abspath(photos.name),
            "rows": len(looks),
            "reads": "",
            "init": plan.identity,
            "looks": _hash(looks),
        }
        written.append(save_plan(place, KIND, header, map(_packed, cell_runs(looks))))
        return np.empty((0, 2), np.int64)

    init.read_photos(plan, made, find_pairs, progress)
    return written[0]


def work_duplicates(work: ShardWork) -> str:
    """Search the cells of some units."""
    for done, unit in enumerate(work.units):
        found = search(_unpacked(read_arrays(work.plan.chunk(unit))))
        known = found.nearest != NONE
        work.packing.add(
            arrays(
                rows=found.rows,
                count=known.sum(axis=1),
                nearest=found.nearest[known],
                pairs=found.pairs,
            )
        )
        if work.progress:
            work.progress(done + 1, len(work.units))
    return ""


def found_pairs(plan: Packed, place: Place) -> tuple[MadeUnits, FindPairs]:
    """What the workers found for a plan of `init`, as `init` asks for it."""
    ours = plan_of(place, KIND)
    if ours.header["init"] != plan.identity:
        raise StorageError(
            f"The near duplicates in {place.name} are those of another plan than that in {plan.place.name}.",
            fix=f"Plan them again: lookalike plan duplicates {plan.place.name} --to PLACE",
        )
    made = made_units(place, ours)

    def find_pairs(looks: np.ndarray) -> np.ndarray:
        if _hash(looks) != ours.header["looks"]:
            raise CatalogError(
                f"The photos in {plan.header['source']} changed after near duplicates were planned.",
                fix=f"Plan near duplicates again into another folder: lookalike plan duplicates {plan.place.name} "
                "--to PLACE",
            )
        return joined_pairs(len(looks), _found(made))

    return made, find_pairs


def plan_of(place: Place, kind: str) -> Packed:
    """The plan in a place; one of another kind is refused."""
    plan = read_plan(place)
    if plan.header["kind"] != kind:
        raise ArgumentError(
            f"The plan in {place.name} is one of `{plan.header['kind']}`.",
            fix=f"Give the place of a plan of `{kind}`: lookalike plan {kind}",
        )
    return plan


def _packed(run: CellRun) -> bytes:
    sides = [side for cell in run.cells for side in cell]
    return arrays(
        rows=run.rows,
        signatures=run.signatures,
        points=run.points,
        places=np.concatenate(sides).astype(np.int32),
        sizes=np.array([len(side) for side in sides]),
    )


def _unpacked(found: Mapping[str, np.ndarray]) -> CellRun:
    sides = np.split(found["places"].astype(np.int64), np.cumsum(found["sizes"])[:-1])
    cells = tuple(map(Cell, sides[::2], sides[1::2]))
    return CellRun(found["rows"], found["signatures"], found["points"], cells)


def _found(made: MadeUnits) -> Iterator[NearInCells]:
    for unit in range(len(made.made)):
        found = read_arrays(made.chunk(unit))
        nearest = np.full((len(found["rows"]), LOOKED_AT), NONE)
        nearest[np.arange(LOOKED_AT) < found["count"][:, None]] = found["nearest"]
        yield NearInCells(found["rows"], nearest, found["pairs"])


def _hash(looks: np.ndarray) -> str:
    return hashlib.blake2b(looks.data, digest_size=16).hexdigest()
