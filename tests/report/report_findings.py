"""Intervals, findings, a table by category and a verdict for the sample report."""

import math
import re
from collections.abc import Sequence

from lookalike.audit.verdict import CorrectedRate, Judgement, Verdict
from lookalike.evaluate.significance.intervals import Interval
from lookalike.evaluate.significance.results import GroupResult, GroupsResult, ScoreResult

VERDICT_MEASURES = ("DCS(alpha=10)", "AUC_mac", "HR@5", "BPREF")
ALL_ALIKE = "all queries give the same value, so drawing them again shows no spread"
GROUPS = (("chair", 92), ("sofa", 61), ("table", 44), ("lamp", 31), ("shelf", 9), ("", 3))


def around(value: float, half: float) -> Interval:
    """An interval that is a little longer below; none where nothing is spread or defined."""
    if math.isnan(value) or value in (0.0, 1.0):
        why = "the value is undefined" if math.isnan(value) else ALL_ALIKE
        return Interval(math.nan, math.nan, 0.95, "bca", 2000, 0, why)
    return Interval(value - 1.1 * half, min(value + half, 1.0), 0.95, "bca", 2000, 0)


def findings() -> dict[str, tuple[str, ...]]:
    """Sentences as `evaluate.sentence.verdict` writes them."""
    return {
        "DCS(alpha=10)": (
            "these labels cannot separate dinov2 from openclip (DCS(alpha=10) 0.676 against 0.671, difference "
            "0.005 [-0.011, 0.021], p = 1.000 after Holm, ahead on 52% of queries)",
            "these labels also cannot separate dinov2 from argus (difference 0.018, p = 0.310 after Holm)",
            "dinov2 is better than beit, clip, dino and descriptor:color+hog (each p <= 0.038 after Holm)",
        ),
        "EHR@5": (
            "these labels cannot separate dinov2 from openclip (EHR@5 0.851 against 0.831, difference 0.020 "
            "[-0.008, 0.047], p = 0.610 after Holm, 0.122 before, ahead on 51% of queries)",
            "dinov2 and descriptor:color+hog cannot be compared by EHR@5: no query counts for both",
        ),
        "BPREF": (),
    }


def groups(encoders: Sequence[str]) -> GroupsResult:
    """AUC_mac by category; the small ones have no interval, the last no value of its last encoder."""
    made = []
    for at, (name, queries) in enumerate(GROUPS):
        scores = {}
        for place, encoder in enumerate(encoders):
            value = 0.72 - 0.02 * place + 0.013 * ((at * place) % 5)
            few = f"only {queries - 2} queries count, and an interval needs 10"
            none = Interval(math.nan, math.nan, 0.95, "bca", 2000, 0, few)
            interval = around(value, 0.4 / queries**0.5) if queries > 12 else none
            scores[encoder] = {"AUC_mac": ScoreResult(value, queries - 2, "AUC_mac", "", interval)}
        made.append(GroupResult(name, queries, scores, None))
    undefined = ScoreResult(math.nan, 0, "AUC_mac", "no query of this group counts", none)
    made[-1].scores[encoders[-1]] = {"AUC_mac": undefined}
    return GroupsResult("category", made)


def judgement(fed: Sequence[str], others: Sequence[str]) -> Judgement:
    """Every word at least once."""
    trusted = "trusted", 0.94, "DCS orders such encoders right 94 times of 100."
    care = "with care", 0.81, "AUC_mac was right 81 times of 100 here."
    never = "not to be trusted", 0.55, "HR@5 counts unjudged results as misses."
    cannot = "cannot tell", math.nan, "The labels cannot separate this encoder from the others."
    unknown = "unknown", math.nan, "Fewer than 3 encoders: nothing to compare."
    words = {name: (trusted, care, trusted, cannot) for name in fed}
    words |= {name: (care, care, never, unknown) for name in others}
    alone = "16.4% of the labelled pairs came from it alone."
    return Judgement(
        k=5,
        encoders=(*fed, *others),
        generators=tuple(fed),
        coverage={name: 1.0 if name in fed else 0.64 for name in words},
        verdicts=tuple(
            Verdict(measure, name, word, right, (), ("It is in the head of the row.", alone), (sentence,))
            for name, cells in words.items()
            for measure, (word, right, sentence) in zip(VERDICT_MEASURES, cells, strict=True)
        ),
        corrected={name: CorrectedRate("HR@5 corrected", 0.71, 0.62, 0.8, 240, "", 0.85) for name in others},
        comparisons={},
    )


def text(page: str) -> str:
    """A page without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page)).replace("\N{NO-BREAK SPACE}", " ")


def section(page: str, start: str, end: str) -> str:
    """The text between two headings."""
    after = page.split(f">{start}</h3>", maxsplit=1)[1]
    return text(after.split(f">{end}</h3>", maxsplit=1)[0])
