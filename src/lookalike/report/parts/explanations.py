"""What each measure says, in plain words for readers who do not know the papers.

After VSD sections 4 (DCS) and 5 (HR@K, EHR@K, coverage@K), with AUC from EDS 3.4 and BPREF from trec_eval.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from lookalike.core.text import percent, value

NAME = re.compile(r"(?P<base>[\w-]+)(?:@(?P<top>\d+))?(?:\((?P<options>.*)\))?", re.DOTALL)
DEFAULT_ALPHA = 10.0

# one line each, for readers without statistics
INTERVAL = "With other queries of the same kind, the value would most likely be in this interval."
NO_BIAS = "It does not cover the bias of labels that favour an encoder."
IN_BRACKETS = (
    "In brackets: the two values; their difference with its interval; p, the probability of a difference this large by "
    "chance (after Holm: corrected for comparing several encoders); and the share of queries on which the first "
    "encoder has the higher value."
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
    """The explanation of a measure, or None for a measure without one."""
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
        f" Half of the credit is lost after the first {percent(half_credit(alpha))} of the ranking."
        if alpha > 0
        else ""
    )
    return Explanation(
        "Are similar pairs at the very top of a query's whole ranking, and dissimilar pairs well below?",
        lambda v: (
            f"a labelled pair earns on average {percent(v)} of the possible credit. A similar pair earns "
            f"more near the top, a dissimilar pair far from it.{half}"
        ),
        "Only labelled pairs count. Unjudged results are neither hits nor misses. The level depends "
        "on the share of similar labels: compare encoders on the same labels, never across catalogs.",
    )


def _hr(name: MeasureName) -> Explanation:
    top = name.top
    return Explanation(
        f"How many of the first {top} results are known to be similar?",
        lambda v: f"on average {value(v * top, 1)} of the first {top} results have the label similar.",
        "Each unjudged result counts as a miss. The value is exact only where all results are judged.",
    )


def _ehr(name: MeasureName) -> Explanation:
    top = name.top
    return Explanation(
        f"How many of the labelled results among the first {top} are similar?",
        lambda v: (
            f"of the judged results among the first {top}, {percent(v)} are similar, averaged over queries. "
            "A query without a judged result there gets the mean of the other queries."
        ),
        f"With coverage@{top} = 1 it equals HR@{top}. At low coverage it can be too high: results that an "
        "encoder shares with the generators are more often similar than the others.",
    )


def _coverage(name: MeasureName) -> Explanation:
    top = name.top
    return Explanation(
        f"How many of the first {top} results have a label?",
        lambda v: (
            f"on average {value(v * top, 1)} of the first {top} results are judged "
            f"and {value((1 - v) * top, 1)} unjudged."
        ),
        f"Coverage is not a quality. It says how far HR@{top} and EHR@{top} can be trusted. Where it is near 0, "
        "use DCS, AUC or BPREF instead.",
    )


def _auc_mic(name: MeasureName) -> Explanation:
    return Explanation(
        "Over all queries together: does a similar pair score higher than a dissimilar one?",
        lambda v: (
            "take any labelled pair that is similar and any that is dissimilar, also of different queries: "
            f"in {percent(v)} of cases the similar one has the higher score. Chance is 0.500."
        ),
        "It compares scores of different queries. The place in the ranking "
        "does not matter: a mistake at the top counts no more than one far below." + _sampled(name),
    )


def _auc_mac(name: MeasureName) -> Explanation:
    return Explanation(
        "Within one query: does a similar result score higher than a dissimilar one?",
        lambda v: (
            "take one similar and one dissimilar judged result of the same query: in "
            f"{percent(v)} of cases the similar one ranks higher, averaged over queries. Chance is 0.500."
        ),
        "Only queries with both labels count. The place in the ranking does not matter: a "
        "mistake at the top counts no more than one far below." + _sampled(name),
    )


def _pr_auc(name: MeasureName, where: str, one: str, after: str) -> Explanation:
    return Explanation(
        f"{where}: what share of the list down to each similar {one} is similar?",
        lambda v: (
            f"at a similar {one}, on average {percent(v)} of the judged ones met so far are similar{after}."
        ),
        "Chance is the share of similar labels, not 0.500. The level therefore differs between label sets."
        + _sampled(name),
    )


def _bpref(name: MeasureName) -> Explanation:
    depth = name.options.get("depth", "")
    cut = f" Only the first {depth} results of a query count." if depth.isdigit() else ""
    return Explanation(
        "Within one query: how few dissimilar results rank above a similar one?",
        lambda v: (
            f"a similar result keeps on average {percent(v)} of its credit. Each judged dissimilar result "
            f"above it takes a part of it. Unjudged results are skipped.{cut}"
        ),
        "A query without a similar label has no value. In the tests of the VSD paper it changed most "
        "when the labels of one generator were removed.",
    )


def _sampled(name: MeasureName) -> str:
    drawn = " Its negatives are sampled from deep in the ranking; nobody judged them."
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
