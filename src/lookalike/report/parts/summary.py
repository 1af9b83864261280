"""The page in a few sentences, the decision first."""

import math

from lookalike.core.text import count, listed, percent, plural, rough, rough_interval, small_percent, value
from lookalike.evaluate.measures.table import parse
from lookalike.evaluate.significance.sentence import full
from lookalike.report.content import MeasureTable, PoolPart, Report
from lookalike.report.parts.cautions import caution
from lookalike.report.parts.learning import learned_in_short

LEADS = ("DCS", "AUC_mac", "AUC_mic", "BPREF")
MOST_NAMES = 4


def summary(report: Report, *, is_decided: bool = False) -> tuple[str, ...]:
    """The few sentences at the top; empty where there is nothing to sum up. `is_decided`: the page begins with that."""
    lines = []
    if report.measures is not None:
        headline = report.verdict.headline if report.verdict is not None else ""
        lead = "" if is_decided else headline or _leader(report.measures)
        lines += [lead, _not_for_top(report.measures)]
    if report.learning is not None:
        lines.append(learned_in_short(report.learning))
    if report.pool is not None:
        lines += [_pool(report.pool), _labelled(report.pool), _gain(report.pool)]
    return tuple(filter(None, lines))


def _pool(pool: PoolPart) -> str:
    return (
        f"For {plural(pool.figures.queries, 'query', 'queries')}, {plural(len(pool.figures.generators), 'generator')} "
        f"proposed {plural(pool.figures.pairs, 'pair')}. "
        f"To label the whole pool{', from no label to all,' if pool.labelled else ''} takes about "
        f"{rough_interval(pool.hours_low, pool.hours_high)} hours."
    )


def _labelled(pool: PoolPart) -> str:
    if not pool.labelled:
        return "No pair of the pool has a label yet."
    similar = (
        "" if pool.positives is None else f"; {percent(pool.positives / pool.labelled)} of them are similar"
    )
    labelled = plural(pool.labelled, "pair of the pool has", "pairs of the pool have")
    return f"{labelled} a label{similar}."


def _gain(pool: PoolPart) -> str:
    if pool.rate is None or not pool.rate.gain > 0:
        return ""
    return (
        f"About {small_percent(pool.rate.rate)} of all pairs are similar; in the pool similar pairs are "
        f"{rough(pool.rate.gain)} times as frequent."
    )


def _leader(table: MeasureTable) -> str:
    measure = lead_measure(table)
    if measure is None:
        return ""
    scored = [(by_measure[measure].value, encoder) for encoder, by_measure in table.values.items()]
    ordered = sorted((s for s in scored if math.isfinite(s[0])), key=lambda s: -s[0])
    if len(ordered) < 2:
        return ""
    (first, best), (second, runner_up) = ordered[:2]
    level = [encoder for score, encoder in ordered if value(score) == value(first)]
    if len(level) > 1:
        return f"On {measure}, {_named(level)} share the highest value, {value(first)}."
    proved = table.findings.get(measure, ())
    if proved:
        return full(proved[0])
    return (
        f"On {measure}, {best} has the highest value, {value(first)}; {runner_up} has {value(second)}. "
        "This report does not test whether the difference is significant."
    )


def _not_for_top(table: MeasureTable) -> str:
    top = next((m for m in table.measures if parse(m).family == "HR"), None)
    if top is None:
        return ""
    concerned = [encoder for encoder in table.values if caution(table, encoder, top)]
    if not concerned:
        return ""
    return f"{top} is only a lower bound for {_named(concerned)}: unjudged results count as misses."


def _named(encoders: list[str]) -> str:
    """The encoders by name if they are few, else how many."""
    return listed(encoders) if len(encoders) <= MOST_NAMES else f"{count(len(encoders))} of the encoders"


def lead_measure(table: MeasureTable) -> str | None:
    """The measure that the page leads with: of those in the table, the one least sensitive to missing labels."""
    for base in LEADS:
        for measure in table.measures:
            if parse(measure).family == base and measure not in table.distrusted:
                return measure
    return None
