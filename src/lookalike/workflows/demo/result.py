"""The figures of the demo as published: scores, intervals and verdicts, by the labels and by the ground truth."""

from collections.abc import Iterable
from dataclasses import dataclass

from typing_extensions import TypedDict

from lookalike.core.types import Scores
from lookalike.evaluate.significance.intervals import Interval
from lookalike.evaluate.significance.results import verdict_on_best
from lookalike.evaluate.significance.sentence import full, sentence
from lookalike.workflows.decide.measured import recommend
from lookalike.workflows.decide.verdict import NOT_CORRECTED
from lookalike.workflows.demo.demo import Demo
from lookalike.workflows.demo.learning import Learned

JUDGED_BY = ("HR@5", "EHR@5", "AUC_mac")
LEARNED, TRUE = ("HR@5 corrected", "EHR@5", "AUC_mac"), ("HR@5", "AUC_mac")

Values = dict[str, dict[str, float]]  # by encoder and measure


@dataclass(frozen=True)
class LearnedResult:
    """An encoder before and after training, on the test split: by its labels, and by the truth of all its queries.

    `intervals` are those of the values by the labels.
    """

    encoder: str
    base: str
    epochs: int
    best: int
    split: str | None
    labels: Values
    intervals: dict[str, dict[str, Interval]]
    truth: Values
    words: dict[str, str]


DemoResult = TypedDict(
    "DemoResult",
    {
        "workspace": str,
        "report": str,
        "scores": Values,
        "intervals": dict[str, dict[str, Interval]],
        "verdicts": dict[str, list[str]],
        "learned": LearnedResult | None,
        "true_HR@5": dict[str, float],
    },
)


def demo_result(made: Demo) -> DemoResult:
    """The figures of a demo, without `learned` if nothing could be. A measure not to be trusted has no verdict."""
    advised = recommend(made.evaluation, NOT_CORRECTED, made.sure)
    doubted = {one.measure for one in advised.distrusted} if advised is not None else set[str]()
    untested = () if advised is None else advised.untested
    return {
        "workspace": str(made.workspace.folder),
        "report": str(made.report),
        "scores": _values(made.evaluation.scores),
        "intervals": {encoder: dict(known) for encoder, known in made.sure.intervals.items()},
        "verdicts": {
            name: list(map(full, verdict_on_best(made.evaluation.scores, made.sure, name, untested)))
            for name in JUDGED_BY
            if name not in doubted
        },
        "learned": None if made.learned is None else _learned(made.learned),
        "true_HR@5": {one.encoder: one["HR@5"].value for one in made.truth},
    }


def _learned(learned: Learned) -> LearnedResult:
    advised = recommend(learned.found, learned.rates, learned.sure)
    return LearnedResult(
        encoder=learned.outcome.encoder,
        base=learned.outcome.base,
        epochs=len(learned.outcome.history),
        best=learned.outcome.best,
        split=learned.found.rule.split,
        labels=_values(learned.rates.added_to(learned.found.scores)),
        intervals={encoder: dict(known) for encoder, known in learned.sure.intervals.items()},
        truth=_values(learned.truth),
        words={
            **({"By the labels": advised.headline} if advised is not None and advised.headline else {}),
            "By the ground truth": full(sentence(learned.sure_of_truth.comparisons[TRUE[0]][0].swapped)),
        },
    )


def _values(scores: Iterable[Scores]) -> Values:
    return {one.encoder: {name: score.value for name, score in one.scores.items()} for one in scores}
