"""Runs: the candidates that any system retrieved, their judged ranks, and the run of an encoder."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64, Int64, Shaped

from lookalike.core.checks import codes
from lookalike.core.errors import RunError
from lookalike.core.text import quoted
from lookalike.core.types import Catalog, Embeddings, JudgedRanks, Labels, Rule
from lookalike.rank.distinct import top_lists
from lookalike.rank.pairs import JudgedPairs, pairs_for
from lookalike.rank.units import Units

NOT_RETRIEVED = float(np.finfo(np.float32).min)


@dataclass(frozen=True, eq=False)
class Run:
    """One row per query and retrieved candidate; a higher score is better.

    `query` are image ids; `candidate` are image ids or item ids.
    """

    name: str
    query: Shaped[np.ndarray, " rows"]
    candidate: Shaped[np.ndarray, " rows"]
    score: Float64[np.ndarray, " rows"]

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True, eq=False)
class RunRanks:
    """Judged ranks made of a run, and what of the run and of the labels did not meet.

    `queries_absent` of the labelled `queries` are not in the run, `pairs_absent` labelled pairs were not retrieved.
    Of the run's rows on labelled queries, `unknown` name nothing in the catalog and `not_candidates` name what the
    rule does not admit: the query itself, its own item, another split, no gallery image.
    """

    judged: JudgedRanks
    queries: int
    queries_absent: int
    pairs_absent: int
    unknown: int
    not_candidates: int


def rank_run(catalog: Catalog, run: Run, labels: Labels | JudgedPairs, rule: Rule | None = None) -> RunRanks:
    """Judged ranks of somebody else's system, on the same basis as those of encoders.

    At item level a query's candidates are condensed to items, each at its best score. A retrieved candidate has
    `above` retrieved ones with a higher score and `tied` others with the same, to the last bit (tolerance 0). What
    was not retrieved is tied behind all that was: above = retrieved, tied = candidates - retrieved - 1, its score
    -3.4e38, the lowest float32, below that of any run and finite, so that differences of scores stay numbers.
    """
    pairs = pairs_for(catalog, labels, rule)
    if pairs.basis.rule.level == "paper":
        raise RunError(
            f"The run {run.name} cannot be ranked at level paper, which takes lists of items and lists of images.",
            fix="Measure runs with --level item or --level image.",
        )
    units = Units(catalog, pairs.basis.rule)
    query_rows, place = np.unique(pairs.query_row, return_inverse=True)
    asked = {catalog.image[row]: at for at, row in enumerate(query_rows)}
    names, name = codes(run.query)
    at = np.array([asked.get(query, -1) for query in names], np.int64)[name]
    kept = at >= 0
    if len(pairs) and not kept.any():
        raise RunError(
            f"The run {run.name} answers none of the {len(query_rows):,} labelled queries; "
            f"it has queries such as {quoted(names, 3)}.",
            fix="Name queries by the image ids of the catalog (labels export shows them).",
        )
    at, score = at[kept], run.score[kept]
    unit, row = units.of(run.candidate[kept], run.name)
    known = unit >= 0
    admitted = np.zeros(len(at), dtype=bool)
    admitted[known] = units.admits(query_rows[at[known]], unit[known], row[known])
    at, unit, score = _best(at[admitted], unit[admitted], score[admitted], units.codes)
    candidates = units.candidates(query_rows)[place]
    above, tied, own = _counted(at, unit, score, place, pairs.code, candidates)
    judged = JudgedRanks(
        encoder=run.name,
        query=pairs.query,
        candidate=pairs.candidate,
        label=pairs.label,
        above=above,
        tied=tied,
        score=own,
        candidates=candidates,
        basis=pairs.basis,
        tolerance=0.0,
        drawn=pairs.drawn,
    )
    return RunRanks(
        judged=judged,
        queries=len(query_rows),
        queries_absent=len(query_rows) - len(set(names) & set(asked)),
        pairs_absent=int(np.count_nonzero(own == NOT_RETRIEVED)),
        unknown=int(np.count_nonzero(~known)),
        not_candidates=int(np.count_nonzero(known & ~admitted)),
    )


def run_of(
    catalog: Catalog,
    embeddings: Embeddings,
    query_rows: Int64[np.ndarray, " queries"],
    depth: int,
    rule: Rule | None = None,
) -> Run:
    """The `depth` best candidates of each query by an encoder, duplicates of a photo included, best first.

    Candidates are item ids at item level and image ids at image level, as judged ranks name them: a label on
    another photo of an item is a label of the item. Scores are those shown: cosine, dot product, minus the distance.
    """
    rule = rule or Rule()
    every = replace(catalog, duplicate=np.full(len(catalog), -1, np.int64))
    lists = top_lists(every, embeddings, query_rows, depth, rule)
    order = np.argsort(-lists.score, axis=1, kind="stable")  # the file's own order is that of its scores
    row, score = (np.take_along_axis(part, order, axis=1) for part in (lists.row, lists.score))
    there = row >= 0
    names = catalog.item if rule.level == "item" else catalog.image
    query = np.repeat(catalog.image[query_rows], np.count_nonzero(there, axis=1))
    return Run(embeddings.encoder, query, names[row[there]], score[there].astype(np.float64))


def _best(
    at: np.ndarray, unit: np.ndarray, score: np.ndarray, units: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One row per query and unit, at its best score; sorted by query, then unit."""
    key = at * units + unit
    order = np.lexsort((-score, key))
    first = order[np.flatnonzero(np.append(True, np.diff(key[order]) != 0)[: len(order)])]
    return at[first], unit[first], score[first]


def _counted(
    at: np.ndarray,
    unit: np.ndarray,
    score: np.ndarray,
    place: np.ndarray,
    code: np.ndarray,
    candidates: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """above, tied and score of labelled pairs; `place` is each pair's query, `at` each retrieved row's."""
    above, tied = np.empty(len(place), np.int64), np.empty(len(place), np.int64)
    own = np.full(len(place), NOT_RETRIEVED)
    pairs = np.searchsorted(place, np.arange(place.max(initial=-1) + 2))
    rows = np.searchsorted(at, np.arange(len(pairs)))
    for query in range(len(pairs) - 1):
        mine, theirs = slice(*pairs[query : query + 2]), slice(*rows[query : query + 2])
        listed, wanted = unit[theirs], code[mine]
        spot = np.minimum(np.searchsorted(listed, wanted), max(len(listed) - 1, 0))
        found = listed[spot] == wanted if len(listed) else np.zeros(len(wanted), dtype=bool)
        scores = np.where(found, score[theirs][spot] if len(listed) else 0.0, NOT_RETRIEVED)
        ordered = np.sort(score[theirs])
        low, high = np.searchsorted(ordered, scores, "left"), np.searchsorted(ordered, scores, "right")
        above[mine] = np.where(found, len(listed) - high, len(listed))
        tied[mine] = np.where(found, high - low - 1, candidates[mine] - len(listed) - 1)
        own[mine] = scores
    return above, tied, own
