"""Judged ranks in shards: workers count in parts of the gallery; `join` adds the counts and writes the file.

`lookalike evaluate --ranks FILE` measures from it without ranking.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.core.errors import ArgumentError, LabelsError
from lookalike.core.progress import Progress
from lookalike.core.types import Rule
from lookalike.rank.engine.source import Source
from lookalike.rank.parts import Counts, JudgedQueries, counts_of_part, joined_ranks, judged_queries
from lookalike.store.formats.judged_files import write_judged_ranks
from lookalike.store.shards.packed import Packed, Packing
from lookalike.store.shards.places import Place
from lookalike.store.workspace import REPORTS, Workspace
from lookalike.workflows.decide.pairs import select_pairs
from lookalike.workflows.decide.trained import comparable_rule
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

KIND = "evaluate"


@dataclass(frozen=True)
class JoinedRanks:
    """The file of judged ranks that `join` wrote."""

    file: str
    encoders: tuple[str, ...]
    pairs: int


def plan_evaluate(workspace: Workspace, place: Place, encoders: Sequence[str]) -> Packed:
    """Freeze the labelled pairs, the scores of labelled items, and the gallery: all labels, item level, cosine."""
    names = list(dict.fromkeys(encoders or workspace.encoders))
    rule, _ = comparable_rule(workspace, names, Rule())
    if rule != Rule():
        raise ArgumentError(
            "A trained encoder is measured on the test split, which one machine ranks.",
            fix="Use: lookalike evaluate",
        )
    header = vectors_header(workspace, names)
    pairs = select_pairs(workspace, rule).pairs
    if not len(pairs):
        raise LabelsError("No label can be ranked.", fix="Look at them: lookalike labels stats")
    scores, judged = {}, None
    for at, name in enumerate(names):
        judged = judged_queries(workspace.catalog, Source(workspace.embeddings(name).vectors), pairs)
        scores[f"judged{at}"] = judged.score
    if judged is None:
        raise LabelsError(
            "There are no encoders to measure.", fix="Make vectors first: lookalike embed ENCODER"
        )
    header |= {
        "name": f"{', '.join(names)} on {len(pairs):,} labels",
        "common": COMMON,
        "labels": pairs.basis.labels,
    }
    chunks = gallery_chunks(workspace.catalog, judged.row, start=judged.start, **scores)
    return save_plan(place, KIND, header, chunks)


def work_evaluate(
    plan: Packed,
    units: range,
    packing: Packing,
    *,
    photos: str | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> str:
    """The counts of some parts, one chunk each. `photos` and `workers` have no meaning here."""
    common = read_arrays(plan.chunk(0))
    for done, unit in enumerate(units):
        part, found = read_part(plan, unit), dict[str, np.ndarray]()
        for at, encoder in enumerate(plan.header["encoders"]):
            judged = JudgedQueries(part.queries, common["start"], common[f"judged{at}"])
            counts = counts_of_part(part.catalog, source_of(plan, encoder, part.place), judged, part.images)
            found |= {
                f"above{at}": counts.above,
                f"near{at}": counts.near,
                f"candidates{at}": counts.candidates,
            }
        packing.add(arrays(**found))
        if progress:
            progress(done + 1, len(units))
    return ""


def join_evaluate(
    folder: Path, plan: Packed, made: MadeUnits, progress: Progress | None = None
) -> JoinedRanks:
    """Add the counts and write the judged ranks to `reports`."""
    workspace = Workspace(folder)
    require_same(workspace, plan)
    pairs = select_pairs(workspace, Rule()).pairs
    if pairs.basis.labels != plan.header["labels"]:
        raise LabelsError("The labels changed after the plan.", fix="Plan again into another folder.")
    names, common = list(plan.header["encoders"]), read_arrays(plan.chunk(0))
    totals = [_counts(made.chunk(0), at) for at in range(len(names))]
    for unit in range(1, len(made.made)):
        for at, total in enumerate(totals):
            totals[at] = total + _counts(made.chunk(unit), at)
        if progress:
            progress(unit + 1, len(made.made))
    file = workspace.folder / REPORTS / f"judged-{plan.identity[:8]}.csv"
    file.parent.mkdir(exist_ok=True)
    queries = common["queries"], common["start"]
    ranks = (
        joined_ranks(name, pairs, JudgedQueries(*queries, common[f"judged{at}"]), totals[at])
        for at, name in enumerate(names)
    )
    write_judged_ranks(ranks, file)
    return JoinedRanks(str(file), tuple(names), len(pairs))


def _counts(chunk: bytes, at: int) -> Counts:
    found = read_arrays(chunk)
    return Counts(found[f"above{at}"], found[f"near{at}"], found[f"candidates{at}"])
