"""What learning changed, for the sample report: one encoder that got better, one whose first encoder is gone."""

import math
from collections.abc import Callable

from report_findings import around

from lookalike.evaluate.significance.results import ScoreResult
from lookalike.evaluate.significance.summary import Settings
from lookalike.report.content import LearningPart, Lesson, MeasureChange, Strip, StripGroup

NO_LABEL = "None of the first 5 results of any query has a label."


def change(measure: str, before: float, after: float, words: str) -> MeasureChange:
    """A line with intervals."""
    cells = (
        ScoreResult(
            v, 0 if math.isnan(v) else 58, measure, NO_LABEL if math.isnan(v) else "", around(v, 0.06)
        )
        for v in (before, after)
    )
    gain = after - before
    return MeasureChange(measure, *cells, gain, gain - 0.05, gain + 0.05, words)


def learning_part(strips: Callable[..., Strip]) -> LearningPart:
    """Two lessons; `strips` makes one strip of a kind of furniture, a number, labels and an encoder."""
    before, after = (1, 0, None, 0, None), (1, 1, None, 0, 1)
    groups = tuple(
        StripGroup(
            title,
            words,
            (strips(kind, 3, labels[0], "dinov2"), strips(kind, 3, labels[1], "dinov2-finetuned")),
        )
        for kind, title, words, labels in (
            ("chair", "Most improved", "More results known to be similar than before.", (before, after)),
            ("lamp", "Most worsened", "Fewer results known to be similar than before.", (after, before)),
        )
    )
    lesson = Lesson(
        "dinov2-finetuned",
        "dinov2",
        ("The loss was supcon, on the labels alone.", "Of 100 epochs the 41st was the best."),
        (
            change(
                "DCS(alpha=10)", 0.676, 0.731, "dinov2-finetuned is better than dinov2 (p = 0.002 after Holm)"
            ),
            change(
                "EHR@5", 0.851, 0.792, "these labels cannot separate dinov2-finetuned from dinov2 (p = 0.3)"
            ),
            change("HR@5", 0.545, math.nan, "nothing can be said of the two"),
            change("coverage@5", 0.64, 0.51, ""),
        ),
        (change("HR@5", 0.748, 0.803, "dinov2-finetuned is better than dinov2 (p = 0.001 after Holm)"),),
        "Of 58 labelled test queries 20 show more results known to be similar in the first 5 than before, 9 fewer, "
        "29 as many.",
        (*groups, StripGroup("Random test queries", "None.", ())),
    )
    orphan = Lesson("old-run", "", ("It was trained for 5 epochs.",))
    return LearningPart(1_204, 58, (lesson, orphan), Settings())
