"""What `lookalike evaluate` says: values, intervals and verdicts, in words and as JSON."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from textwrap import fill
from typing import Any

from lookalike.cli.console import finite, number, say, table
from lookalike.cli.evaluated_notes import is_identification, leaning, meaning, notes, starred
from lookalike.cli.told import Told
from lookalike.core.types import Score, Scores
from lookalike.evaluate.compare import Comparison
from lookalike.evaluate.intervals import Interval
from lookalike.evaluate.sentence import full, sentence, verdict
from lookalike.evaluate.significance import Significance

BAR = 26  # signs across which the intervals of one measure are drawn
WIDTH = 100


# ---- for people


def tell(told: Told) -> None:
    """One block per measure: values with their intervals, best first, then what they prove."""
    found, rule = told.found, told.rule
    split = f", split {rule.split}" if rule.split else ""
    pairs = "pairs of photos of one item" if is_identification(found) else "labelled pairs"
    say(f"{found.labels:,} {pairs}, level {rule.level}, {rule.similarity}{split}.")
    for _, name in told.shown:
        say("", f"{name}: {meaning(name, found)}")
        ranked = _ranked(found.scores, name)
        _block(ranked, name, told.sure, starred(found))
        if told.sure is not None:
            for said in (
                *_verdict(told, told.sure, ranked[0], name),
                *leaning(found, told.sure, ranked[0], name),
            ):
                say(_folded(said))
        for group in told.groups:
            say(f"  {told.per} {group.value or '(none)'}, {group.queries:,} queries")
            _block(_ranked(group.scores, name), name, group.sure, starred(found))
    say("", *notes(told))


def _verdict(told: Told, sure: Significance, best: Scores, name: str) -> list[str]:
    """The best against the others; nothing where no encoder has a value."""
    said = [] if math.isnan(best[name].value) else verdict(best.encoder, sure.comparisons[name])
    if is_identification(told.found):  # by the catalog alone
        return [one.replace("these labels cannot tell", "these photos cannot tell") for one in said]
    return said


def _folded(said: str) -> str:
    """A sentence of any length on lines that fit."""
    return fill(full(said), WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)


def _ranked(scores: Sequence[Scores], name: str) -> list[Scores]:
    """Best first, undefined last."""
    return sorted(scores, key=lambda one: math.inf if math.isnan(one[name].value) else -one[name].value)


def _block(scores: Sequence[Scores], name: str, sure: Significance | None, generators: Sequence[str]) -> None:
    """Encoders as rows: value, interval, picture of the interval, over how many queries."""
    known = {one.encoder: sure.intervals[one.encoder][name] for one in scores if sure is not None}
    ends = [end for one in known.values() for end in (one.low, one.high) if not math.isnan(end)]
    rows = []
    for one in scores:
        score, mark = one[name], " *" if one.encoder in generators else ""
        row = [f"{score.value:.3f}" if score.queries else "undefined", f"{score.queries:,} queries"]
        if known:
            around = known[one.encoder]
            drawn = "" if math.isnan(around.low) else _bar(score.value, around, min(ends), max(ends))
            row = [drawn, row[0], f"[{around.low:.3f}, {around.high:.3f}]" if drawn else "", row[1]]
        rows.append([f"  {one.encoder}{mark}", *row])
    if known:
        return table([""] * 5, rows, left=2)
    return table([""] * 3, rows)


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


# ---- for programs


def as_json(told: Told) -> dict[str, Any]:
    """Everything, unrounded; what is undefined is null, with a reason."""
    found = told.found
    return {
        "scores": _scores(told, found.scores, told.sure),
        "labels": found.labels,
        "unusable": [{"reason": u.reason, "count": u.count} for u in found.unusable],
        "generators": list(found.generators),
        "level": told.rule.level,
        "similarity": told.rule.similarity,
        "split": told.rule.split,
        "catalog": found.scores[0].basis.catalog,
        "labels_fingerprint": found.scores[0].basis.labels,
        "absences": list(found.absences),
        "notes": list(found.notes),
        "sources": dict(found.sources),
        "bootstrap": None if told.sure is None else asdict(told.sure.settings),
        "comparisons": _comparisons(told, told.sure),
        "verdicts": None
        if told.sure is None
        else {
            asked: _verdict(told, told.sure, _ranked(found.scores, name)[0], name)
            for asked, name in told.measures
        },
        "caveats": None
        if told.sure is None
        else {
            asked: leaning(found, told.sure, _ranked(found.scores, name)[0], name)
            for asked, name in told.measures
        },
        "per": None
        if told.per is None
        else {
            "column": told.per,
            "groups": [
                {
                    "value": group.value,
                    "queries": group.queries,
                    "scores": _scores(told, group.scores, group.sure),
                    "comparisons": _comparisons(told, group.sure),
                }
                for group in told.groups
            ],
        },
    }


def _scores(told: Told, scores: Sequence[Scores], sure: Significance | None) -> dict[str, Any]:
    return {
        one.encoder: {
            asked: _score(one[name], None if sure is None else sure.intervals[one.encoder][name])
            for asked, name in told.measures
        }
        for one in scores
    }


def _comparisons(told: Told, sure: Significance | None) -> dict[str, Any] | None:
    if sure is None:
        return None
    return {asked: [_comparison(one) for one in sure.comparisons[name]] for asked, name in told.measures}


def _score(score: Score, around: Interval | None) -> dict[str, Any]:
    value: dict[str, Any] = {"value": number(score.value), "queries": score.queries, "measure": score.measure}
    value |= {"reason": score.reason} if score.reason else {}
    return value | ({} if around is None else {"interval": finite(asdict(around))})


def _comparison(one: Comparison) -> dict[str, Any]:
    return finite(asdict(one)) | {
        "values": [number(value) for value in one.values],
        "interval": finite(asdict(one.interval)),
        "p": number(one.p),
        "words": sentence(one),
    }
