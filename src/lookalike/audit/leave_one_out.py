"""Leave-one-out: how much do scores depend on which generators chose the labelled pairs (VSD exp. 1, EDS Table 3)?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from lookalike.audit.agreement import ScoreAgreement, agreements
from lookalike.audit.surfaced import Surfaced
from lookalike.core.errors import PoolError
from lookalike.core.progress import Progress
from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.measures.table import Measure, evaluate
from lookalike.evaluate.significance.bootstrap import Resampling

NOT_VALIDITY = (
    "Consistency is not validity. In six simulated catalogs, EHR@5 was the most consistent measure (Spearman 0.95 with "
    "its own order on fewer labels) and the least valid one (Spearman 0.56 with the true HR@5)."
)
"""From `studies/consistency.py`; shown wherever consistency is."""


@dataclass(frozen=True)
class Omission:
    """What leaving out one generator takes away: labels, and queries that have no label left.

    `alone` of the labelled pairs were retrieved by it and by no other generator.
    """

    generator: str
    dropped: int
    left: int
    queries_emptied: int
    alone: int


@dataclass(frozen=True)
class Spread:
    """One measure of one encoder on all labels, and without each generator's (in the order of `omissions`).

    `mean` and `sd` (ddof = 1) are over the `n` omissions where it is defined; `reasons` say why it is not.
    """

    measure: str
    encoder: str
    full: float
    without: tuple[float, ...]
    mean: float
    sd: float
    n: int
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class LeaveOneOut:
    """The whole audit: `bias` has one agreement for each measure and omitted generator, `spreads` for each encoder."""

    rule: str
    measures: tuple[str, ...]
    encoders: tuple[str, ...]
    omissions: tuple[Omission, ...]
    spreads: tuple[Spread, ...]
    bias: tuple[ScoreAgreement, ...]

    def spread(self, measure: str, encoder: str) -> Spread:
        """One encoder's scores by one measure."""
        return next(s for s in self.spreads if (s.measure, s.encoder) == (measure, encoder))

    def agreement(self, measure: str, omitted: str) -> ScoreAgreement:
        """How a measure without one generator's labels agrees with itself on all of them."""
        return next(a for a in self.bias if (a.measure, a.omitted) == (measure, omitted))


@dataclass(frozen=True, eq=False)
class Subsets:
    """Every encoder's scores on all labels (key "") and without each generator's: scores[omitted][encoder][measure]."""

    rule: str
    surfaced: Surfaced
    omissions: tuple[Omission, ...]
    scores: Mapping[str, Mapping[str, Mapping[str, Score]]]

    @property
    def encoders(self) -> tuple[str, ...]:
        """The encoders that were scored."""
        return tuple(self.scores[""])

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures they were scored by."""
        return tuple(next(iter(self.scores[""].values())))

    @property
    def omitted(self) -> tuple[str, ...]:
        """The generators whose labels were left out, one at a time."""
        return tuple(one.generator for one in self.omissions)

    def of(self, omitted: str, measure: str) -> list[Score]:
        """Every encoder's score by one measure, without one generator's labels ("": on all)."""
        return [self.scores[omitted][encoder][measure] for encoder in self.encoders]


def subsets(
    encoders: Sequence[JudgedRanks],
    measures: Sequence[Measure],
    surfaced: Surfaced,
    rule: str = "surfaced",
) -> Subsets:
    """Score every encoder on all labels and without each generator's, from one ranking each."""
    if not surfaced.generators:
        raise PoolError("No generator is known.", fix="Name the encoders that retrieved the labelled pairs.")
    names, code = encoders[0].query_codes
    queries = len(names)
    scores = {"": {one.encoder: evaluate(one, measures).scores for one in encoders}}
    omissions = []
    for generator in surfaced.generators:
        keep = ~surfaced.dropped(generator, rule)
        left = int(np.count_nonzero(keep))
        emptied = queries - int(np.count_nonzero(np.bincount(code[keep], minlength=queries)))
        alone = int(np.count_nonzero(surfaced.dropped(generator, "only")))
        omissions.append(Omission(generator, len(keep) - left, left, emptied, alone))
        scores[generator] = {one.encoder: evaluate(one.only(keep), measures).scores for one in encoders}
    return Subsets(rule, surfaced, tuple(omissions), scores)


def leave_one_out(
    found: Subsets, resampling: Resampling | None = None, progress: Progress | None = None
) -> LeaveOneOut:
    """Correlate scores without each generator's labels with those on all labels (VSD 7.2.1; EDS 6.3.1).

    For each measure and generator g: the correlation over encoders of s(A) and s(A without what g retrieved), where
    s is undefined leaving that encoder out. Each encoder's mean and standard deviation (n - 1) are over the subsets.
    `resampling` adds intervals: all encoders are scored again on the same drawn queries.
    """
    keys = [(measure, omitted) for measure in found.measures for omitted in found.omitted]
    agreed = agreements(
        found.encoders,
        {(measure, omitted): found.of(omitted, measure) for measure, omitted in keys},
        {(measure, omitted): found.of("", measure) for measure, omitted in keys},
        resampling,
        progress,
    )
    return LeaveOneOut(
        found.rule,
        found.measures,
        found.encoders,
        found.omissions,
        tuple(spread(found, measure, encoder) for measure in found.measures for encoder in found.encoders),
        tuple(ScoreAgreement(*key, *one) for key, one in agreed.items()),
    )


def spread(found: Subsets, measure: str, encoder: str) -> Spread:
    """Mean and standard deviation over the subsets on which the encoder has a score."""
    each = [found.scores[omitted][encoder][measure] for omitted in found.omitted]
    values = np.array([score.value for score in each])
    defined = values[np.isfinite(values)]
    return Spread(
        measure,
        encoder,
        found.scores[""][encoder][measure].value,
        tuple(values.tolist()),
        float(defined.mean()) if len(defined) else nan,
        float(defined.std(ddof=1)) if len(defined) > 1 else nan,
        len(defined),
        tuple(dict.fromkeys(score.reason for score in each if score.reason)),
    )
