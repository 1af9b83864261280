"""Small worlds whose truth is complete, for the tests of simulated pools."""

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.types import Basis, JudgedRanks, Rule
from lookalike.research.bias.pools import TRUTH, GroundTruth


def judged(name: str, scores: np.ndarray, label: np.ndarray) -> JudgedRanks:
    """(queries, candidates) scores without ties, and the label of every pair."""
    queries, candidates = scores.shape
    above = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1, kind="stable")
    return JudgedRanks(
        encoder=name,
        query=strings(f"q{q:03d}" for q in np.repeat(np.arange(queries), candidates)),
        candidate=strings(f"c{c:03d}" for c in np.tile(np.arange(candidates), queries)),
        label=label.ravel().astype(np.int8),
        above=above.ravel(),
        tied=np.zeros(scores.size, np.int64),
        score=scores.ravel().astype(np.float32),
        candidates=np.full(scores.size, candidates),
        basis=Basis("catalog", "labels", Rule()),
    )


def world(
    encoders: int = 6, queries: int = 40, candidates: int = 30, seed: int = 0, depth: int = 10
) -> GroundTruth:
    """Every pair has an appeal; the most appealing fifth is similar; encoders see it through more and more noise."""
    random = np.random.default_rng(seed)
    appeal = random.standard_normal((queries, candidates))
    label = appeal >= np.quantile(appeal, 0.8, axis=1, keepdims=True)
    ranks = [
        judged(f"e{place}", appeal + (0.3 + 0.35 * place) * random.standard_normal(appeal.shape), label)
        for place in range(encoders)
    ]
    return GroundTruth(tuple(ranks), {TRUTH: ranks[0].label}, np.ones(label.size, bool), depth)
