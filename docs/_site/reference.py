"""Pages of the Python functions and of the names of measures, from the code."""

import inspect

import lookalike
from lookalike.evaluate.measures.table import DEFAULT, FAMILIES, Family


def python() -> str:
    """All public names of `import lookalike`, documented by their docstrings."""
    kinds: dict[str, list[str]] = {"Functions": [], "Values": [], "Errors": []}
    for name in lookalike.__all__:
        thing = getattr(lookalike, name)
        if inspect.isfunction(thing):
            kinds["Functions"].append(f".. autofunction:: lookalike.{name}")
        elif inspect.isclass(thing):
            kind = "Errors" if issubclass(thing, Exception) else "Values"
            kinds[kind].append(f".. autoclass:: lookalike.{name}\n   :members:")
    parts = [
        "# Python",
        "This page lists all functions and values of `import lookalike`. The [tutorial]"
        "(/tutorial/from-photos-to-a-decision.md#use-python-instead-of-commands) shows how they work together.",
    ]
    for kind, entries in kinds.items():
        parts += [f"## {kind}", "```{eval-rst}\n" + "\n\n".join(entries) + "\n```"]
    return "\n\n".join(parts) + "\n"


def measure_names() -> str:
    """The table of measures: how each is written, with its parameters."""
    rows = [f"| `{one.example}` | {one.meaning} | {_parameters(one)} |" for one in FAMILIES.values()]
    return "\n".join(
        [
            "# Names of measures",
            "",
            "This page lists the measures that `--measures` and `lookalike.score` take, with their parameters.",
            "[Measures, intervals and tests](/reference/measures.md) defines them.",
            "",
            "| name | meaning | parameters |",
            "|---|---|---|",
            *rows,
            "",
            f"By default, `lookalike evaluate` shows {', '.join(f'`{name}`' for name in DEFAULT)}.",
            "",
        ]
    )


def _parameters(family: Family) -> str:
    names = (*family.always, *family.instead, *family.optional)
    return ", ".join(f"`{name}`" for name in names) or "none"
