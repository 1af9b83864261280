"""Self-agreement of annotators, and their accuracy on gold pairs.

Hidden repeats show an annotator the same pair three times (VSD B.1: 200 pairs each). Here "unsure" is an answer like
the others: "similar" and later "unsure" are different answers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from lookalike.annotate.agreement.bootstrap import REPLICATES, figures
from lookalike.annotate.agreement.coefficients import percent_agreement
from lookalike.annotate.agreement.figure import Figure, share
from lookalike.annotate.protocol import ANSWERS, UNSURE

TURNS = 3
Answers = tuple[str, ...]


@dataclass(frozen=True)
class Consistency:
    """One annotator's answers to the same pairs at up to three times.

    `asked` counts pairs with two answers or more, `finished` those with three. `same` is the share of finished pairs
    with three equal answers, `own` the share of equal answers among any two answers to one pair, `flips` the share of
    answers that differ from the one before.
    """

    asked: int
    finished: int
    same: Figure
    own: Figure
    flips: Figure


@dataclass(frozen=True)
class GoldAccuracy:
    """One annotator on gold pairs: `correct` is the share of correct answers among the definite ones."""

    answers: int
    unsure: int
    correct: Figure


def consistency(
    repeats: Mapping[Answers, int], *, seed: int = 0, replicates: int = REPLICATES
) -> Consistency:
    """Self-consistency from the number of pairs with the same answers, in the order of turns; "": not answered.

    With n_ik of r_i answers to pair i being k: own = mean over pairs of sum_k n_ik (n_ik - 1) / (r_i (r_i - 1)).
    Intervals: Wilson's for `same`, and the bootstrap over pairs for the others, because one pair has several parts.

    >>> steady, wavering = ("similar",) * 3, ("similar", "dissimilar", "similar")
    >>> found = consistency({steady: 18, wavering: 2})
    >>> found.same.value, round(found.own.value, 3), found.flips.value
    (0.9, 0.933, 0.1)
    """
    cells = [(_given(answers), pairs) for answers, pairs in repeats.items() if len(_given(answers)) >= 2]
    pairs = np.array([pairs for _, pairs in cells], np.int64)
    counts = np.array([[given.count(a) for a in ANSWERS] for given, _ in cells], np.float64)
    parts = np.array([(_changes(given), len(given) - 1) for given, _ in cells], np.float64)
    asked = int(pairs.sum())
    made = figures(
        {
            "own": partial(percent_agreement, counts.reshape(-1, len(ANSWERS))),
            "flips": partial(_ratio, parts.reshape(-1, 2)),
        },
        pairs,
        asked,
        seed=seed,
        replicates=replicates,
        no_pairs="no pair was answered twice",
    )
    done = [(given, count) for given, count in cells if len(given) == TURNS]
    finished = sum(count for _, count in done)
    same = share(sum(count for given, count in done if len(set(given)) == 1), finished)
    return Consistency(asked, finished, same, made["own"], made["flips"])


def gold(truth_and_answer: Iterable[tuple[str, str, int]]) -> GoldAccuracy:
    """Accuracy on gold pairs from rows (known answer, answer given, how many), with Wilson's interval.

    "Unsure" is neither correct nor wrong and is counted separately.

    >>> found = gold([("similar", "similar", 9), ("dissimilar", "similar", 1), ("similar", "unsure", 2)])
    >>> found.correct.value, found.unsure, found.answers
    (0.9, 2, 12)
    """
    rows = list(truth_and_answer)
    unsure = sum(count for _, answer, count in rows if answer == UNSURE)
    correct = sum(count for truth, answer, count in rows if answer == truth != UNSURE)
    answers = sum(count for *_, count in rows)
    return GoldAccuracy(
        answers, unsure, share(correct, answers - unsure, of="gold pairs with a definite answer")
    )


def together(people: Iterable[Mapping[Answers, int]]) -> dict[Answers, int]:
    """The repeats of several annotators together. A pair that two of them answered counts twice.

    >>> together([{("similar", "unsure"): 2}, {("similar", "unsure"): 1}])
    {('similar', 'unsure'): 3}
    """
    found: dict[Answers, int] = {}
    for repeats in people:
        for answers, pairs in repeats.items():
            found[answers] = found.get(answers, 0) + pairs
    return found


def _given(answers: Answers) -> Sequence[str]:
    return [answer for answer in answers if answer]


def _changes(given: Sequence[str]) -> int:
    return sum(before != after for before, after in pairwise(given))


def _ratio(parts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The number of changed answers divided by the number of steps."""
    sums = weights @ parts
    return np.divide(sums[:, 0], sums[:, 1], out=np.full(len(weights), np.nan), where=sums[:, 1] > 0)
