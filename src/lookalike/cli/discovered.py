"""What `lookalike discover` says: the pool, the random pairs and what they cost, in words and as JSON."""

import math
from dataclasses import dataclass
from typing import Any

from lookalike.cli.console import number, plural, say, table
from lookalike.discover.figures import PoolFigures, expert_hours
from lookalike.discover.prevalence import PositiveRate, chebyshev_budget, require_share
from lookalike.recipes.discover import Discovery, figures, labelled, positive_rate
from lookalike.report.formats import rough, significant
from lookalike.store.workspace import Workspace

SOME = 10  # similar pairs, whose cost by chance and by the pool is compared


@dataclass(frozen=True)
class Budget:
    """How many random pairs a wished precision takes, for a rate of `assumed` at most."""

    precision: float
    confidence: float
    assumed: float
    pairs: int


@dataclass(frozen=True, eq=False)
class Told:
    """All figures of one call."""

    found: Discovery
    figures: PoolFigures
    labelled: int
    positives: int | None
    rate: PositiveRate
    budget: Budget | None
    votes: int


def require_sensible(precision: float | None, confidence: float) -> None:
    """Refuse a precision or a confidence that is no share before long work begins."""
    require_share(confidence, "confidence")
    if precision is not None:
        require_share(precision, "precision")


def told_of(
    workspace: Workspace, found: Discovery, votes: int, precision: float | None, confidence: float
) -> Told:
    """The figures of a discovery."""
    count, positives = labelled(workspace, found.pool)
    rate = positive_rate(workspace, found.pool, confidence)
    budget = None if precision is None else _budget(rate, precision, confidence)
    return Told(found, figures(workspace, found.pool), count, positives, rate, budget, votes)


def _budget(rate: PositiveRate, precision: float, confidence: float) -> Budget:
    """For the highest rate that is credible; for one below the precision where nothing is known yet."""
    known = [value for value in (rate.high, rate.lower_bound) if math.isfinite(value)]
    assumed = known[0] if known else 0.0
    pairs = chebyshev_budget(precision, 1.0 - confidence, assumed)
    return Budget(precision, confidence, max(assumed, precision), min(pairs, rate.pairs))


def as_json(told: Told) -> dict[str, Any]:
    """Everything, for programs; what is undefined is null."""
    pool, found = told.figures, told.found
    return {
        "pairs": pool.pairs,
        "positives": told.positives,
        "labelled": told.labelled,
        "to_label": len(found.questions),
        "asked": pool.asked,
        "queries": pool.queries,
        "top": pool.top,
        "most": pool.most,
        "duplicates": number(pool.duplicates),
        "candidates_per_query": number(pool.per_query),
        "generators": list(pool.generators),
        "only_by": dict(zip(pool.generators, pool.unique, strict=True)),
        "overlap": {
            a: {b: number(pool.overlap[i, j]) for j, b in enumerate(pool.generators) if i != j}
            for i, a in enumerate(pool.generators)
        },
        "mean_overlap": number(pool.mean_overlap),
        "saving_catalog": number(pool.saving_catalog),
        "saving_pairs": number(pool.saving_pairs),
        "hours": _hours_json(pool.asked, told.votes),
        "hours_to_label": _hours_json(found.questions.asked, told.votes),
        "extra": _extra_json(told),
        "random": {
            "drawn": len(found.random),
            "new": found.new_random,
            "forgotten": found.forgotten,
            "sample_of_this_catalog": found.is_current,
            "labelled": told.rate.labelled,
            "positives": told.rate.positives,
        },
        "positive_rate": _rate_json(told.rate),
        "budget": _budget_json(told),
    }


def _hours_json(pairs: int, votes: int) -> dict[str, float]:
    low, high = expert_hours(pairs, votes)
    return {"low": low, "high": high, "votes_per_pair": votes}


def _extra_json(told: Told) -> dict[str, Any] | None:
    extra = told.found.extra
    if extra is None:
        return None
    return {
        "generators": list(extra.generators),
        "pairs": extra.pairs,
        "asked": extra.asked,
        "hours": _hours_json(extra.asked, told.votes),
    }


def _rate_json(rate: PositiveRate) -> dict[str, Any]:
    return {
        "value": number(rate.rate),
        "reason": rate.reason,
        "low": number(rate.low),
        "high": number(rate.high),
        "level": rate.level,
        "all_pairs": rate.pairs,
        "known_positives": rate.known,
        "lower_bound": number(rate.lower_bound),
        "known_share": number(rate.known_share),
        "pool_rate": number(rate.pool_rate),
        "gain": {"value": number(rate.gain), "low": number(rate.gain_low), "high": number(rate.gain_high)},
    }


def _budget_json(told: Told) -> dict[str, Any] | None:
    budget = told.budget
    if budget is None:
        return None
    return {
        "precision": budget.precision,
        "confidence": budget.confidence,
        "assumed_rate": budget.assumed,
        "pairs": budget.pairs,
        "hours": _hours_json(budget.pairs, told.votes),
    }


def tell(told: Told) -> None:
    """Everything, for people."""
    pool = told.figures
    say(
        f"{plural(pool.pairs, 'pair')} for {plural(pool.queries, 'query', 'queries')} "
        f"({pool.per_query:,.1f} candidates each); "
        f"{100 * pool.duplicates:.0f} % of the {pool.most:,} places were duplicates.",
        f"Labelling all pairs instead would be {pool.saving_pairs:,.0f} times the work.",
        f"With {plural(told.votes, 'vote')} per pair, {plural(pool.asked, 'pair')} to ask: "
        f"{_hours(pool.asked, told.votes)}.",
    )
    _tell_extra(told)
    if told.labelled:
        say(f"{told.labelled:,} of these pairs are labelled, {told.positives:,} of them similar.")
    _tell_random(told)
    _tell_rate(told)
    _tell_budget(told)
    if len(pool.generators) > 1:
        say("", "Overlap between generators (% of the places they fill):")
        cells = [["-" if math.isnan(v) else f"{v:.1f}" for v in row] for row in pool.overlap]
        table(
            ["", *pool.generators, "only by it"],
            [[g, *row, f"{u:,}"] for g, row, u in zip(pool.generators, cells, pool.unique, strict=True)],
        )


def _tell_extra(told: Told) -> None:
    extra = told.found.extra
    if extra is not None:
        who = ", ".join(extra.generators) or "The same generators"
        say(
            f"{who} brought {plural(extra.pairs, 'extra pair')}, {extra.asked:,} to ask: "
            f"{_hours(extra.asked, told.votes)}."
        )


def _tell_random(told: Told) -> None:
    found, rate = told.found, told.rate
    if found.forgotten:
        say(
            f"{plural(found.forgotten, 'random pair')} of other queries, or of the catalog as it was, were dropped; "
            "their labels stay. Draw new ones with --random."
        )
    if not len(found.random):
        return
    labels = f"{rate.labelled:,} labelled, {rate.positives:,} of them similar"
    say(f"{plural(len(found.random), 'random pair')} ({found.new_random:,} new), {labels}.")
    if not found.is_current:
        say("They were drawn before the catalog changed, so they speak of it as it was.")


def _tell_rate(told: Told) -> None:
    """The rate, or why it is not known; silent where nobody drew random pairs."""
    rate = told.rate
    if not rate.drawn:
        return
    if math.isnan(rate.rate):
        say(f"The positive rate is undefined: {rate.reason}.")
        return
    interval = f"{_share(rate.low)} to {_share(rate.high)} with {significant(100 * rate.level)} % probability"
    if not rate.rate:
        say(
            f"Positive rate: no similar pair was found among {rate.labelled:,} of {rate.pairs:,} pairs; {interval}."
        )
        return
    say(
        f"Positive rate: {_share(rate.rate)} of all {rate.pairs:,} pairs are similar, 1 in {1 / rate.rate:,.0f} "
        f"({interval}); {_share(rate.lower_bound)} are known to be.",
        f"By chance, {SOME} similar pairs take about {SOME / rate.rate:,.0f} pairs, "
        f"{_hours(math.ceil(SOME / rate.rate), told.votes)}.",
    )
    if rate.gain > 0:
        say(
            f"In the pool {_share(rate.pool_rate)} are similar, {_rough(rate.gain)} times as many as by chance "
            f"({_rough(rate.gain_low)} to {_rough(rate.gain_high)}): "
            f"there {SOME} take {SOME / rate.pool_rate:,.0f} pairs."
        )


def _tell_budget(told: Told) -> None:
    budget = told.budget
    if budget is None:
        return
    whole = " (that is every pair)" if budget.pairs == told.rate.pairs else ""
    say(
        f"To know the rate to within {significant(budget.precision)} with {significant(100 * budget.confidence)} % "
        f"confidence, if it is {significant(budget.assumed)} at most, takes {budget.pairs:,} random pairs{whole}: "
        f"{_hours(budget.pairs, told.votes)}."
    )


def _hours(pairs: int, votes: int) -> str:
    low, high = expert_hours(pairs, votes)
    if f"{low:,.0f}" == f"{high:,.0f}":
        return f"about {high:,.1f} expert-hours"
    return f"about {low:,.0f} to {high:,.0f} expert-hours"


def _share(value: float) -> str:
    return f"{significant(100 * value)} %"


def _rough(value: float) -> str:
    if math.isinf(value):
        return "any number of times"
    return rough(value)
