"""The table of all measures: their names, parameters and functions.

A measure is a value with a printable name that parses back to it: `DCS(alpha=10)`, `EHR@5`, `AUC_mac`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from lookalike.core.errors import MeasureError
from lookalike.core.types import JudgedRanks, Score, Scores
from lookalike.evaluate.measures import names as text_of
from lookalike.evaluate.measures.auc import auc_macro, auc_micro, pr_auc_macro, pr_auc_micro
from lookalike.evaluate.measures.bpref import bpref
from lookalike.evaluate.measures.credit import dcs
from lookalike.evaluate.measures.hit_rate import coverage, estimated_hit_rate, hit_rate, recall
from lookalike.evaluate.measures.mrr_ndcg import estimated_mrr, estimated_ndcg, mrr, ndcg, reciprocal_rank
from lookalike.evaluate.measures.parameters import Value, one_alpha, read_value, whole
from lookalike.evaluate.measures.visible_rows import N, undefined, why_not_drawn, with_drawn

SAMPLED_NEGATIVES = ("n", "negatives")


@dataclass(frozen=True)
class Family:
    """One row of the table.

    `score(judged, k?, **parameters)`; `always` are parameters printed even at their default, `instead` those given in
    place of them, `optional` those printed only when given; `ranks_only` is False where scores of different queries are
    compared. `of_list`: it is about places in the list people see, so at paper level it reads the list of items.
    `k_optional`: K may be left out. `samples_negatives`: it takes `negatives` (the rows it sees) and `n` (drawn each).
    """

    name: str
    meaning: str
    score: Callable[..., Score]
    takes_k: bool = False
    always: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))
    instead: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    ranks_only: bool = True
    of_list: bool = False
    k_optional: bool = False

    @property
    def samples_negatives(self) -> bool:
        """Whether drawn negatives can be asked for."""
        return "negatives" in self.optional

    @property
    def example(self) -> str:
        """A full name."""
        return f"{self.name}@5" if self.takes_k and not self.k_optional else self.name


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        family.name: family
        for family in (
            Family(
                "DCS",
                "mean credit of labelled pairs for being near the top (similar) or not (dissimilar)",
                dcs,
                always={"alpha": 10.0},
                instead=("half",),
                optional=("alpha_negative", "average"),
            ),
            Family(
                "HR",
                "share of the top K labelled similar; unjudged ones earn nothing",
                hit_rate,
                takes_k=True,
                optional=("of",),
                of_list=True,
            ),
            Family(
                "Recall",
                "share of all pairs labelled similar that are in the top K",
                recall,
                takes_k=True,
                optional=("average",),
                of_list=True,
            ),
            Family(
                "EHR",
                "share of the labelled ones in the top K that are similar",
                estimated_hit_rate,
                takes_k=True,
                of_list=True,
            ),
            Family(
                "coverage",
                "share of the top K that is labelled at all",
                coverage,
                takes_k=True,
                of_list=True,
            ),
            Family(
                "MRR",
                "what similar ones in the top K earn by the reciprocal of their place, of what K of them would",
                mrr,
                takes_k=True,
                optional=("of",),
                of_list=True,
            ),
            Family(
                "EMRR",
                "the same of the list of labelled candidates alone, of what all labelled ones would",
                estimated_mrr,
                takes_k=True,
                of_list=True,
            ),
            Family(
                "RR",
                "reciprocal of the place of the first similar one",
                reciprocal_rank,
                takes_k=True,
                k_optional=True,
                of_list=True,
            ),
            Family(
                "NDCG",
                "discounted gain of similar ones in the top K, of what the best order would earn",
                ndcg,
                takes_k=True,
                of_list=True,
            ),
            Family(
                "ENDCG",
                "the same of the list of labelled candidates alone",
                estimated_ndcg,
                takes_k=True,
                of_list=True,
            ),
            Family(
                "AUC_mic",
                "chance that a similar pair scores above a dissimilar one, all queries together",
                auc_micro,
                optional=SAMPLED_NEGATIVES,
                ranks_only=False,
            ),
            Family(
                "AUC_mac",
                "chance that a similar result ranks above a dissimilar one of its query, mean over queries",
                auc_macro,
                optional=SAMPLED_NEGATIVES,
            ),
            Family(
                "PR-AUC_mic",
                "average precision over all labelled pairs together",
                pr_auc_micro,
                optional=SAMPLED_NEGATIVES,
                ranks_only=False,
            ),
            Family(
                "PR-AUC_mac",
                "average precision within each query, mean over queries",
                pr_auc_macro,
                optional=SAMPLED_NEGATIVES,
            ),
            Family(
                "BPREF",
                "how rarely judged dissimilar candidates rank above similar ones",
                bpref,
                optional=("depth",),
            ),
        )
    }
)

_EXAMPLES = MappingProxyType({family.name: family.example for family in FAMILIES.values()})
DEFAULT = ("DCS", "HR@5", "EHR@5", "coverage@5", "AUC_mic", "AUC_mac", "PR-AUC_mic", "PR-AUC_mac", "BPREF")


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

    @property
    def drawing(self) -> tuple[str, int] | None:
        """Which negatives it needs drawn beside the labels, and how many for a query; None for none."""
        given = dict(self.parameters)
        return (str(given["negatives"]), int(given["n"])) if "negatives" in given else None

    def __call__(self, judged: JudgedRanks) -> Score:
        """Score judged ranks."""
        family = FAMILIES[self.family]
        given = {
            key: value
            for key, value in self.parameters
            if not (family.samples_negatives and key in SAMPLED_NEGATIVES)
        }
        if (why := why_not_drawn(judged, self.drawing)) is not None:
            return undefined(judged, self.name, why)
        seen = with_drawn(judged, self.drawing)
        rows = seen.in_list if family.of_list and seen.in_list is not None else seen
        score = family.score(rows, self.k, **given) if family.takes_k else family.score(rows, **given)
        return replace(score, measure=self.name)


def parse(text: str) -> Measure:
    """The measure of a name, ours or that of ir_measures; an error suggests the nearest names."""
    written = text_of.written(text, _EXAMPLES)
    family = FAMILIES[written.family]
    given = _parameters(written.parameters, family)
    if not given.keys() & set(family.instead):
        given = dict(family.always) | given
    return Measure(family.name, _k(written.k, family), tuple(sorted(given.items())))


def parse_list(text: str) -> tuple[Measure, ...]:
    """Measures separated by commas; commas inside parentheses belong to a measure.

    >>> [m.name for m in parse_list("DCS(alpha=2,average=macro), HR@5")]
    ['DCS(alpha=2,average=macro)', 'HR@5']
    """
    return tuple(parse(part) for part in names(text))


def parsed(measures: str | Iterable[str]) -> tuple[Measure, ...]:
    """Measures given by their names, or by a text that lists these."""
    return parse_list(measures) if isinstance(measures, str) else tuple(map(parse, measures))


def names(text: str) -> list[str]:
    """The names in a comma-separated list, as written."""
    found = text_of.names(text)
    if not found:
        raise MeasureError("No measure was named.", fix=f"Name some: {', '.join(DEFAULT)}.")
    return found


def drawings(measures: Iterable[Measure]) -> dict[str, int]:
    """Which negatives measures need drawn beside the labels: how, and how many for a query."""
    needed: dict[str, int] = {}
    for how, n in filter(None, (measure.drawing for measure in measures)):
        if needed.setdefault(how, n) != n:
            raise MeasureError(
                f"negatives={how} is requested with n={needed[how]} and with n={n}.",
                fix="Ask for one number of them, or evaluate twice.",
            )
    return needed


def evaluate(judged: JudgedRanks, measures: Iterable[Measure | str] = DEFAULT) -> Scores:
    """Score one encoder's judged ranks by each measure."""
    asked = [parse(measure) if isinstance(measure, str) else measure for measure in measures]
    return Scores(judged.encoder, judged.basis, {measure.name: measure(judged) for measure in asked})


def _printed(value: Value) -> str:
    """10.0 as 10; other numbers with every digit they need to be read back."""
    return (
        f"{value:.0f}" if isinstance(value, float) and value.is_integer() and abs(value) < 1e6 else f"{value}"
    )


def _k(text: str | None, family: Family) -> int | None:
    if not family.takes_k:
        if text is not None:
            raise MeasureError(f"{family.name} takes no @K, but got @{text}.", fix=f"Write {family.name}.")
        return None
    if text is None and family.k_optional:
        return None
    number = whole(text or "")
    if number is None:
        got = "nothing" if text is None else f"@{text}"
        raise MeasureError(
            f"{family.name} needs a whole number K from 1 to 999,999,999 after @, but got {got}.",
            fix=f"Write {family.name}@5.",
        )
    return number


def _parameters(parts: tuple[str, ...], family: Family) -> dict[str, Value]:
    known = (*family.always, *family.instead, *family.optional)
    given: dict[str, Value] = {}
    for part in parts:
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in known:
            listed = ", ".join(f"{name}=..." for name in known) or "none"
            raise MeasureError(f"{family.name} has no parameter {part!r}.", fix=f"Its parameters: {listed}.")
        if key in given:
            raise MeasureError(f"{family.name} has {key} twice.", fix=f"Give {key} once.")
        given[key] = read_value(key, value, family.name)
    one_alpha(**given)
    if family.samples_negatives and "n" in given and "negatives" not in given:
        raise MeasureError(
            f"{family.name} has n={given['n']}, but no negatives are drawn.",
            fix=f"Write {family.name}(n={given['n']},negatives=sampled).",
        )
    return ({"n": N} if "negatives" in given else {}) | given
