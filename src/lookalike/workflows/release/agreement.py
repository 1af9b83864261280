"""Agreement between annotators, as the two files of a package: for people and for programs."""

import json
from collections.abc import Mapping
from typing import Any

from lookalike.annotate.agreement.by_group import Agreement
from lookalike.annotate.agreement.consistency import Consistency
from lookalike.annotate.agreement.figure import Figure
from lookalike.core.json import plain
from lookalike.workflows.label.team import Team


def agreement_texts(team: Team, names: Mapping[str, str]) -> dict[str, str]:
    """agreement.md and agreement.json. `names` are the names of annotators in the package."""
    rows = {
        "all": _agreement(team.agreement),
        "by_category": {name or "(none)": _agreement(one) for name, one in sorted(team.categories.items())},
        "by_annotator": {
            names.get(one.name, one.name): _agreement(one.agreement)
            for one in team.annotators
            if one.agreement is not None
        },
        "self_consistency": _consistency(team.consistency),
    }
    text = json.dumps(rows, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    return {"agreement.json": text, "agreement.md": _page(rows)}


def _agreement(one: Agreement) -> dict[str, Any]:
    figures = {name: _figure(figure) for name, figure in one.figures.items()}
    return {"pairs": one.pairs, "shared": one.shared, "unsure": _figure(one.unsure), **figures}


def _consistency(one: Consistency) -> dict[str, Any]:
    found = {"same": one.same, "own": one.own, "flips": one.flips}
    return {"asked": one.asked, "finished": one.finished} | {
        name: _figure(figure) for name, figure in found.items()
    }


def _figure(one: Figure) -> dict[str, Any]:
    """A figure for programs: null if it is undefined, with the reason."""
    return {name: None if number != number else number for name, number in plain(one).items()}  # noqa: PLR0124


def _page(rows: Mapping[str, Any]) -> str:
    lines = [
        "# Agreement",
        "",
        "Agreement of votes that were given independently. Brackets have 95% intervals; - means undefined.",
    ]
    groups = (
        ("All pairs", {"all": rows["all"]}),
        ("By category", rows["by_category"]),
        ("Each annotator with the others", rows["by_annotator"]),
        ("The same annotator again (hidden repeats)", {"all": rows["self_consistency"]}),
    )
    for title, group in groups:
        lines += ["", f"## {title}", ""]
        for name, values in group.items():
            parts = (
                f"{key} {_shown(value) if isinstance(value, dict) else f'{value:,}'}"
                for key, value in values.items()
            )
            lines.append(f"- {name}: {', '.join(parts)}")
    return "\n".join(lines) + "\n"


def _shown(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "-"
    between = "" if figure["low"] is None else f" [{figure['low']:.3f}, {figure['high']:.3f}]"
    return f"{figure['value']:.3f}{between}"
