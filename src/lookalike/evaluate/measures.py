"""THE table of measures: what can be asked for, by which name, and what it is.

A measure is a value with a printable name that parses back to it: `DCS(alpha=10)`, `EHR@5`, `AUC_mac`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from types import MappingProxyType

from lookalike.core.errors import MeasureError
from lookalike.core.types import JudgedRanks, Score, Scores
from lookalike.evaluate.auc import auc_macro, auc_micro, pr_auc_macro, pr_auc_micro
from lookalike.evaluate.bpref import bpref
from lookalike.evaluate.credit import check_alpha, check_average, dcs
from lookalike.evaluate.hits import coverage, estimated_hit_rate, hit_rate

Value = float | str


@dataclass(frozen=True)
class Family:
    """One row of the table.

    `score(judged, k?, **parameters)`; `always` are parameters printed even at their default, `optional` those
    printed only when given; `ranks_only` is False where scores of different queries are compared.
    """

    name: str
    meaning: str
    score: Callable[..., Score]
    takes_k: bool = False
    always: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    optional: tuple[str, ...] = ()
    ranks_only: bool = True


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        family.name: family
        for family in (
            Family(
                "DCS",
                "mean credit of labelled pairs for standing near the top (similar) or not (dissimilar)",
                dcs,
                always={"alpha": 10.0},
                optional=("alpha_negative", "average"),
            ),
            Family(
                "HR",
                "share of the top K labelled similar; unjudged ones earn nothing",
                hit_rate,
                takes_k=True,
            ),
            Family(
                "EHR",
                "share of the labelled ones in the top K that are similar",
                estimated_hit_rate,
                takes_k=True,
            ),
            Family("coverage", "share of the top K that is labelled at all", coverage, takes_k=True),
            Family(
                "AUC_mic",
                "chance that a similar pair scores above a dissimilar one, all queries together",
                auc_micro,
                ranks_only=False,
            ),
            Family(
                "AUC_mac",
                "chance that a similar result ranks above a dissimilar one of its query, mean over queries",
                auc_macro,
            ),
            Family(
                "PR-AUC_mic",
                "average precision over all labelled pairs together",
                pr_auc_micro,
                ranks_only=False,
            ),
            Family("PR-AUC_mac", "average precision within each query, mean over queries", pr_auc_macro),
            Family("BPREF", "how rarely judged dissimilar candidates rank above similar ones", bpref),
        )
    }
)

DEFAULT = ("DCS", "HR@5", "EHR@5", "coverage@5", "AUC_mic", "AUC_mac", "PR-AUC_mic", "PR-AUC_mac", "BPREF")
_WHOLE = re.compile(r"^[1-9][0-9]{0,8}$")
_FORM = re.compile(
    r"^\s*(?P<name>[A-Za-z][\w-]*)\s*(?:@\s*(?P<k>[^()\s]+)\s*)?(?:\((?P<parameters>.*)\))?\s*$"
)


@dataclass(frozen=True)
class Measure:
    """A measure with its parameters; call it on judged ranks.

    >>> parse("DCS").name, parse("EHR@5").name, parse("DCS(alpha=2, average=macro)").name
    ('DCS(alpha=10)', 'EHR@5', 'DCS(alpha=2,average=macro)')
    """

    family: str
    k: int | None = None
    parameters: tuple[tuple[str, Value], ...] = ()

    @property
    def name(self) -> str:
        """The printable name, which `parse` reads back."""
        at = f"@{self.k}" if self.k is not None else ""
        listed = ",".join(f"{key}={_printed(value)}" for key, value in self.parameters)
        return f"{self.family}{at}({listed})" if listed else f"{self.family}{at}"

    def __call__(self, judged: JudgedRanks) -> Score:
        """Score judged ranks."""
        family = FAMILIES[self.family]
        given = dict(self.parameters)
        score = family.score(judged, self.k, **given) if family.takes_k else family.score(judged, **given)
        return replace(score, measure=self.name)


def parse(text: str) -> Measure:
    """The measure a name stands for; an error offers the nearest names."""
    form = _FORM.match(text)
    name = form["name"] if form else text
    family = _family(name)
    if form is None:
        raise MeasureError(f"{text!r} does not read as a measure.", fix=f"Write it like {_example(family)}.")
    given = dict(family.always) | _parameters(form["parameters"] or "", family)
    return Measure(family.name, _k(form["k"], family), tuple(sorted(given.items())))


def parse_list(text: str) -> tuple[Measure, ...]:
    """Measures separated by commas; commas inside parentheses belong to a measure.

    >>> [m.name for m in parse_list("DCS(alpha=2,average=macro), HR@5")]
    ['DCS(alpha=2,average=macro)', 'HR@5']
    """
    return tuple(parse(part) for part in names(text))


def names(text: str) -> list[str]:
    """The names in a comma-separated list, as written."""
    parts = [part.strip() for part in re.split(r",(?![^()]*\))", text)]
    if not any(parts):
        raise MeasureError("No measure was named.", fix=f"Name some: {', '.join(DEFAULT)}.")
    return [part for part in parts if part]


def evaluate(judged: JudgedRanks, measures: Iterable[Measure | str] = DEFAULT) -> Scores:
    """Score one encoder's judged ranks by each measure."""
    asked = [parse(measure) if isinstance(measure, str) else measure for measure in measures]
    return Scores(judged.encoder, judged.basis, {measure.name: measure(judged) for measure in asked})


def _printed(value: Value) -> str:
    """10.0 as 10; other numbers with every digit they need to be read back."""
    return (
        f"{value:.0f}" if isinstance(value, float) and value.is_integer() and abs(value) < 1e6 else f"{value}"
    )


def _family(name: str) -> Family:
    same = {known.lower().replace("-", "_"): known for known in FAMILIES}
    key = same.get(name.strip().lower().replace("-", "_"))
    if key is None:
        near = get_close_matches(name.lower(), same, n=3, cutoff=0.5)
        offered = [_example(FAMILIES[same[match]]) for match in near] or [
            _example(f) for f in FAMILIES.values()
        ]
        raise MeasureError(f"There is no measure {name!r}.", fix=f"Did you mean {', '.join(offered)}?")
    return FAMILIES[key]


def _example(family: Family) -> str:
    return f"{family.name}@5" if family.takes_k else family.name


def _k(text: str | None, family: Family) -> int | None:
    if not family.takes_k:
        if text is not None:
            raise MeasureError(f"{family.name} takes no @K, but got @{text}.", fix=f"Write {family.name}.")
        return None
    if text is None or not _WHOLE.match(text):
        got = "nothing" if text is None else f"@{text}"
        raise MeasureError(
            f"{family.name} needs a whole number K from 1 to 999,999,999 after @, but got {got}.",
            fix=f"Write {family.name}@5.",
        )
    return int(text)


def _parameters(text: str, family: Family) -> dict[str, Value]:
    known = (*family.always, *family.optional)
    given: dict[str, Value] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in known:
            listed = ", ".join(f"{name}=..." for name in known) or "none"
            raise MeasureError(f"{family.name} has no parameter {part!r}.", fix=f"Its parameters: {listed}.")
        if key in given:
            raise MeasureError(f"{family.name} has {key} twice.", fix=f"Give {key} once.")
        given[key] = _value(key, value, family)
    return given


def _value(key: str, value: str, family: Family) -> Value:
    if key == "average":
        return check_average(value)
    try:
        return check_alpha(float(value))
    except ValueError:
        raise MeasureError(
            f"{family.name} has {key}={value}, which is no number.", fix=f"Write {family.name}({key}=10)."
        ) from None
