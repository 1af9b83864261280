"""Blind votes as patterns such as "3+ 7-". Many pairs share a pattern, so figures read a few rows, not a million."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int8, Int64, Shaped

from lookalike.annotate.protocol import DISSIMILAR, SIMILAR, UNSURE
from lookalike.core.checks import strings
from lookalike.core.errors import StorageError

SIGNS = {SIMILAR: "+", DISSIMILAR: "-", UNSURE: "?"}
CODES = {"-": 0, "+": 1, "?": 2}
BY_CODE = (DISSIMILAR, SIMILAR, UNSURE)
UNSURE_CODE, NOT_ASKED = 2, -1


@dataclass(frozen=True, eq=False)
class Counts:
    """How many pairs got how many votes of each answer: `answers` counts dissimilar, similar and unsure ones."""

    answers: Int64[np.ndarray, "rows 3"]
    pairs: Int64[np.ndarray, " rows"]
    category: Shaped[np.ndarray, " rows"]

    def only(self, rows: Bool[np.ndarray, " rows"]) -> "Counts":
        """The rows of a mask."""
        return Counts(self.answers[rows], self.pairs[rows], self.category[rows])


@dataclass(frozen=True, eq=False)
class VoteTable:
    """How many pairs got which blind votes; one row for each category and pattern.

    `answer[row, place]` is the answer of the annotator at that place of `annotators`: 0 dissimilar, 1 similar, 2
    unsure, -1 not asked. `pairs[row]` pairs of `category[row]` have these votes.
    """

    annotators: tuple[int, ...]
    answer: Int8[np.ndarray, "rows annotators"]
    pairs: Int64[np.ndarray, " rows"]
    category: Shaped[np.ndarray, " rows"]

    def only(self, rows: Bool[np.ndarray, " rows"]) -> "VoteTable":
        """The rows of a mask."""
        return VoteTable(self.annotators, self.answer[rows], self.pairs[rows], self.category[rows])

    @cached_property
    def counts(self) -> Counts:
        """How many annotators gave each answer."""
        answers = np.stack([(self.answer == answer).sum(axis=1) for answer in range(3)], axis=1)
        return Counts(answers.astype(np.int64), self.pairs, self.category)

    def counts_without(self, annotator: int) -> Counts:
        """How many of the other annotators gave each answer."""
        own = self.answer[:, [self.annotators.index(annotator)]] == np.arange(3)
        return Counts(self.counts.answers - own, self.pairs, self.category)


def pattern(answers: Mapping[int, str]) -> str:
    """Annotator -> answer as a pattern, by annotator.

    >>> pattern({7: "dissimilar", 3: "similar", 11: "unsure"})
    '3+ 7- 11?'
    """
    return " ".join(f"{annotator}{SIGNS[answers[annotator]]}" for annotator in sorted(answers))


def vote_table(rows: Iterable[tuple[str, str, int]]) -> VoteTable:
    """The rows (category, pattern, pairs) as a table, without rows of 0 pairs.

    >>> table = vote_table([("lamp", "3+ 7-", 5), ("sofa", "7? 11+", 2)])
    >>> table.annotators, table.answer.tolist(), table.pairs.tolist()
    ((3, 7, 11), [[1, 0, -1], [-1, 2, 1]], [5, 2])
    """
    kept = [(category, pattern, pairs) for category, pattern, pairs in rows if pairs > 0]
    read = {pattern: _read(pattern) for pattern in {pattern for _, pattern, _ in kept}}
    annotators = tuple(sorted({annotator for votes in read.values() for annotator, _ in votes}))
    place = {annotator: at for at, annotator in enumerate(annotators)}
    answer = np.full((len(kept), len(annotators)), NOT_ASKED, np.int8)
    votes = [(row, place[who], code) for row, (_, name, _) in enumerate(kept) for who, code in read[name]]
    if votes:
        at = np.array(votes, np.int64)
        answer[at[:, 0], at[:, 1]] = at[:, 2]
    pairs = np.fromiter((pairs for _, _, pairs in kept), np.int64, len(kept))
    return VoteTable(annotators, answer, pairs, strings(category for category, _, _ in kept))


def _read(pattern: str) -> Sequence[tuple[int, int]]:
    """(annotator, code) of each vote of a pattern."""
    try:
        return [(int(vote[:-1]), CODES[vote[-1]]) for vote in pattern.split()]
    except (KeyError, ValueError):
        raise StorageError(
            f"The database counts votes under {pattern!r}, which is not a pattern of votes.",
            fix="Restore it with `lookalike restore BACKUP`.",
        ) from None
