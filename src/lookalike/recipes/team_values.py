"""The team's figures and the plan as plain values, for programs: null where a number is undefined, and why."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from lookalike.recipes.plan import Plan
from lookalike.recipes.team import Team

Values = dict[str, Any]


def plain(value: Any) -> Any:  # noqa: ANN401 - of any shape
    """Frozen values as dictionaries and lists; NaN and infinity, which JSON lacks, become None.

    >>> from lookalike.annotate.figure import Figure
    >>> plain({"pace": Figure(120.0, float("nan"), float("nan"), 3, "few")})["pace"]["low"] is None
    True
    """
    if hasattr(value, "__dataclass_fields__"):
        return plain({name: getattr(value, name) for name in value.__dataclass_fields__})
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def team_values(found: Team) -> Values:
    """All of a team's figures."""
    return {
        "agreement": plain(found.agreement),
        "categories": plain(found.categories),
        "annotators": plain(found.members),
        "twos": [{"annotators": list(key), **plain(made)} for key, made in sorted(found.twos.items())],
        "consistency": plain(found.consistency),
        "gold": plain(found.gold),
        "pace": plain(found.pace),
        "recent": plain(found.recent),
        "remarks": plain(found.remarks),
    }


def plan_values(found: Plan) -> Values:
    """All of a plan's figures."""
    return {**plain(found), "over": plain(found.over)}
