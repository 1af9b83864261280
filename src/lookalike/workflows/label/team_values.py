"""The team's statistics as plain values, for programs."""

from typing import Any

from lookalike.core.json import plain
from lookalike.workflows.label.team import Team


def team_values(found: Team) -> dict[str, Any]:
    """All statistics of a team, with two annotators and their agreement in one entry."""
    values: dict[str, Any] = plain(found)
    twos = [{"annotators": list(key), **plain(made)} for key, made in sorted(found.twos.items())]
    return {"annotators": values.pop("members"), **values, "twos": twos}
