"""Names of measures as text: the parts of a name, and what ir_measures calls the same measures."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import NamedTuple

from lookalike.core.errors import MeasureError

# (name in ir_measures, whether over judged candidates only) -> our family
ALIASES: Mapping[tuple[str, bool], str] = MappingProxyType(
    {
        ("P", False): "HR",
        ("Judged", False): "coverage",
        ("Bpref", False): "BPREF",
        ("nDCG", False): "NDCG",
        ("nDCG", True): "ENDCG",
        ("RR", False): "RR",
        ("AP", True): "PR-AUC_mac",
    }
)
_FORM = re.compile(
    r"^\s*(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<before>[^()]*)\)\s*(?=@))?"
    r"(?:@\s*(?P<k>[^()\s]+)\s*)?(?:\((?P<after>.*)\))?\s*$"
)


class Written(NamedTuple):
    """A name taken apart: the family's name, the text after @, and the parameters as text."""

    family: str
    k: str | None
    parameters: tuple[str, ...]


def written(text: str, examples: Mapping[str, str]) -> Written:
    """Take a name apart; an error offers the nearest. `examples` has a full name for each family.

    >>> written("nDCG(judged_only=True)@10", {"ENDCG": "ENDCG@5"})
    Written(family='ENDCG', k='10', parameters=())
    """
    form = _FORM.match(text)
    if form is None:
        family = _family(text, False, examples)
        raise MeasureError(f"{text!r} does not read as a measure.", fix=f"Write it like {examples[family]}.")
    listed = f"{form['before'] or ''},{form['after'] or ''}".split(",")
    parts = [part.strip() for part in listed if part.strip()]
    others = [part for part in parts if part.replace(" ", "").lower() != "judged_only=true"]
    return Written(_family(form["name"], len(others) < len(parts), examples), form["k"], tuple(others))


def names(text: str) -> list[str]:
    """The names in a comma-separated list, as written; commas inside parentheses belong to a measure."""
    return [part for part in (piece.strip() for piece in re.split(r",(?![^()]*\))", text)) if part]


def _family(name: str, judged_only: bool, examples: Mapping[str, str]) -> str:
    """The family of a name, ours or that of ir_measures."""
    asked = _plain(name)
    same = {_plain(family): family for family in examples}
    theirs = {(_plain(alias), only): family for (alias, only), family in ALIASES.items()}
    if (asked, judged_only) in theirs:
        return theirs[asked, judged_only]
    if not judged_only and asked in same:
        return same[asked]
    other = theirs.get((asked, not judged_only)) or same.get(asked)
    if other is not None:
        of = "unjudged candidates left out of the list" if judged_only else "unjudged candidates in the list"
        raise MeasureError(
            f"There is no measure {name!r} with {of}.",
            fix=f"What is near: {examples[other]}"
            + ("." if judged_only else f", which is {name}(judged_only=True)."),
        )
    known = same | {alias: family for (alias, _), family in theirs.items()}
    near = [examples[known[match]] for match in get_close_matches(asked, known, n=3, cutoff=0.5)]
    offered = list(dict.fromkeys(near)) or list(examples.values())
    raise MeasureError(f"There is no measure {name!r}.", fix=f"Did you mean {', '.join(offered)}?")


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_")
