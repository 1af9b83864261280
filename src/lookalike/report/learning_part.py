"""Before and after learning, as the page shows it: a table and its words by the labels, and by the truth if known."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.evaluate.sentence import full
from lookalike.report.content import Change, LearningPart, Lesson, StripGroup
from lookalike.report.formats import ends, listed, plural, value
from lookalike.report.table import interval_of, reason

LEAD = ("DCS(alpha=10)", "HR@5", "AUC_mac")  # of which the top of the page names one, of the truth another

SAME = 1e-9


@dataclass(frozen=True)
class ShownValue:
    """A value with its interval, "" where there is none; `hover` says over how many queries, or why it is undefined."""

    text: str
    interval: str
    hover: str


@dataclass(frozen=True)
class ShownChange:
    """One measure's line; `better` is 0 where before was higher, 1 where after is, -1 where no one is better."""

    measure: str
    values: tuple[ShownValue, ShownValue]
    difference: ShownValue
    better: int


@dataclass(frozen=True)
class ShownChanges:
    """One table, and what it proves: (measure, sentence).

    `fewer` names the measures that are defined for some queries before and for others after.
    """

    rows: tuple[ShownChange, ...]
    fewer: str
    words: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ShownLesson:
    """One trained encoder."""

    encoder: str
    base: str
    how: tuple[str, ...]
    labels: ShownChanges | None
    truth: ShownChanges | None
    counted: str
    strips: tuple[StripGroup, ...]


def shown_learning(part: LearningPart) -> tuple[ShownLesson, ...]:
    """The lessons ready for the page."""
    return tuple(
        ShownLesson(
            one.encoder,
            one.base,
            one.how,
            _shown(one.changes) if one.changes else None,
            _shown(one.truth) if one.truth else None,
            one.counted,
            one.strips,
        )
        for one in part.lessons
    )


def learned_in_short(part: LearningPart) -> str:
    """One sentence on the first lesson that has something to compare: what the labels, and the truth, say of it."""
    lesson = next((one for one in part.lessons if one.changes), None)
    if lesson is None:
        return ""
    change = _lead(lesson.changes)
    said = f"Learning from the labels: {change.words}." if change.words else ""
    if not lesson.truth:
        return said
    true = _lead(lesson.truth)
    return (
        f"{said} In truth {true.measure} went from {value(true.before.value)} to {value(true.after.value)}."
    )


def _lead(changes: Sequence[Change]) -> Change:
    """The change to name where there is room for one: the first of `LEAD` that is defined before and after."""
    by_name = {one.measure: one for one in changes if math.isfinite(one.difference)}
    return next((by_name[name] for name in LEAD if name in by_name), changes[0])


def _shown(changes: Sequence[Change]) -> ShownChanges:
    words = tuple((one.measure, full(one.words)) for one in changes if one.words)
    apart = [one for one in changes if abs(one.after.value - one.before.value - one.difference) > SAME]
    return ShownChanges(tuple(map(_line, changes)), listed([one.measure for one in apart]), words)


def _line(change: Change) -> ShownChange:
    cells = tuple(
        ShownValue(
            value(cell.value),
            interval_of(cell),
            plural(cell.queries, "query", "queries") if math.isfinite(cell.value) else reason(cell),
        )
        for cell in (change.before, change.after)
    )
    shown = f"{change.difference:+.3f}" if math.isfinite(change.difference) else "undefined"
    alike = cells[0].text == cells[1].text or not math.isfinite(change.difference)
    return ShownChange(
        change.measure,
        (cells[0], cells[1]),
        ShownValue(shown, ends(change.low, change.high), ""),
        -1 if alike or not change.words else int(change.difference > 0),
    )


def strips_of(part: LearningPart | None) -> tuple[StripGroup, ...]:
    """All strips of the part, for the album."""
    lessons: tuple[Lesson, ...] = part.lessons if part else ()
    return tuple(group for one in lessons for group in one.strips)
