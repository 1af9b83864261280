"""Agreement of annotators on blind votes: overall, by category, each with the others, each two; with intervals.

"Unsure" counts as a missing vote, because it is an abstention and gives no label. As a third answer, two unsure
annotators would "agree". Since unsure votes on hard pairs leave only easy pairs to compare, every coefficient comes
with their share.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float64, Int64

from lookalike.annotate.agreement import coefficients
from lookalike.annotate.agreement.bootstrap import REPLICATES, Values, figures
from lookalike.annotate.agreement.figure import Figure, share
from lookalike.annotate.agreement.patterns import UNSURE_CODE, Counts, VoteTable

ANSWERS = 2  # dissimilar, similar
ALL = ("percent", "fleiss", "krippendorff", "gwet")
EACH_TWO = ("percent", "cohen", "gwet")


@dataclass(frozen=True)
class Agreement:
    """Agreement within one group of votes.

    `pairs` counts pairs with a vote of the group, `shared` those with two definite votes or more. `figures` have the
    names of `ALL`, or of `EACH_TWO` for two annotators and for one with the others. `unsure` is a share of votes.
    """

    pairs: int
    shared: int
    unsure: Figure
    figures: Mapping[str, Figure]

    def __getitem__(self, name: str) -> Figure:
        return self.figures[name]


def agreement(votes: Counts, *, seed: int = 0, replicates: int = REPLICATES) -> Agreement:
    """Percent agreement, Fleiss' kappa, Krippendorff's alpha and Gwet's AC1 over all votes.

    These depend only on the number of votes for each answer, so pairs with the same counts are one cell.

    >>> from lookalike.annotate.agreement.patterns import vote_table
    >>> votes = vote_table([("", "1+ 2+", 20), ("", "1+ 2-", 5), ("", "1- 2+", 10), ("", "1- 2-", 15)])
    >>> found = agreement(votes.counts)
    >>> round(found["percent"].value, 3), round(found["krippendorff"].value, 3), found.shared
    (0.7, 0.4, 50)
    """
    cells, pairs = _collapsed(votes.answers[:, :ANSWERS], votes.pairs)
    shared = int(pairs[cells.sum(axis=1) >= 2].sum())
    measures: dict[str, Values] = {
        "percent": partial(coefficients.percent_agreement, cells),
        "fleiss": partial(coefficients.fleiss_kappa, cells),
        "krippendorff": partial(coefficients.krippendorff_alpha, cells),
        "gwet": partial(coefficients.gwet_ac1, cells),
    }
    made = figures(measures, pairs, shared, seed=seed, replicates=replicates)
    every, unsure = votes.answers.sum(axis=1), votes.answers[:, UNSURE_CODE]
    share_unsure = share(int((unsure * votes.pairs).sum()), int((every * votes.pairs).sum()), of="votes")
    return Agreement(int(votes.pairs[every > 0].sum()), shared, share_unsure, made)


def by_category(votes: Counts, *, seed: int = 0, replicates: int = REPLICATES) -> dict[str, Agreement]:
    """Agreement on the pairs of each category, by name."""
    return {
        str(category): agreement(votes.only(votes.category == category), seed=seed, replicates=replicates)
        for category in sorted(set(votes.category.tolist()))
    }


def by_annotator(votes: VoteTable, *, seed: int = 0, replicates: int = REPLICATES) -> dict[int, Agreement]:
    """Each annotator compared with the others on shared pairs.

    All pairs have the same weight, and all other annotators of a pair: the second rater of Cohen's kappa is "one of the
    others". With two votes on each pair this is the pooled table of the annotator against all others.
    """
    return {
        annotator: _with_others(votes, place, seed, replicates)
        for place, annotator in enumerate(votes.annotators)
    }


def by_two(
    votes: VoteTable, *, seed: int = 0, replicates: int = REPLICATES
) -> dict[tuple[int, int], Agreement]:
    """Each two annotators on the pairs on which both voted, if there are any."""
    found = {}
    for place, annotator in enumerate(votes.annotators):
        own = votes.only(votes.answer[:, place] >= 0)
        shared = np.any(own.answer >= 0, axis=0)
        for other in range(place + 1, len(votes.annotators)):
            if not shared[other]:
                continue
            rows = own.answer[:, other] >= 0
            two, pairs = own.answer[rows][:, [place, other]], own.pairs[rows]
            cells, pairs_each = _collapsed(two, pairs)
            first, second = (_one_hot(cells[:, side]) for side in (0, 1))
            made = _two(first, second, pairs_each, pairs, two, seed, replicates)
            found[annotator, votes.annotators[other]] = made
    return found


def _with_others(votes: VoteTable, place: int, seed: int, replicates: int) -> Agreement:
    rows = votes.answer[:, place] >= 0
    answer, pairs = votes.answer[rows], votes.pairs[rows]
    others = np.delete(answer, place, axis=1)
    counts = [(others == value).sum(axis=1) for value in range(ANSWERS)]
    cells, pairs_each = _collapsed(np.stack([answer[:, place], *counts], axis=1), pairs)
    others_said = cells[:, 1:].sum(axis=1, keepdims=True)
    second = np.divide(cells[:, 1:], others_said, out=np.zeros((len(cells), ANSWERS)), where=others_said > 0)
    return _two(_one_hot(cells[:, 0]), second, pairs_each, pairs, answer[:, [place]], seed, replicates)


def _two(
    first: Float64[np.ndarray, "cells answers"],
    second: Float64[np.ndarray, "cells answers"],
    pairs_each: Int64[np.ndarray, " cells"],
    pairs: Int64[np.ndarray, " rows"],
    answers: np.ndarray,
    seed: int,
    replicates: int,
) -> Agreement:
    """Two raters on the cells with definite answers of both."""
    both = (first.sum(axis=1) > 0) & (second.sum(axis=1) > 0)
    first, second, pairs_each = first[both], second[both], pairs_each[both]
    measures: dict[str, Values] = {
        "percent": partial(coefficients.two_agree, first, second),
        "cohen": partial(coefficients.cohen_kappa, first, second),
        "gwet": partial(coefficients.two_ac1, first, second),
    }
    shared = int(pairs_each.sum())
    made = figures(measures, pairs_each, shared, seed=seed, replicates=replicates)
    return Agreement(int(pairs.sum()), shared, _unsure(answers, pairs), made)


def _collapsed(
    rows: np.ndarray, pairs: Int64[np.ndarray, " rows"]
) -> tuple[Float64[np.ndarray, "cells columns"], Int64[np.ndarray, " cells"]]:
    """Distinct rows in order, and the number of pairs with each."""
    columns = rows.shape[1]
    base = int(rows.max(initial=0)) + 2  # -1: not asked
    scale = base ** np.arange(columns)[::-1]
    code, place = np.unique((rows.astype(np.int64) + 1) @ scale, return_inverse=True)
    count = np.bincount(place, weights=pairs, minlength=len(code))
    cells = code[:, None] // scale % base - 1
    return cells.astype(np.float64), count.round().astype(np.int64)


def _one_hot(answer: Float64[np.ndarray, " cells"]) -> Float64[np.ndarray, "cells answers"]:
    """1 in the column of a definite answer; a row of 0 without one."""
    return (answer[:, None] == np.arange(ANSWERS)).astype(np.float64)


def _unsure(answer: np.ndarray, pairs: Int64[np.ndarray, " rows"]) -> Figure:
    """The share of unsure votes."""
    unsure = int(((answer == UNSURE_CODE).sum(axis=1) * pairs).sum())
    return share(unsure, int(((answer >= 0).sum(axis=1) * pairs).sum()), of="votes")
