"""Simulated pools over a complete truth: what the measures show on them, and what is true.

A ground truth holds the judged ranks of many encoders on labels that are complete where it matters. A pool keeps the
labels of the pairs that a few generators proposed: a mask over the rows, never a new ranking.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float64, Int, Int8

from lookalike.core.errors import LabelsError, NotComparableError
from lookalike.core.types import JudgedRanks
from lookalike.evaluate.measures.hit_rate import membership

TRUTH = "truth"
GENERATORS, TOPS = (2, 5), (3, 8)
"""The fewest and the most generators of a pool, and the least and the largest k of their top lists."""
LEAST_SHARE = 0.25
"""The smallest share of the ground truth's queries that a pool has."""
RANDOM_SHARES = (0.0, 0.0, 0.1, 0.5)
"""Random pairs among a pool's pairs, as shares of its pairs; each equally likely."""


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """Encoders on one set of judged pairs, complete for every encoder's top `depth`.

    `ranks` hold the same rows in the same order, labelled with the truth. `answers[kind]` is what one kind of
    annotators would say of each row: 1, 0, or -1 where their votes give no label; `TRUTH` is always among them.
    `random` marks rows that a pool may draw at random. `proposed` holds the ranks by which generators propose, if these
    are not the ranks measured: pools of a whole catalog, measured on a split.
    """

    ranks: tuple[JudgedRanks, ...]
    answers: Mapping[str, Int8[np.ndarray, " pairs"]]
    random: Bool[np.ndarray, " pairs"]
    depth: int
    proposed: Float64[np.ndarray, "encoders pairs"] | None = None

    def __post_init__(self) -> None:
        if len(self.ranks) < 2:
            raise LabelsError(
                f"There {'is' if self.ranks else 'are'} {len(self.ranks)} encoder{'' if self.ranks else 's'}; "
                "pools need at least two to compare.",
                fix="Make vectors of more encoders: lookalike embed ENCODER",
            )
        first = self.ranks[0]
        for one in self.ranks:
            if len(one) != len(first) or not np.array_equal(one.candidate, first.candidate):
                raise NotComparableError(
                    f"{one.encoder} and {first.encoder} are ranked on different pairs.",
                    fix="Rank all encoders on one set of judged pairs.",
                )
        require_complete(self.ranks, self.depth)

    @cached_property
    def encoders(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(one.encoder for one in self.ranks)

    @cached_property
    def place(self) -> Float64[np.ndarray, "encoders pairs"]:
        """Every row's rank under every encoder."""
        return np.stack([one.rank for one in self.ranks])

    @cached_property
    def query(self) -> Int[np.ndarray, " pairs"]:
        """The place of every row's query among the queries."""
        return self.ranks[0].query_codes[1]

    @cached_property
    def queries(self) -> int:
        """How many queries there are."""
        return len(self.ranks[0].query_codes[0])

    @cached_property
    def answered(self) -> Mapping[str, tuple[JudgedRanks, ...]]:
        """The ranks with the labels of each kind of annotators."""
        return {
            kind: tuple(relabelled(one, label) for one in self.ranks) for kind, label in self.answers.items()
        }

    def hits(
        self, k: int, label: Int[np.ndarray, " pairs"] | None = None
    ) -> Float64[np.ndarray, "encoders queries"]:
        """The true HR@k of every query: positives in the top k / k; `label` is another truth."""
        positive = (self.ranks[0].label if label is None else label) == 1
        found = [membership(one, k) * positive for one in self.ranks]
        sums = [np.bincount(self.query, weights=one, minlength=self.queries) for one in found]
        return np.minimum(np.stack(sums) / k, 1.0)


@dataclass(frozen=True, eq=False)
class Drawn:
    """One pool: its generators and queries (as places in the ground truth), and which rows its annotators labelled.

    `surfaced[g]` marks the labelled rows that generator g proposed, alone or not; rows without a generator are random
    pairs.
    """

    generators: tuple[int, ...]
    top: int
    queries: Int[np.ndarray, " queries"]
    answers: str
    labelled: Bool[np.ndarray, " pairs"]
    surfaced: Bool[np.ndarray, "generators pairs"]
    random_pairs: int


def draw(ground_truth: GroundTruth, seed: int, number: int) -> Drawn:
    """Pool `number` of a seed; no other pool changes it.

    Two to five generators, the top 3 to 8 of each, a quarter of the queries to all of them, one kind of annotators and
    a share of random pairs, each drawn evenly. A generator proposed a pair if its rank is below the top (EDS Eq. 1).
    """
    random = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, number))))
    most = min(GENERATORS[1], len(ground_truth.ranks) - 1)
    count = int(random.integers(min(GENERATORS[0], most), most + 1))
    generators = np.sort(random.choice(len(ground_truth.ranks), count, replace=False))
    top = int(random.integers(TOPS[0], min(TOPS[1], ground_truth.depth) + 1))
    size = max(2, round(ground_truth.queries * random.uniform(LEAST_SHARE, 1.0)))
    queries = np.sort(random.choice(ground_truth.queries, min(size, ground_truth.queries), replace=False))
    kind = tuple(ground_truth.answers)[int(random.integers(len(ground_truth.answers)))]
    share = RANDOM_SHARES[int(random.integers(len(RANDOM_SHARES)))]
    in_sample = np.isin(ground_truth.query, queries)
    place = ground_truth.place if ground_truth.proposed is None else ground_truth.proposed
    surfaced = (place[generators] < top) & in_sample
    labelled = np.asarray(surfaced.any(axis=0))
    frame = np.flatnonzero(ground_truth.random & in_sample)
    extra = random.choice(frame, min(round(share * int(labelled.sum())), len(frame)), replace=False)
    labelled[extra] = True
    labelled &= ground_truth.answers[kind] >= 0
    return Drawn(tuple(generators.tolist()), top, queries, kind, labelled, surfaced & labelled, len(extra))


def lacking(one: JudgedRanks, k: int) -> Float64[np.ndarray, " queries"]:
    """How many places of each query's top k have no label."""
    code, there = one.query_codes[1], np.minimum(one.candidates, k)
    labelled = np.bincount(code, weights=membership(one, k))
    wanted = np.zeros(len(labelled))
    wanted[code] = there
    return np.asarray(np.where(wanted - labelled > 1e-6, wanted - labelled, 0.0))


def require_complete(ranks: Sequence[JudgedRanks], k: int) -> None:
    """Refuse labels that leave a candidate of some encoder's top k unjudged: then the true HR@k is not known."""
    for one in ranks:
        missing = lacking(one, k)
        if missing.any():
            raise LabelsError(
                f"Of the top {k} of {one.encoder}, {missing.sum():,.0f} pairs of {np.count_nonzero(missing):,} of "
                f"{len(missing):,} queries are not labelled, so the true HR@{k} is not known.",
                fix=f"Label the top {k} of every encoder for the same queries, or use the studio: lookalike bias",
            )


def relabelled(one: JudgedRanks, label: np.ndarray) -> JudgedRanks:
    """The same ranks with other labels."""
    if label is one.label:
        return one
    other = replace(one, label=label)
    for name in ("query_codes", "score_order"):  # these are the same; do not work them out again
        if name in one.__dict__:
            other.__dict__[name] = one.__dict__[name]
    return other
