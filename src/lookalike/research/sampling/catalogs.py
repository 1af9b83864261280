"""Catalogs with complete answers and a pool: the places that are open, their answers, and what can be guessed."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from jaxtyping import Float64, Int, Int64
from scipy.special import expit

from lookalike.api.places import NONE, Places
from lookalike.audit.corrected import corrected_hit_rate
from lookalike.core.checks import codes
from lookalike.core.types import Catalog
from lookalike.evaluate.measures.hit_rate import estimated_hit_rate, membership
from lookalike.research.bias.ground_truths import as_if_encoders, studio_ground_truth
from lookalike.research.bias.pools import GroundTruth
from lookalike.studio import studio

K, GENERATORS, STEPS = 5, 3, 60
STEEP = 1.5
"""Log odds of a simulated judge's score per standard deviation of its noise."""
JUDGES: Mapping[str, float] = MappingProxyType(
    {"good": 0.75, "weak": 0.35, "useless": 0.0, "biased": 0.75, "adversarial": -0.6}
)
"""The correlation of simulated scores with the answers; "biased" is a good judge before its bias is added."""
BIAS = 2.0
"""Log odds that the biased judge adds to the candidates of its favourite."""


@dataclass(frozen=True, eq=False)
class JudgedPlaces:
    """One catalog's places, of which a pool's labels are known; `answer` is the truth of every question.

    `outside` are the encoders that did not feed the pool. `curve` is the chance of a similar answer at each encoder's
    open rows by its corrected curve. `estimated` and `corrected` are EHR@K and the corrected HR@K on the pool's labels.
    """

    name: str
    places: Places
    answer: Float64[np.ndarray, " questions"]
    outside: tuple[str, ...]
    curve: Mapping[str, Float64[np.ndarray, " rows"]]
    estimated: Mapping[str, float]
    corrected: Mapping[str, float]


def studio_places(images: int, seed: int) -> JudgedPlaces:
    """The as-if encoders of one studio."""
    drawn = studio(images, photos_per_item=2, seed=seed)
    return judged_places(
        f"studio {seed} of {images} photos",
        drawn.catalog(),
        studio_ground_truth(drawn, as_if_encoders(drawn)),
        seed,
    )


def judged_places(name: str, catalog: Catalog, truth: GroundTruth, seed: int) -> JudgedPlaces:
    """The top 5 of three encoders, drawn by the seed, are labelled; (a, b) and (b, a) are one question."""
    random = np.random.Generator(np.random.PCG64(seed))
    generators = np.sort(random.choice(len(truth.ranks), GENERATORS, replace=False))
    weight = np.stack([membership(one, K) for one in truth.ranks])
    proposed = weight > 0
    pooled = np.any(proposed[generators], axis=0)
    here = proposed.any(axis=0)
    curve, estimated, corrected = {}, {}, {}
    for at, one in enumerate(truth.ranks):
        others = [g for g in generators.tolist() if g != at]
        judged = one.only(pooled)
        is_open = proposed[at] & ~pooled
        found = corrected_hit_rate(
            judged,
            K,
            proposed[others][:, pooled].mean(axis=0),
            _among(truth.query, pooled)[is_open],
            one.score[is_open].astype(np.float64),
        )
        guess = np.zeros(len(one))
        guess[is_open] = found.each
        curve[one.encoder] = guess[here]
        estimated[one.encoder] = estimated_hit_rate(judged, K).value
        corrected[one.encoder] = found.score.value
    question, pairs = _questions(catalog, truth)
    answer = np.zeros(len(pairs))
    answer[question] = truth.ranks[0].label
    listed, question = np.unique(question[here], return_inverse=True)
    known = np.zeros(len(listed), bool)
    known[question[pooled[here]]] = True
    answer = answer[listed]
    return JudgedPlaces(
        name,
        Places(
            truth.encoders,
            K,
            truth.queries,
            truth.query[here],
            weight[:, here],
            np.where(known[question], answer[question], NONE).astype(np.int8),
            question,
            pairs[listed],
        ),
        answer,
        tuple(one for at, one in enumerate(truth.encoders) if at not in generators),
        curve,
        estimated,
        corrected,
    )


def judge(found: JudgedPlaces, kind: str, seed: int) -> Float64[np.ndarray, " questions"]:
    """The scores of a simulated judge for every question, with the correlation of `JUDGES` over the open ones.

        score = expit(1.5 (mu (2 y - 1) + noise)),   noise ~ N(0, 1)

    Bisection finds the mu that gives this correlation for the answers y. The biased judge adds 2 in log odds for
    candidates in the list of the first encoder outside the pool.
    """
    random = np.random.Generator(np.random.PCG64((seed, list(JUDGES).index(kind))))
    noise, side = random.standard_normal(len(found.answer)), 2.0 * found.answer - 1.0
    wanted, here = JUDGES[kind], open_questions(found)
    low, high = -4.0, 4.0
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        scores = expit(STEEP * (middle * side + noise))
        low, high = (
            (middle, high) if correlation(scores[here], found.answer[here]) < wanted else (low, middle)
        )
    favoured = np.zeros(len(found.answer))
    if kind == "biased":
        rows = found.places.weight[found.places.encoders.index(found.outside[0])] > 0
        favoured[found.places.question[rows]] = BIAS
    return np.asarray(expit(STEEP * (middle * side + noise) + favoured))


def open_questions(found: JudgedPlaces) -> Int64[np.ndarray, " open"]:
    """The questions without a label in the pool."""
    return np.unique(found.places.question[found.places.label < 0])


def correlation(a: Float64[np.ndarray, " n"], b: Float64[np.ndarray, " n"]) -> float:
    """Pearson's; 0 where one side is constant."""
    return float(np.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else 0.0


def _among(query: Int[np.ndarray, " rows"], pooled: np.ndarray) -> Int64[np.ndarray, " rows"]:
    """Each row's query as a place among those of the pool."""
    return np.searchsorted(np.unique(query[pooled]), query)


def _questions(
    catalog: Catalog, truth: GroundTruth
) -> tuple[Int64[np.ndarray, " rows"], Int64[np.ndarray, "questions 2"]]:
    """Which question every row asks, and the two items of each question."""
    item = dict(zip(catalog.image.tolist(), catalog.item.tolist(), strict=True))
    first = truth.ranks[0]
    names = np.array([item[image] for image in first.query.tolist()] + first.candidate.tolist(), object)
    ends = np.sort(codes(names)[1].reshape(2, -1), axis=0)
    pairs, question = np.unique(ends.T, axis=0, return_inverse=True)
    return question.reshape(-1), pairs
