"""What each measure says, in plain words for a reader who never saw the papers.

After VSD sections 4 (DCS) and 5 (HR@K, EHR@K, coverage@K), with AUC from EDS 3.4 and BPREF from trec_eval.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from lookalike.report.formats import percent, tenth

NAME = re.compile(r"(?P<base>[\w-]+)(?:@(?P<top>\d+))?(?:\((?P<options>.*)\))?", re.DOTALL)
DEFAULT_ALPHA = 10.0

# one line each, for readers without statistics
INTERVAL = "where the value would lie, in most cases, had other queries like these been asked"
NO_BIAS = "It says nothing of labels that favour an encoder: those do so in every draw."
IN_BRACKETS = (
    "In brackets: the two values; their difference with its interval; p, which is how often chance alone would bring "
    "a difference this large (after Holm: made stricter, because several encoders are compared); and on how many of "
    "the queries the first is ahead."
)


@dataclass(frozen=True)
class MeasureName:
    """A printable measure name taken apart: `EHR@5` is base EHR and top 5; options are as written."""

    text: str
    base: str
    top: int
    options: dict[str, str]

    @classmethod
    def of(cls, text: str) -> "MeasureName":
        """The parts of a name; a name of another form is its own base."""
        found = NAME.fullmatch(text)
        if found is None:
            return cls(text, text, 0, {})
        pairs = (part.partition("=") for part in (found["options"] or "").split(",") if part)
        return cls(text, found["base"], int(found["top"] or 0), {k.strip(): v.strip() for k, _, v in pairs})


@dataclass(frozen=True)
class Explanation:
    """The question a measure asks, what one value of it means, and what to watch."""

    asks: str
    means: Callable[[float], str]
    watch: str


def explanation(name: MeasureName) -> Explanation | None:
    """The explanation of a measure, or None for one that this page has no words for."""
    make = MEASURES.get(name.base)
    return make(name) if make else None


def half_credit(alpha: float) -> float:
    """Share of the ranking after which a similar pair has lost half of its DCS credit.

    Solves phi(1 - x) = 1/2 of VSD Eq. 2: x = 1 - ln((e^alpha + 1) / 2) / alpha.

    >>> round(half_credit(10), 3), round(half_credit(1e-9), 3)
    (0.069, 0.5)
    """
    if alpha < 1e-4:
        return 0.5
    return (math.log(2) - math.log1p(math.exp(-alpha))) / alpha


def _dcs(name: MeasureName) -> Explanation:
    try:
        alpha = float(name.options.get("alpha", DEFAULT_ALPHA))
    except ValueError:
        alpha = math.nan
    half = (
        f" Half of the credit is gone after the first {percent(half_credit(alpha))} of the ranking."
        if alpha > 0
        else ""
    )
    return Explanation(
        "Do similar pairs stand at the very top of a query's whole ranking, and dissimilar pairs well below?",
        lambda v: (
            f"a labelled pair earns on average {percent(v)} of the credit it could. A similar pair earns "
            f"more the nearer to the top it stands, a dissimilar pair the farther from it.{half}"
        ),
        "Only labelled pairs count, so an unjudged result is neither a hit nor a miss. The level depends "
        "on the share of similar labels: compare encoders on the same labels, never across catalogs.",
    )


def _hr(name: MeasureName) -> Explanation:
    top = name.top
    return Explanation(
        f"How many of the first {top} results are known to be similar?",
        lambda v: f"on average {tenth(v * top)} of the first {top} results have the label similar.",
        "Each unjudged result counts as a miss. Only where all are judged is this what a visitor sees.",
    )


def _ehr(name: MeasureName) -> Explanation:
    top = name.top
    return Explanation(
        f"Of those among the first {top} results that have a label, how many are similar?",
        lambda v: (
            f"of the judged results among the first {top}, {percent(v)} are similar, averaged over queries. "
            "A query without any judged result there takes the mean of the others."
        ),
        f"With coverage@{top} = 1 it equals HR@{top}. At low coverage it can lie above the truth: what an "
        "encoder shares with the generators is what is likely to be similar.",
    )


def _coverage(name: MeasureName) -> Explanation:
    top = name.top
    return Explanation(
        f"How many of the first {top} results have a label at all?",
        lambda v: (
            f"on average {tenth(v * top)} of the first {top} results are judged "
            f"and {tenth((1 - v) * top)} unjudged."
        ),
        f"This is not a quality: it says how far HR@{top} and EHR@{top} can be trusted. Where it is near 0, "
        "leave both and read DCS, AUC or BPREF.",
    )


def _auc_mic(name: MeasureName) -> Explanation:
    return Explanation(
        "Over all queries together: does a similar pair score higher than a dissimilar one?",
        lambda v: (
            "take any labelled pair that is similar and any that is dissimilar, also of different queries: "
            f"in {percent(v)} of cases the similar one has the higher score. Chance is 0.500."
        ),
        "Scores of different queries are held against each other. Where in the ranking the pairs stand "
        "does not matter, so a mistake at the top weighs no more than one far below." + _sampled(name),
    )


def _auc_mac(name: MeasureName) -> Explanation:
    return Explanation(
        "Within one query: does a similar result score higher than a dissimilar one?",
        lambda v: (
            "take one similar and one dissimilar judged result of the same query: in "
            f"{percent(v)} of cases the similar one stands first, averaged over queries. Chance is 0.500."
        ),
        "Only queries with both labels count. Where in the ranking the pairs stand does not matter, so a "
        "mistake at the top weighs no more than one far below." + _sampled(name),
    )


def _pr_auc(name: MeasureName, where: str, one: str, after: str) -> Explanation:
    return Explanation(
        f"{where}: going down from the highest score, how clean is the list at each similar {one}?",
        lambda v: (
            f"at a similar {one}, on average {percent(v)} of the judged ones met so far are similar{after}."
        ),
        "Chance is the share of similar labels, not 0.500; so the level differs between sets of labels."
        + _sampled(name),
    )


def _bpref(name: MeasureName) -> Explanation:
    depth = name.options.get("depth", "")
    cut = f" Only the first {depth} results of a query are looked at." if depth.isdigit() else ""
    return Explanation(
        "Within one query: how few dissimilar results stand above a similar one?",
        lambda v: (
            f"a similar result keeps on average {percent(v)} of its credit. Each judged dissimilar result "
            f"above it takes a part away; unjudged results are skipped.{cut}"
        ),
        "A query without a similar label has no value. In the VSD paper's tests it was the least steady "
        "measure when the labels of one generator were taken away.",
    )


def _sampled(name: MeasureName) -> str:
    drawn = " Its negatives are drawn from deep in the ranking; nobody judged them."
    return drawn if name.options.get("negatives", "judged") in ("sampled", "catalog") else ""


MEASURES: dict[str, Callable[[MeasureName], Explanation]] = {
    "DCS": _dcs,
    "HR": _hr,
    "EHR": _ehr,
    "coverage": _coverage,
    "AUC_mic": _auc_mic,
    "AUC_mac": _auc_mac,
    "PR-AUC_mic": partial(_pr_auc, where="Over all queries together", one="pair", after=""),
    "PR-AUC_mac": partial(_pr_auc, where="Within one query", one="result", after=", averaged over queries"),
    "BPREF": _bpref,
}


def sentence(name: MeasureName, number: float) -> str:
    """What one value means, as a sentence; "" for an unknown measure or an undefined value."""
    words = explanation(name)
    return f"That means: {words.means(number)}" if words and math.isfinite(number) else ""
