"""The effect of more labels, as plain values. It is computed in a process of its own, beside a server."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lookalike.annotate.agreement.plan import Forecast
from lookalike.api.next_pairs import LabelPlan
from lookalike.core.checks import strings
from lookalike.core.errors import LookalikeError
from lookalike.discover.questions import Questions
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.plan import plan_for
from lookalike.workflows.label.queue import queue_first

MOST_ENCODERS = 6


def forecast_labels(folder: Path, encoders: Sequence[str]) -> dict[str, Any]:
    """Forecasts and comparisons of some encoders of a workspace. An error that the user can fix is the `problem`."""
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
    """Put the pairs of a forecast in front of the queue. Returns how many are new in the queue."""
    query, candidate, item = zip(*pairs, strict=True)
    return queue_first(Workspace(folder), Questions(strings(query), strings(candidate), strings(item)))


def _forecast(found: Forecast) -> dict[str, Any]:
    return {"value": found.value, "labels": found.labels, "steps": list(found.steps)}


def _settling(found: LabelPlan) -> dict[str, Any]:
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
