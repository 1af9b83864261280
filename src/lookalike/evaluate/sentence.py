"""Comparisons in words that need no statistics but p."""

import math
from collections.abc import Sequence

from lookalike.evaluate.compare import Comparison

NO_QUALITY = ("coverage",)  # more of it is no better encoder


def settled(found: Comparison) -> bool:
    """Whether the labels tell the two apart: p after Holm's adjustment is below 1 - confidence."""
    return found.p_holm < 1.0 - found.interval.level


def sentence(found: Comparison) -> str:
    """Which of two encoders is better by one measure, or that these labels cannot tell.

    "color is better than hog (EHR@5 0.812 against 0.741, difference 0.071 [0.034, 0.109], p = 0.002 after
    Holm, ahead on 61 % of queries)".
    """
    found = found.swapped if found.difference < 0 else found
    first, second = found.encoders
    if math.isnan(found.difference):
        return f"nothing can be said of {first} and {second} by {found.measure}: no query counts for both"
    if settled(found):
        return f"{first} {_is_better(found.measure)} {second} ({_figures(found)})"
    if found.drawn_too_few:
        return f"{_drawn_too_few(found)} to tell {first} from {second} ({_figures(found)})"
    return f"these labels cannot tell {first} from {second} apart ({_figures(found)})"


def verdict(best: str, comparisons: Sequence[Comparison]) -> list[str]:
    """One encoder against all others by one measure: against the next in full, the rest by what came out.

    `comparisons` are those of the measure; pairs without `best` are not looked at.
    """
    against = [one if one.encoders[0] == best else one.swapped for one in comparisons if best in one.encoders]
    order = sorted(against, key=lambda one: math.inf if math.isnan(one.difference) else one.difference)
    if not order:
        return []
    rest = order[1:]
    better = [one for one in rest if settled(one) and one.difference > 0]
    short = [one for one in rest if one.drawn_too_few]
    alike = [one for one in rest if not (settled(one) or one in short or math.isnan(one.p_holm))]
    others = [sentence(one) for one in rest if one not in (*better, *short, *alike)]
    said = [*_better(best, better), *_alike(best, alike, again=_untold(order[0]))]
    said = said[::-1] if _untold(order[0]) else said
    return [sentence(order[0]), *said, *_short(best, short, again=order[0].drawn_too_few), *others]


def full(said: str) -> str:
    """A sentence of its own: with a full stop, and a capital where it does not begin with an encoder's name.

    >>> full("these labels cannot tell a from b apart"), full("color is better than hog")
    ('These labels cannot tell a from b apart.', 'color is better than hog.')
    """
    first = said[0].upper() if said.startswith(("these ", "nor ", "nothing ", "too few ")) else said[0]
    return f"{first}{said[1:]}."


def _better(best: str, than: Sequence[Comparison]) -> list[str]:
    """One encoder and those it is better than."""
    if not than:
        return []
    names = _listed([one.encoders[1] for one in than])
    worst = _p(max(one.p_holm for one in than), most=len(than) > 1)
    return [f"{best} {_is_better(than[0].measure)} {names} ({worst} after Holm)"]


def _alike(best: str, others: Sequence[Comparison], *, again: bool) -> list[str]:
    """One encoder and those the labels cannot tell it from; `again` where one was named before."""
    if not others:
        return []
    names = ", ".join(
        f"{one.encoders[1]} (difference {one.difference:.3f}, {_tested(one)})" for one in others
    )
    return [f"{'nor can they tell' if again else 'these labels cannot tell'} {best} from {names}"]


def _untold(found: Comparison) -> bool:
    """Whether the labels, not the number of draws, leave it open."""
    return not (settled(found) or found.drawn_too_few)


def _short(best: str, others: Sequence[Comparison], *, again: bool) -> list[str]:
    """One encoder and those that more draws would tell it from; `again` where the number was said before."""
    if not others:
        return []
    names = ", ".join(one.encoders[1] for one in others)
    return [f"{'too few, too,' if again else _drawn_too_few(others[0])} to tell {best} from {names}"]


def _drawn_too_few(found: Comparison) -> str:
    return f"too few replicates for {found.family:,} comparisons, which take {found.replicates_needed:,} or more,"


def _is_better(measure: str) -> str:
    return f"has a higher {measure} than" if measure.partition("@")[0] in NO_QUALITY else "is better than"


def _figures(found: Comparison) -> str:
    ends = found.interval
    around = "" if math.isnan(ends.low) else f" [{ends.low:.3f}, {ends.high:.3f}]"
    parts = [
        f"{found.measure} {found.values[0]:.3f} against {found.values[1]:.3f}",
        f"difference {abs(found.difference):.3f}{around}",
        _tested(found),
    ]
    if not math.isnan(found.won):
        parts.append(f"ahead on {100 * found.won:.0f} % of queries")
    if found.left_out:
        parts.append(f"on the {found.queries:,} queries that count for both")
    return ", ".join(parts)


def _tested(found: Comparison) -> str:
    """p as it decides; before the adjustment too, where only the adjustment keeps the two apart."""
    if math.isnan(found.p_holm):
        return "not tested: " + (found.interval.reason or "too few replicates have a value")
    if found.family < 2:
        return _p(found.p_holm)
    alone = not settled(found) and found.p < 1.0 - found.interval.level
    return f"{_p(found.p_holm)} after Holm" + (f", {_p(found.p)} before" if alone else "")


def _p(value: float, *, most: bool = False) -> str:
    """A p-value with three decimals; the largest of several where `most`."""
    each, sign = ("each ", "<=") if most else ("", "=")
    return f"{each}p < 0.001" if value < 0.001 else f"{each}p {sign} {value:.3f}"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
