"""`discover` in shards: workers list the best items of parts of the gallery; `join` makes the pool of the lists."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.core.errors import ArgumentError, PoolError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Embeddings
from lookalike.rank.distinct import TopLists, top_lists
from lookalike.rank.hide_duplicates import shown_once
from lookalike.rank.parts import joined_lists, lists_of_part
from lookalike.store.shards.packed import Packed, Packing
from lookalike.store.shards.places import Place
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.discover import discover, wanted_lists
from lookalike.workflows.shards.gallery import (
    COMMON,
    arrays,
    gallery_chunks,
    read_arrays,
    read_part,
    require_same,
    source_of,
    vectors_header,
)
from lookalike.workflows.shards.plans import MadeUnits, save_plan

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
    header = {
        **vectors_header(workspace, names),
        "name": f"the top {top} of {len(rows):,} queries by {', '.join(names)}",
        "common": COMMON,
        "top": top,
        "width": top * (WIDER if (workspace.catalog.duplicate >= 0).any() else 1),
        "pool": pool,
        "arguments": {**options, "generators": generators and list(generators), "replace": replace},
    }
    return save_plan(place, KIND, header, gallery_chunks(workspace.catalog, rows))


def work_discover(
    plan: Packed,
    units: range,
    packing: Packing,
    *,
    photos: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> str:
    """The lists of some parts, one chunk each. `photos` and `workers` have no meaning here."""
    for done, unit in enumerate(units):
        part, found = read_part(plan, unit), dict[str, np.ndarray]()
        for at, encoder in enumerate(plan.header["encoders"]):
            source = source_of(plan, encoder, part.place)
            lists = lists_of_part(part.catalog, source, part.queries, part.images, plan.header["width"])
            found |= {f"row{at}": part.rows(lists.row), f"score{at}": lists.score}
        packing.add(arrays(**found))
        if progress:
            progress(done + 1, len(units))
    return ""


def join_discover(
    folder: Path, plan: Packed, made: MadeUnits, progress: Progress | None = None
) -> JoinedPool:
    """Write the pool that one process would have written."""
    header, arguments = plan.header, dict(plan.header["arguments"])
    workspace = Workspace(folder, pool=header["pool"], new_pool=True)
    require_same(workspace, plan)
    queries = read_arrays(plan.chunk(0))["queries"]
    names = list(header["encoders"])

    def lists(catalog: Catalog, encoder: Embeddings, rows: np.ndarray, top: int) -> TopLists:
        if not np.array_equal(rows, queries) or top != header["top"]:
            raise PoolError(
                "The pool changed after the plan: it has other queries now.",
                fix="Plan again into another folder.",
            )
        at = names.index(encoder.encoder)
        chunks = (read_arrays(made.chunk(unit)) for unit in range(len(made.made)))
        parts = [TopLists(found[f"row{at}"], found[f"score{at}"]) for found in chunks]
        if progress:
            progress(at + 1, len(names))
        return _whole(catalog, encoder, rows, top, parts, header["width"])

    found = discover(workspace, arguments.pop("generators"), lists=lists, **arguments).pool
    return JoinedPool(header["pool"], len(found.queries), tuple(found.generators), len(found))


def _whole(
    catalog: Catalog, encoder: Embeddings, rows: np.ndarray, top: int, parts: Sequence[TopLists], width: int
) -> TopLists:
    """The lists of the whole gallery, duplicates shown once; lists that run short are made again here."""
    row, score = joined_lists(parts, _first_images(catalog), width)
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
