"""Encoders ranked on the same labels, for intervals and comparisons."""

from collections.abc import Sequence

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.types import Basis, JudgedRanks, Rule

BASIS = Basis("catalog", "labels", Rule())


def encoders(seed: int, queries: int = 30, count: int = 3, labels: int = 8) -> list[JudgedRanks]:
    """The same labels ranked by several encoders, the later the better; the first twelve queries have a similar one."""
    random = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), random.integers(1, labels + 1, queries))
    label = random.integers(0, 2, len(query)).astype(np.int8)
    first = np.flatnonzero(np.diff(query, prepend=-1))[:12]
    label[first] = 1
    return [judged(f"e{e}", query, label, random, 0.1 + 0.5 * e) for e in range(count)]


def judged(
    name: str, query: np.ndarray, label: np.ndarray, random: np.random.Generator, better: float
) -> JudgedRanks:
    """Ranks that tend to put similar candidates first."""
    score = np.round(random.normal(better * label, 1.0), 1).astype(np.float32)
    rows = len(query)
    return JudgedRanks(
        encoder=name,
        query=strings(f"q{q}" for q in query),
        candidate=strings(f"c{i}" for i in range(rows)),
        label=label,
        above=np.clip(3 - 2 * score.astype(np.float64) + random.integers(0, 3, rows), 0, 17).astype(np.int64),
        tied=random.integers(0, 3, rows),
        score=score,
        candidates=np.full(rows, 20),
        basis=BASIS,
    )


def repeated(one: JudgedRanks, counts: Sequence[float] | np.ndarray) -> JudgedRanks:
    """The rows of each query as often as counted, every copy a query of its own."""
    names, code = one.query_codes
    rows, copies = [], []
    for query, count in enumerate(np.asarray(counts, int)):
        for copy in range(count):
            at = np.flatnonzero(code == query)
            rows.append(at)
            copies += [f"{names[query]}/{copy}"] * len(at)
    taken = np.concatenate(rows)
    columns = ("candidate", "label", "above", "tied", "score", "candidates")
    return JudgedRanks(
        encoder=one.encoder,
        query=strings(copies),
        basis=one.basis,
        **{name: getattr(one, name)[taken] for name in columns},
    )
