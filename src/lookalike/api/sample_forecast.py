"""How precise a sample will be, of pairs and of whole queries, before it is drawn."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64

from lookalike.api.places import Places
from lookalike.api.samples import FEWEST, SampleQuestion, Value, telling_rows
from lookalike.audit.sampling.design import ALL_FROM, SampleUnit
from lookalike.audit.sampling.forecast import SampleStep, alike_within_queries, forecast
from lookalike.core.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class SampleForecast:
    """What more labels of a question buy. `open` pairs are left to label."""

    open: int
    at: Callable[[int], SampleStep]

    @property
    def steps(self) -> tuple[SampleStep, ...]:
        """50, 100, 200 labels and so on, and all. A number that makes the draw take all pairs has no step."""
        counts = [FEWEST * 2**n for n in range(20)]
        return tuple(self.at(n) for n in (*(n for n in counts if ALL_FROM * n <= self.open), self.open) if n)

    def labels_for(self, width: float, unit: SampleUnit | None = None) -> int:
        """The least number of labels whose interval is expected to be at most this wide, high minus low."""
        if not 0 < width < 2:
            raise ArgumentError(
                f"width is {width}; it must be above 0 and below 2.", fix="Use 0.1, for example."
            )
        few, many = min(FEWEST, self.open), self.open
        while few < many:
            middle = (few + many) // 2
            step = self.at(middle)
            half = {"pair": step.pairs, "query": step.whole_queries, None: step.half_width}[unit]
            few, many = (few, middle) if 2 * half <= width else (middle + 1, many)
        return many


def forecast_sample(
    places: Places,
    question: SampleQuestion,
    *,
    guess: Float64[np.ndarray, " rows"] | None = None,
    looks: int = 1,
) -> SampleForecast:
    """The precision to expect of a question. Of several encoders, the two whose lists differ most decide.

    P(similar) of an open pair is its covariate, without one the share among the labels of the lists, one of each kind
    added. `looks` and values share the error, as in the estimate.
    """
    known = places.label >= 0
    label = places.label[known].astype(np.float64)
    rate = (label.sum() + 1) / (len(label) + 2)
    chance = np.full(len(places), rate) if guess is None else guess
    alike = alike_within_queries(places.query[known], label, np.full(len(label), rate))
    open_pairs = len(np.unique(telling_rows(places, question)[1]))
    shares = looks * len(question.values)

    def of(value: Value) -> Callable[[int], SampleStep]:
        by, asked = places.by_query(*value)
        units, which = places.units(*value, guess=guess)
        own = None if guess is None else places.of_questions(guess, *value)[asked]
        expected = places.of_questions(chance, *value)[asked]
        part = len(units) / max(open_pairs, 1)

        def at(labels: int) -> SampleStep:
            mine = max(round(labels * part), 1)
            place = np.searchsorted(asked, which)
            return forecast(units, by, mine, expected, place, guess=own, alike=alike, looks=shares)

        return at

    if not open_pairs:
        return SampleForecast(0, lambda labels: SampleStep(labels, 0.0, 0.0, 0))
    hardest = of(max(question.values, key=lambda value: places.open_weight(*value)))

    def at(labels: int) -> SampleStep:
        return replace(hardest(labels), labels=labels)

    return SampleForecast(open_pairs, at)
