"""Audits of a few encoders on random labels, for the sample report."""

from collections.abc import Sequence

import numpy as np

from lookalike.audit.audits import MEASURES, Audits, AuditSettings, audits
from lookalike.audit.surfaced import rebuilt
from lookalike.core.checks import strings
from lookalike.core.types import Basis, JudgedRanks, Rule
from lookalike.evaluate.measures.table import parse

QUERIES, CANDIDATES, TOP = 40, 60, 5


def sample_audits(generators: Sequence[str], encoders: Sequence[str]) -> Audits:
    """The generators' top 5 are labelled; better encoders come first."""
    random = np.random.default_rng(7)
    likeness = random.random((QUERIES, CANDIDATES))
    scores = {
        name: likeness + random.normal(0, 0.12 + 0.05 * at, likeness.shape)
        for at, name in enumerate(encoders)
    }
    place = {name: np.argsort(np.argsort(-score, axis=1), axis=1) for name, score in scores.items()}
    query, candidate = np.nonzero(np.any([place[name] < TOP for name in generators], axis=0))
    label = (likeness[query, candidate] > 0.85).astype(np.int8)
    judged = [
        JudgedRanks(
            encoder=name,
            query=strings(f"q{q}" for q in query),
            candidate=strings(f"c{c}" for c in candidate),
            label=label,
            above=place[name][query, candidate],
            tied=np.zeros(len(query), np.int64),
            score=scores[name][query, candidate].astype(np.float32),
            candidates=np.full(len(query), CANDIDATES),
            basis=Basis("catalog", "labels", Rule()),
        )
        for name in encoders
    ]
    fed = [one for one in judged if one.encoder in generators]
    return audits(
        judged, fed, rebuilt(fed, TOP), [parse(name) for name in MEASURES], AuditSettings(replicates=100)
    )
