"""Comparisons as sentences."""

import math
from collections.abc import Sequence

from lookalike.core.text import interval, listed, percent, value
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.intervals import CORRECTED

WITH_ERROR = " with the error of the correction"
NO_QUALITY = ("coverage",)  # more of it does not make a better encoder
UNTESTED = "how often such results are right with labels like these is unknown"


def is_significant(found: Comparison) -> bool:
    """Whether the labels separate the two: p after Holm's adjustment is below 1 - confidence."""
    return found.p_holm < 1.0 - found.interval.level


def sentence(found: Comparison, *, is_tested: bool = True) -> str:
    """Which of two encoders is better by one measure, or that these labels cannot separate them.

    Where no simulation says how often such results are right (`is_tested` is False), no encoder is called better.

    "color is better than hog (EHR@5 0.812 against 0.741, difference 0.071, interval 0.034 to 0.109, p = 0.002 after
    Holm, better on 61% of queries (ties count half))".
    """
    found = found.swapped if found.difference < 0 else found
    first, second = found.encoders
    if math.isnan(found.difference):
        return f"{first} and {second} cannot be compared by {found.measure}: no query counts for both"
    if is_significant(found):
        return _claim(found, second, _figures(found), is_tested=is_tested)
    if found.drawn_too_few:
        return f"{_more_replicates(found)} to separate {first} from {second} ({_figures(found)})"
    return f"these labels cannot separate {first} from {second} ({_figures(found)})"


def verdict(best: str, comparisons: Sequence[Comparison], *, is_tested: bool = True) -> list[str]:
    """One encoder against all others by one measure: the next best with all figures, the others grouped by result.

    `comparisons` are those of the measure; pairs without `best` are left out.
    """
    against = [one if one.encoders[0] == best else one.swapped for one in comparisons if best in one.encoders]
    order = sorted(against, key=lambda one: math.inf if math.isnan(one.difference) else one.difference)
    if not order:
        return []
    rest = order[1:]
    better = [one for one in rest if is_significant(one) and one.difference > 0]
    short = [one for one in rest if one.drawn_too_few]
    alike = [one for one in rest if not (is_significant(one) or one in short or math.isnan(one.p_holm))]
    others = [sentence(one, is_tested=is_tested) for one in rest if one not in (*better, *short, *alike)]
    parts = [*_better(better, is_tested=is_tested), *_alike(best, alike, again=_is_open(order[0]))]
    parts = parts[::-1] if _is_open(order[0]) else parts
    first = sentence(order[0], is_tested=is_tested)
    return [first, *parts, *_short(best, short, again=order[0].drawn_too_few), *others]


def full(text: str) -> str:
    """A complete sentence: with a full stop, and a capital where it does not start with an encoder's name.

    >>> full("these labels cannot separate a from b"), full("color is better than hog")
    ('These labels cannot separate a from b.', 'color is better than hog.')
    """
    first = text[0].upper() if text.startswith(("these labels ", "more replicates ")) else text[0]
    return f"{first}{text[1:]}."


def _better(than: Sequence[Comparison], *, is_tested: bool) -> list[str]:
    """One encoder and those it is better than."""
    if not than:
        return []
    names = listed([one.encoders[1] for one in than])
    worst = _p(max(one.p_holm for one in than), most=len(than) > 1)
    return [_claim(than[0], names, f"{worst} after Holm", is_tested=is_tested)]


def _alike(best: str, others: Sequence[Comparison], *, again: bool) -> list[str]:
    """One encoder and those the labels cannot separate it from; `again` where one was named before."""
    if not others:
        return []
    names = listed(
        [f"{one.encoders[1]} (difference {value(one.difference)}, {_tested(one)})" for one in others]
    )
    return [f"these labels {'also ' if again else ''}cannot separate {best} from {names}"]


def _is_open(found: Comparison) -> bool:
    """Whether the labels, not the number of replicates, leave it open."""
    return not (is_significant(found) or found.drawn_too_few)


def _short(best: str, others: Sequence[Comparison], *, again: bool) -> list[str]:
    """One encoder and those that more replicates could separate it from; `again` where the number was given before."""
    if not others:
        return []
    needed = "more replicates are also needed" if again else _more_replicates(others[0])
    return [f"{needed} to separate {best} from {listed([one.encoders[1] for one in others])}"]


def _more_replicates(found: Comparison) -> str:
    return f"{found.family:,} comparisons need {found.replicates_needed:,} replicates or more"


def _is_in_doubt(found: Comparison) -> bool:
    """Whether the interval includes 0 although p is small: only the interval has the error of the correction."""
    around = found.interval
    return around.method == CORRECTED and around.low <= 0.0 <= around.high


def _claim(found: Comparison, others: str, figures: str, *, is_tested: bool) -> str:
    """The first encoder against others that the test separates it from."""
    is_quality = found.measure.partition("@")[0] not in NO_QUALITY
    verb = "is better than" if is_quality and is_tested else f"has a higher {found.measure} than"
    verb = "may be better than" if _is_in_doubt(found) else verb
    said = f"{found.encoders[0]} {verb} {others} ({figures})"
    return said if is_tested or not is_quality else f"{said}; {UNTESTED}"


def _figures(found: Comparison) -> str:
    ends = interval(found.interval.low, found.interval.high)
    ends += WITH_ERROR if ends and found.interval.method == CORRECTED else ""
    parts = [
        f"{found.measure} {value(found.values[0])} against {value(found.values[1])}",
        f"difference {value(abs(found.difference))}",
        *([f"interval {ends}"] if ends else []),
        _tested(found),
    ]
    if not math.isnan(found.won):
        parts.append(f"better on {percent(found.won, 0)} of queries (ties count half)")
    if found.left_out:
        parts.append(
            f"on the {found.queries:,} queries that count for both"
            if found.queries != 1
            else "on the only query that counts for both"
        )
    return ", ".join(parts)


def _tested(found: Comparison) -> str:
    """p as it decides, with a remark if the interval excludes 0 all the same; before Holm too if that would decide."""
    without = " (the test ignores that error)" if found.interval.method == CORRECTED else ""
    if math.isnan(found.p_holm):
        return "not tested: " + (found.interval.reason or "too few replicates have a value")
    alone = not is_significant(found) and found.p < 1.0 - found.interval.level
    excludes_0 = found.interval.low > 0.0 or found.interval.high < 0.0
    decides = " (p decides, not the interval)" if excludes_0 and not (alone or is_significant(found)) else ""
    if found.family < 2:
        return f"{_p(found.p_holm)}{without}{decides}"
    before = f", {_p(found.p)} before" if alone else ""
    return f"{_p(found.p_holm)} after Holm{without}{before}{decides}"


def _p(p: float, *, most: bool = False) -> str:
    """A p-value with three decimals; the largest of several where `most`."""
    each, sign = ("each ", "<=") if most else ("", "=")
    return f"{each}p < 0.001" if p < 0.001 else f"{each}p {sign} {p:.3f}"
