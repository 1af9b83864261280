"""What each measure says, in plain words for readers who do not know the papers.

After VSD sections 4 (DCS) and 5 (HR@K, EHR@K, coverage@K), with AUC from EDS 3.4 and BPREF from trec_eval.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lookalike.core.text import percent, value
from lookalike.evaluate.measures.credit import half_credit
from lookalike.evaluate.measures.table import Measure

# one line each, for readers without statistics
INTERVAL = "With other queries of the same kind, the value would most likely be in this interval."
NO_BIAS = "It does not cover the bias of labels that favour an encoder."
IN_BRACKETS = (
    "In brackets: the two values; their difference with its interval; p, the probability of a difference this large by "
    "chance (after Holm: corrected for comparing several encoders); and the share of queries on which the first "
    "encoder has the higher value."
)


@dataclass(frozen=True)
class Explanation:
    """The question a measure asks, what one value of it means, and what to watch."""

    asks: str
    means: Callable[[float], str]
    watch: str


def explanation(measure: Measure) -> Explanation | None:
    """The explanation of a measure, or None for a measure without one."""
    if measure.family not in TEXTS:
        return None
    asks, means, watch = TEXTS[measure.family]
    top, given = measure.k or 0, dict(measure.parameters)
    depth = f" Only the first {given['depth']} results of a query count." if "depth" in given else ""
    facts = {
        "top": top,
        "half": _half(given),
        "cut": depth,
        "sampled": SAMPLED if "negatives" in given else "",
    }

    def meaning(v: float) -> str:
        results, rest = (value(share * top, 1) for share in (v, 1 - v))
        return means.format(share=percent(v), results=results, rest=rest, **facts)

    return Explanation(asks.format(**facts), meaning, watch.format(**facts))


def _half(given: Mapping[str, float | int | str]) -> str:
    if "half" in given:
        return f" Half of the credit is lost after the first {given['half']:g} results."
    alpha = float(given.get("alpha", 0))
    if not alpha > 0:
        return ""
    return f" Half of the credit is lost after the first {percent(half_credit(alpha))} of the ranking."


SAMPLED = " Its negatives are sampled from deep in the ranking; nobody judged them."
PLACE = "The place in the ranking does not matter: a mistake at the top counts no more than one far below.{sampled}"
LEVEL = "Chance is the share of similar labels, not 0.500. The level therefore differs between label sets.{sampled}"
TEXTS = {  # what it asks, what a value means, what to watch
    "DCS": (
        "Are similar pairs at the very top of a query's whole ranking, and dissimilar pairs well below?",
        "a labelled pair earns on average {share} of the possible credit. A similar pair earns more near the top, a "
        "dissimilar pair far from it.{half}",
        "Only labelled pairs count. Unjudged results are neither hits nor misses. The level depends on the share of "
        "similar labels: compare encoders on the same labels, never across catalogs.",
    ),
    "HR": (
        "How many of the first {top} results are known to be similar?",
        "on average {results} of the first {top} results have the label similar.",
        "Each unjudged result counts as a miss. The value is exact only where all results are judged.",
    ),
    "EHR": (
        "How many of the labelled results among the first {top} are similar?",
        "of the judged results among the first {top}, {share} are similar, averaged over queries. A query without a "
        "judged result there gets the mean of the other queries.",
        "With coverage@{top} = 1 it equals HR@{top}. At low coverage it can be too high: results that an encoder "
        "shares with the generators are more often similar than the others.",
    ),
    "coverage": (
        "How many of the first {top} results have a label?",
        "on average {results} of the first {top} results are judged and {rest} unjudged.",
        "Coverage is not a quality. It says how far HR@{top} and EHR@{top} can be trusted. Where it is near 0, use "
        "DCS, AUC or BPREF instead.",
    ),
    "AUC_mic": (
        "Over all queries together: does a similar pair score higher than a dissimilar one?",
        "take any labelled pair that is similar and any that is dissimilar, also of different queries: in {share} of "
        "cases the similar one has the higher score. Chance is 0.500.",
        f"It compares scores of different queries. {PLACE}",
    ),
    "AUC_mac": (
        "Within one query: does a similar result score higher than a dissimilar one?",
        "take one similar and one dissimilar judged result of the same query: in {share} of cases the similar one "
        "ranks higher, averaged over queries. Chance is 0.500.",
        f"Only queries with both labels count. {PLACE}",
    ),
    "PR-AUC_mic": (
        "Over all queries together: what share of the list down to each similar pair is similar?",
        "at a similar pair, on average {share} of the judged ones met so far are similar.",
        LEVEL,
    ),
    "PR-AUC_mac": (
        "Within one query: what share of the list down to each similar result is similar?",
        "at a similar result, on average {share} of the judged ones met so far are similar, averaged over queries.",
        LEVEL,
    ),
    "BPREF": (
        "Within one query: how few dissimilar results rank above a similar one?",
        "a similar result keeps on average {share} of its credit. Each judged dissimilar result above it takes a part "
        "of it. Unjudged results are skipped.{cut}",
        "A query without a similar label has no value. In the tests of the VSD paper it changed most when the labels "
        "of one generator were removed.",
    ),
}


def sentence(measure: Measure, number: float) -> str:
    """What one value means, as a sentence; "" for an unknown measure or an undefined value."""
    words = explanation(measure)
    return f"That means: {words.means(number)}" if words and math.isfinite(number) else ""
