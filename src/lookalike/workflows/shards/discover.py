"""`discover` in shards: workers list the best items of parts of the gallery; `join` makes the pool of the lists."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.core.errors import ArgumentError, PoolError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Embeddings
from lookalike.rank.distinct import TopLists, held_for, top_lists
from lookalike.rank.engine.machine import DEFAULT
from lookalike.rank.hide_duplicates import shown_once
from lookalike.rank.parts import joined_lists, lists_of_part
from lookalike.store.shards.packed import Packed
from lookalike.store.shards.places import Place
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.discover import discover, wanted_lists
from lookalike.workflows.shards.gallery import (
    arrays,
    gallery_parts,
    gallery_plan,
    parts_of_runs,
    read_arrays,
    require_same,
    source_of,
    stretches,
    vectors_header,
)
from lookalike.workflows.shards.plans import MadeUnits, ShardWork, save_plan

KIND = "discover"
WIDER = 2  # lists of a catalog with duplicates are so many times as long, because duplicates are shown once


@dataclass(frozen=True)
class JoinedPool:
    """The pool that `join` wrote: its queries, generators and pairs."""

    pool: str
    queries: int
    generators: tuple[str, ...]
    pairs: int


def plan_discover(
    workspace: Workspace,
    place: Place,
    generators: Sequence[str] | None = None,
    *,
    pool: str = MAIN_POOL,
    replace: bool = False,
    **options: Any,  # noqa: ANN401 - those of PoolOptions, which are written to the plan
) -> Packed:
    """Freeze the queries and the gallery. The arguments are those of `discover`, which `join` will call."""
    if options.get("splits") not in (None, "across"):
        raise ArgumentError(
            f"--splits {options['splits']} cannot be planned.",
            fix="Use --splits across, or lookalike discover.",
        )
    wanted = wanted_lists(workspace, generators, replace=replace, **options)
    names, rows, top = list(wanted), *next(iter(wanted.values()))
    parts, chunks = gallery_plan(workspace.catalog, gallery_parts(workspace.catalog), rows)
    header = {
        **vectors_header(workspace, names),
        "name": f"the top {top} of {len(rows):,} queries by {', '.join(names)}",
        **parts,
        "queries": len(rows),
        "top": top,
        "width": top * (WIDER if (workspace.catalog.duplicate >= 0).any() else 1),
        "pool": pool,
        "arguments": {**options, "generators": generators and list(generators), "replace": replace},
    }
    return save_plan(place, KIND, header, chunks)


def work_discover(work: ShardWork) -> str:
    """The lists of some runs of queries in some parts."""
    header, rows = work.plan.header, work.plan.header["queries"]
    machine = replace(DEFAULT, held=held_for(rows, DEFAULT))
    for stretch in stretches(work.plan, work.units):
        found = dict[str, np.ndarray]()
        for at, encoder in enumerate(header["encoders"]):
            lists = lists_of_part(
                stretch.catalog,
                source_of(work, encoder, stretch.place),
                stretch.queries,
                stretch.images,
                header["width"],
                machine,
                whole=stretch.whole,
                progress=stretch.progress(work, at),
            )
            found |= {f"row{at}": stretch.rows(lists.row), f"score{at}": lists.score}
        for run in stretch.runs:
            here = slice(run.start - stretch.first, run.stop - stretch.first)
            work.packing.add(arrays(**{name: values[here] for name, values in found.items()}))
    return ""


def join_discover(
    folder: Path, plan: Packed, made: MadeUnits, progress: Progress | None = None
) -> JoinedPool:
    """Write the pool that one process would have written."""
    header, arguments = plan.header, dict(plan.header["arguments"])
    workspace = Workspace(folder, pool=header["pool"], new_pool=True)
    require_same(workspace, plan)
    queries = read_arrays(plan.chunk(0))["queries"]
    names, first = list(header["encoders"]), _first_images(workspace.catalog)

    def lists(catalog: Catalog, encoder: Embeddings, rows: np.ndarray, top: int) -> TopLists:
        if not np.array_equal(rows, queries) or top != header["top"]:
            raise PoolError(
                "The pool changed after the plan: it has other queries now.",
                fix="Plan again into another folder.",
            )
        at = names.index(encoder.encoder)
        joined = []
        for parts in parts_of_runs(plan, made):
            found = [TopLists(part[f"row{at}"], part[f"score{at}"]) for part in parts]
            joined.append(joined_lists(found, first, header["width"]))
        if progress:
            progress(at + 1, len(names))
        row, score = map(np.concatenate, zip(*joined, strict=True))
        return _whole(catalog, encoder, rows, top, row, score)

    found = discover(workspace, arguments.pop("generators"), lists=lists, **arguments).pool
    return JoinedPool(header["pool"], len(found.queries), tuple(found.generators), len(found))


def _whole(
    catalog: Catalog, encoder: Embeddings, rows: np.ndarray, top: int, row: np.ndarray, score: np.ndarray
) -> TopLists:
    """The lists with duplicates shown once; lists that run short are made again here."""
    units = len(np.unique(catalog.item_codes[1][catalog.is_gallery()]))
    row, score, top = row[:, :units], score[:, :units], min(top, units)

    def best(some: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        return row[some, :count], score[some, :count]

    found = TopLists(*shown_once(best, len(rows), top, catalog.duplicate))
    short = np.flatnonzero((found.row < 0).any(axis=1) & (row[:, -1] >= 0))
    if len(short):
        again = top_lists(catalog, encoder, rows[short], top)
        found.row[short], found.score[short] = again.row, again.score
    return found


def _first_images(catalog: Catalog) -> np.ndarray:
    """For each image, the first image of the gallery that has its item."""
    item, rows = catalog.item_codes[1], np.flatnonzero(catalog.is_gallery())
    first = np.full(int(item.max(initial=-1)) + 1, len(catalog))
    np.minimum.at(first, item[rows], rows)
    return np.asarray(first[item])
