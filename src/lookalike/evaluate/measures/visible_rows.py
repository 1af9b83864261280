"""Which rows a measure sees: labelled pairs alone, or with negatives that were drawn beside them.

`negatives="sampled"` *replaces* the labelled negatives by drawn ones: EDS 6.4 computes the areas "in two different
ways", with negatives "annotated by our human domain expert annotators" or "randomly selected", the columns Anno. and
Neg of its tables. `negatives="catalog"` *extends* them: EDS 4 would "extend N_q with a random sample of candidates that
do not belong to N_q".
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool

from lookalike.core.types import DRAWN, JudgedRanks, Score
from lookalike.evaluate.measures.fold import NO_LABELS

N = 100


def with_drawn(judged: JudgedRanks, drawing: tuple[str, int] | None) -> JudgedRanks:
    """The rows for a drawing (how, n), kept for the next measure that asks for them."""
    if drawing is None:
        return judged.labelled
    how, _ = drawing
    if how not in judged.kept:
        judged.kept[how] = judged.only(_SEEN[how](judged))
    kept: JudgedRanks = judged.kept[how]
    return kept


def why_not_drawn(judged: JudgedRanks, drawing: tuple[str, int] | None) -> str | None:
    """Why a measure is undefined on these ranks: no such negatives were sampled; None where it is defined."""
    if drawing is None:
        return None
    if not judged.labelled.query_codes[0].size:
        return NO_LABELS
    how, n = drawing
    made = [one.n for one in judged.basis.negatives if one.how == how]
    if made == [n]:
        return None
    if made:
        return f"negatives={how} were drawn with n={made[0]} for these ranks"
    return f"no negatives={how} were drawn when these pairs were ranked"


def undefined(judged: JudgedRanks, measure: str, reason: str) -> Score:
    """An undefined value with its reason."""
    names = judged.query_codes[0]
    return Score(measure, float("nan"), 0, names, np.zeros(len(names)), np.zeros(len(names)), reason)


def _sampled(judged: JudgedRanks) -> Bool[np.ndarray, " pairs"]:
    """Labelled positives and the negatives drawn from the baselines' lists."""
    return np.asarray(((judged.drawn == 0) & (judged.label == 1)) | (judged.drawn == DRAWN["sampled"]))


def _catalog(judged: JudgedRanks) -> Bool[np.ndarray, " pairs"]:
    """All labelled pairs and the negatives drawn from the whole gallery."""
    return np.asarray((judged.drawn == 0) | (judged.drawn == DRAWN["catalog"]))


_SEEN: dict[str, Callable[[JudgedRanks], np.ndarray]] = {"sampled": _sampled, "catalog": _catalog}
