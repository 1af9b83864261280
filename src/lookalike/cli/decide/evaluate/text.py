"""What `lookalike evaluate` prints: values, intervals and what they show."""

import math
from collections.abc import Mapping, Sequence

from lookalike.cli.console import say, table
from lookalike.cli.decide.evaluate.notes import meaning, notes
from lookalike.core.text import UNDEFINED, bracketed, folded, plural, significant, value
from lookalike.core.types import Scores
from lookalike.evaluate.significance.intervals import Interval
from lookalike.evaluate.significance.sentence import full
from lookalike.evaluate.significance.summary import Significance
from lookalike.workflows.decide.measured import Measured, ranked

BAR = 26  # signs across which the intervals of one measure are drawn


def print_level(measured: Measured) -> None:
    """One block per measure: values with their intervals, best first, then what they prove."""
    found, rule = measured.found, measured.found.rule
    split = f", split {rule.split}" if rule.split else ""
    pairs = "pair of photos of one item" if measured.is_identification else "labelled pair"
    many = "pairs of photos of one item" if measured.is_identification else ""
    say(f"{plural(found.labels, pairs, many)}, {rule.level} level, {rule.similarity} similarity{split}.")
    for _, name in measured.shown:
        say("", f"{name}: {meaning(name, measured)}")
        _block(ranked(found.scores, name), name, measured.sure, measured.favoured)
        say(*(folded(full(one), "  ") for one in (*measured.verdict(name), *measured.caveats(name))))
        for group in measured.groups:
            say(f"  {measured.per} {group.value or '(none)'}, {plural(group.queries, 'query', 'queries')}")
            _block(ranked(group.scores, name), name, group.sure, measured.favoured)
    say("", *notes(measured))


def print_levels(measured: Mapping[str, Measured]) -> None:
    """One table per measure, the levels as columns."""
    first = next(iter(measured.values()))
    for name in first.found.measures:
        say("", f"{first.found.printed[name]}:")
        rows = [
            [f"  {one.encoder}", *(_cell(at, number, name) for at in measured.values())]
            for number, one in enumerate(first.found.scores)
        ]
        table(["", *measured], rows)
    say("")
    if first.sure is not None:
        level = significant(100 * first.sure.settings.level)
        say(f"In brackets: {level}% intervals. To test the differences, use one level: --level item")
    say("In parentheses: number of queries. Compare encoders within one level only.")
    for level, at in measured.items():
        say(f"{level}: {plural(at.found.labels, 'labelled pair')}.", *at.found.notes)
        say(*(f"  {plural(part.count, 'label')} left out: {part.reason}." for part in at.found.unusable))


def _cell(measured: Measured, number: int, name: str) -> str:
    """A value with its interval and the number of its queries."""
    one, own = measured.found.scores[number], measured.found.printed[name]
    around = None if measured.sure is None else measured.sure.intervals[one.encoder][own]
    span = "" if around is None else bracketed(around.low, around.high)
    return " ".join(filter(None, (value(one[own].value), span, f"({one[own].queries:,})")))


def _block(scores: Sequence[Scores], name: str, sure: Significance | None, favoured: Sequence[str]) -> None:
    """Encoders as rows: value, interval, picture of the interval, number of queries."""
    known = {one.encoder: sure.intervals[one.encoder][name] for one in scores if sure is not None}
    ends = [end for one in known.values() for end in (one.low, one.high) if not math.isnan(end)]
    rows = []
    for one in scores:
        score, mark = one[name], " *" if one.encoder in favoured else ""
        shown = value(score.value) if score.queries else UNDEFINED
        row = [shown, plural(score.queries, "query", "queries")]
        if known:
            around = known[one.encoder]
            span = bracketed(around.low, around.high)
            row = [_bar(score.value, around, min(ends), max(ends)) if span else "", shown, span, row[1]]
        rows.append([f"  {one.encoder}{mark}", *row])
    table([""] * (5 if known else 3), rows, left=2 if known else 1)


def _bar(value: float, around: Interval, least: float, most: float) -> str:
    """The interval to scale, o at the value.

    >>> _bar(0.5, Interval(0.4, 0.7, 0.95, "bca", 2000, 0), 0.4, 1.0)
    '|---o--------|             '
    """
    scale = BAR / (most - least)
    low, at, high = (round((x - least) * scale) for x in (around.low, value, around.high))
    signs = [" "] * (BAR + 1)
    signs[low : high + 1] = ["-"] * (high + 1 - low)
    signs[low] = signs[high] = "|"
    signs[min(max(at, low), high)] = "o"
    return "".join(signs)
