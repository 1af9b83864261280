"""Which generator retrieved which labelled pair, and which labels an audit drops for it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from lookalike.core.checks import at_least, one_of
from lookalike.core.errors import PoolError
from lookalike.core.types import JudgedRanks, Pool

RULES = ("surfaced", "only")


@dataclass(frozen=True, eq=False)
class Surfaced:
    """`by[i, g]` says whether generator g retrieved the labelled pair of row i of the judged ranks.

    `recorded` is whether that is the pool's own provenance, or was rebuilt from ranks below `top`. Rows that no
    generator retrieved (random pairs, imported labels) are never dropped.
    """

    generators: tuple[str, ...]
    by: Bool[np.ndarray, "pairs generators"]
    recorded: bool
    top: int

    @property
    def of_none(self) -> int:
        """How many labelled pairs no generator retrieved."""
        return int(np.count_nonzero(~self.by.any(axis=1)))

    def dropped(self, generator: str, rule: str = "surfaced") -> Bool[np.ndarray, " pairs"]:
        """The labels that go when this generator is left out.

        `rule="surfaced"` drops every label whose pair it retrieved, `"only"` those that it alone retrieved.
        """
        mine = self.by[:, self.generators.index(one_of(generator, self.generators, "generator"))]
        if one_of(rule, RULES, "rule") == "only":
            return np.asarray(mine & (self.by.sum(axis=1) == 1))
        return np.asarray(mine)


def recorded(pool: Pool, judged: JudgedRanks) -> Surfaced:
    """By the pool's own provenance. A labelled pair is one of the pool if query and item are."""
    _require_items(judged)
    place = {ends: p for p, ends in enumerate(zip(pool.query, pool.item, strict=True))}
    ends = zip(judged.query, judged.candidate, strict=True)
    row = np.fromiter((place.get(pair, -1) for pair in ends), np.int64, len(judged))
    by = np.zeros((len(pool) + 1, len(pool.generators)), bool)  # the last row is for pairs not of the pool
    by[pool.pair, pool.source] = True
    return Surfaced(pool.generators, by[row], recorded=True, top=pool.top)


def rebuilt(generators: Sequence[JudgedRanks], top: int) -> Surfaced:
    """By rank, where provenance was never recorded: (q, c) with R_m(q, c) < k (EDS Eq. 1), ties at mid-rank."""
    at_least(top, 1, "top")
    if not generators:
        raise PoolError(
            "No generator is known, so no label can be left out for one.",
            fix="Name the encoders that proposed the labelled pairs.",
        )
    require_aligned(generators)
    _require_items(generators[0])
    by = np.stack([one.rank < top for one in generators], axis=1)
    return Surfaced(tuple(one.encoder for one in generators), by, recorded=False, top=top)


def require_aligned(judged: Sequence[JudgedRanks]) -> None:
    """Refuse judged ranks that are not of the same pairs in the same order."""
    first = judged[0]
    for other in judged[1:]:
        first.basis.require_same(other.basis)
        if not (
            np.array_equal(first.query, other.query) and np.array_equal(first.candidate, other.candidate)
        ):
            raise PoolError(
                f"The judged ranks of {first.encoder} and {other.encoder} are of different pairs or orders.",
                fix="Rank every encoder on the same labels, and leave no rows out.",
            )


def _require_items(judged: JudgedRanks) -> None:
    if judged.basis.rule.level != "item":
        raise PoolError(
            f"The ranks are of level {judged.basis.rule.level!r}; a pool's pairs are of items.",
            fix='Rank the labels with Rule(level="item").',
        )
