"""What samples tell, as the page shows it: a row per value."""

from collections.abc import Sequence
from typing import Literal

from lookalike.audit.sampling.values import SampledValue
from lookalike.audit.training_verdict import MEASURE, TrainingWord
from lookalike.core.text import bracketed, plural, value
from lookalike.report.content import LearningPart
from lookalike.report.parts.cells import ShownCell, ShownColumn, ShownRow

COLUMNS = tuple(map(ShownColumn, ("value", "labels", "result")))


def shown_drawn(values: Sequence[SampledValue], learning: LearningPart | None = None) -> tuple[ShownRow, ...]:
    """The values in order. A difference is that of the first encoder minus the second.

    Between an encoder and its base, the result is the verdict on the training, where `learning` has one.
    """
    lessons = () if learning is None else learning.lessons
    words = {frozenset((one.encoder, one.base)): (one.encoder, one.word) for one in lessons if one.word}
    return tuple(
        ShownRow(
            f"{one.first} minus {one.second}" if one.second else one.first,
            one.measure,
            (
                ShownCell(value(one.value), bracketed(one.low, one.high)),
                ShownCell("all that matter" if one.method == "exact" else plural(one.labels, "label")),
                ShownCell(_result(one, words.get(frozenset((one.first, one.second))))),
            ),
        )
        for one in values
    )


def _result(one: SampledValue, trained: tuple[str, TrainingWord | Literal[""]] | None) -> str:
    if trained is not None and one.measure == MEASURE:
        encoder, word = trained
        said = {"won": "won", "lost": "lost", "not worse": "is not worse"}.get(word)
        return f"{encoder} {said}" if said else "not decided yet"
    if one.decision in ("better", "worse"):
        return f"{one.first if one.decision == 'better' else one.second} is better"
    return {"alike": "no relevant difference", "open": "not decided yet"}.get(one.decision, "")
