"""Random judged ranks of several encoders over the same labelled pairs, with ties and unjudged candidates."""

from random import Random

from hypothesis import strategies as st
from oracles.scoring import Row
from oracles.worlds import judged_of

from lookalike.audit.surfaced import Surfaced, rebuilt
from lookalike.core.types import JudgedRanks
from lookalike.evaluate.measures.table import parse_list

MEASURES = parse_list("DCS(alpha=10),EHR@2,AUC_mic,AUC_mac,BPREF")
Encoders = list[list[Row]]


def encoders(seed: int, count: int, queries: int, candidates: int, steps: int, labelled: float) -> Encoders:
    """Scores on a grid of `steps` values, so that many tie; the same pairs are labelled for all encoders.

    Rows come query by query, as `judged_pairs` gives them; every query keeps one label at least.
    """
    random = Random(seed)
    label = {
        (q, c): random.randint(0, 1)
        for q in range(queries)
        for c in range(candidates)
        if random.random() < labelled or c == 0
    }
    return [_rows(random, label, queries, candidates, steps) for _ in range(count)]


def _rows(random: Random, label: dict, queries: int, candidates: int, steps: int) -> list[Row]:
    rows = []
    for q in range(queries):
        scores = [random.randrange(steps) for _ in range(candidates)]
        for c, mine in enumerate(scores):
            if (q, c) in label:
                above, tied = sum(s > mine for s in scores), scores.count(mine) - 1
                name = f"q{q}", f"c{c}"
                rows.append(Row(*name, label[q, c], above, tied, mine / 16, candidates))
    return rows


worlds = st.builds(
    encoders,
    seed=st.integers(0, 2**32),
    count=st.integers(3, 6),
    queries=st.integers(1, 7),
    candidates=st.integers(2, 9),
    steps=st.sampled_from([1, 3, 6, 60]),
    labelled=st.sampled_from([0.4, 0.8, 1.0]),
)


def judged(world: Encoders) -> list[JudgedRanks]:
    """The package's judged ranks, encoders e0, e1, ..."""
    made = [judged_of(rows) for rows in world]
    for at, one in enumerate(made):
        object.__setattr__(one, "encoder", f"e{at}")
    return made


def two_generators(world: Encoders, top: int = 2) -> Surfaced:
    """The first two encoders as generators."""
    return rebuilt(judged(world)[:2], top)
