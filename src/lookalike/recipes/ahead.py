"""What more labels would buy, as plain values: worked out in a process of its own, beside a server that takes votes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lookalike.annotate.plan import Forecast
from lookalike.core.checks import strings
from lookalike.core.errors import LookalikeError
from lookalike.discover.questions import Questions
from lookalike.recipes.plan import plan_for
from lookalike.recipes.queue import queue_first
from lookalike.recipes.settle import Settling
from lookalike.store.workspace import Workspace

MOST_ENCODERS = 6


def ahead(folder: Path, encoders: Sequence[str]) -> dict[str, Any]:
    """Forecasts and standings for some encoders of a workspace; what went wrong for a user's reason as `problem`."""
    try:
        found = plan_for(Workspace(folder), list(encoders)[:MOST_ENCODERS])
    except LookalikeError as error:
        return {"encoders": list(encoders), "problem": error.problem, "fix": error.fix}
    measures = [
        {"encoder": encoder, "measure": measure, **_forecast(one)}
        for (encoder, measure), one in found.measures.items()
    ]
    settling = None if found.settling is None else _settling(found.settling)
    return {
        "encoders": list(encoders),
        "similar": _forecast(found.similar),
        "measures": measures,
        "settling": settling,
    }


def ask_for(folder: Path, pairs: Sequence[tuple[str, str, str]]) -> int:
    """Put the pairs that `ahead` named in front of the queue; returns how many are new there."""
    query, candidate, item = zip(*pairs, strict=True)
    return queue_first(Workspace(folder), Questions(strings(query), strings(candidate), strings(item)))


def _forecast(found: Forecast) -> dict[str, Any]:
    return {"value": found.value, "labels": found.labels, "steps": list(found.steps)}


def _settling(found: Settling) -> dict[str, Any]:
    ends = zip(
        found.next.query.tolist(), found.next.candidate.tolist(), found.next.item.tolist(), strict=True
    )
    return {
        "standings": list(found.standings),
        "k": found.k,
        "judged": found.judged,
        "queries": found.queries,
        "wanted": found.plan.wanted,
        "pairs": list(ends),
    }
