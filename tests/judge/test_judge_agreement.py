"""The figures of a judge against slow formulas, and against the estimator that uses the judge."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from lookalike.annotate.agreement.figure import Figure
from lookalike.audit.sampling.design import Units, draw
from lookalike.audit.sampling.estimate import estimate
from lookalike.catalog.read import catalog_from
from lookalike.core.errors import JudgeError
from lookalike.core.types import Embeddings
from lookalike.judge.agreement import agreement, shared_families, within_strata, worth
from lookalike.judge.encoder import encoder_scores
from lookalike.judge.judgments import Judge, Judgments

NO_FLIPS = np.empty(0)


def slow_correlation(x, y, stratum, weight):
    """The residuals from each stratum's mean, pair by pair."""
    total = {"xx": 0.0, "yy": 0.0, "xy": 0.0}
    for one in set(stratum):
        members = [i for i in range(len(x)) if stratum[i] == one and weight[i] > 0]
        size = sum(weight[i] for i in members)
        for a, b in (("x", "x"), ("y", "y"), ("x", "y")):
            first, second = ({"x": x, "y": y}[name] for name in (a, b))
            means = [sum(weight[i] * v[i] for i in members) / size if size else 0 for v in (first, second)]
            total[a + b] += sum(weight[i] * (first[i] - means[0]) * (second[i] - means[1]) for i in members)
    return total["xy"] / math.sqrt(total["xx"] * total["yy"])


def world(pairs=300, strength=1.0, seed=0):
    """Labels, scores that know something of them, strata with other shares of similar pairs, and queries."""
    random = np.random.default_rng(seed)
    stratum = random.integers(0, 3, pairs)
    label = (random.uniform(size=pairs) < 0.2 + 0.3 * stratum).astype(float)
    score = np.clip(0.5 + strength * 0.2 * (label - 0.5) + 0.15 * random.standard_normal(pairs), 0, 1)
    return score, label, stratum, np.array([f"q{n}" for n in random.integers(0, 80, pairs)], object)


def test_the_correlation_within_strata_is_that_of_the_residuals():
    score, label, stratum, _ = world()
    weights = np.random.default_rng(1).integers(0, 3, (4, len(score))).astype(float)
    found = within_strata(score, label, stratum, weights)
    assert found.tolist() == pytest.approx([slow_correlation(score, label, stratum, w) for w in weights])
    one = within_strata(score, label, np.zeros(len(score), int), np.ones((1, len(score))))
    assert one[0] == pytest.approx(np.corrcoef(score, label)[0, 1])


def test_kappa_and_intervals_are_those_of_the_answers_over_queries():
    score, label, stratum, query = world()
    found = agreement(score, label, stratum, query, flipped=NO_FLIPS)
    same = np.mean((score >= 0.5) == (label > 0))
    by_chance = sum(np.mean((score >= 0.5) == kind) * np.mean((label > 0) == kind) for kind in (True, False))
    assert found.kappa.value == pytest.approx((same - by_chance) / (1 - by_chance))
    for figure in (found.kappa, found.correlation, found.worth):
        assert figure.low < figure.value < figure.high
        assert figure.count == 300
    assert agreement(score, label, stratum, query, flipped=NO_FLIPS) == found
    alone = agreement(
        np.repeat(score, 9), np.repeat(label, 9), np.repeat(stratum, 9), np.repeat(query, 9), flipped=NO_FLIPS
    )
    assert alone.kappa.value == pytest.approx(
        found.kappa.value
    )  # copies of a query's pairs are no more evidence
    assert alone.kappa.high - alone.kappa.low == pytest.approx(found.kappa.high - found.kappa.low, rel=0.15)


@pytest.mark.parametrize("strength", [0.0, 1.0, 3.0])
def test_the_worth_of_labels_is_the_ratio_of_the_estimator_s_variances(strength):
    """Simulated: 2,000 draws of 100 of 1,500 questions, with and without the covariate."""
    score, label, _, query = world(1500, strength)
    stratum = np.zeros(len(score), int)
    units = Units(np.full(len(score), 1e-3), stratum)
    judged = Units(units.weight, stratum, covariate=score)
    errors = []
    for seed in range(2000):
        design = draw(units, 100, seed)
        answers = label[design]
        errors.append([estimate(one, design, answers).value for one in (units, judged)])
    without, using = np.var(errors, axis=0)
    assert agreement(score, label, stratum, query, flipped=NO_FLIPS).worth.value == pytest.approx(
        without / using, rel=0.1
    )


def test_a_judge_that_tells_nothing_is_worth_one_label_and_n_pairs_show_no_factor_above_n():
    assert worth(Figure(0.01, -0.1, 0.2, 50)).low == 1
    assert worth(Figure(-0.5, -0.6, -0.4, 50)).value == pytest.approx(1 / 0.75)
    assert worth(Figure(1.0, 1.0, 1.0, 50)).value == 50
    undefined = worth(Figure(math.nan, math.nan, math.nan, 50, "constant"))
    assert math.isnan(undefined.value)
    assert undefined.reason == "constant"


@pytest.mark.parametrize("constant", ["score", "label"])
def test_a_side_without_variance_has_no_correlation(constant):
    score, label, stratum, query = world()
    columns = {"score": score, "label": label} | {constant: np.ones(len(score))}
    found = agreement(columns["score"], columns["label"], stratum, query, flipped=NO_FLIPS)
    assert math.isnan(found.correlation.value)
    assert math.isnan(found.worth.low)
    assert "alike" in found.worth.reason


def test_no_pair_with_a_label():
    none = np.empty(0)
    found = agreement(none, none, np.empty(0, int), np.empty(0, object), flipped=NO_FLIPS)
    assert (found.kappa.count, found.correlation.reason) == (0, "no judged pair has a label")


def test_the_curve_of_an_encoder_is_a_logistic_regression_of_the_cosine():
    random = np.random.default_rng(0)
    catalog = catalog_from({"image": [f"i{n}" for n in range(60)]}).catalog
    vectors = random.standard_normal((60, 5)).astype(np.float32)
    encoder = Embeddings("e", catalog.image, vectors)
    pairs = random.integers(0, 60, (400, 2))
    cosine = np.array(
        [vectors[a] @ vectors[b] / np.linalg.norm(vectors[a]) / np.linalg.norm(vectors[b]) for a, b in pairs]
    )
    label = (random.uniform(size=400) < 1 / (1 + np.exp(-3 * cosine))).astype(float)
    found = encoder_scores(catalog, encoder, pairs, pairs, label)
    standard = ((cosine - cosine.mean()) / cosine.std())[:, None]
    expected = LogisticRegression(C=1e6).fit(standard, label).predict_proba(standard)[:, 1]
    assert found == pytest.approx(expected, abs=1e-3)
    assert encoder_scores(catalog, encoder, pairs[:, ::-1], pairs, label) == pytest.approx(found, abs=1e-9)
    with pytest.raises(JudgeError, match="too few"):
        encoder_scores(catalog, encoder, pairs, pairs[:30], np.ones(30))


def test_families_are_found_by_name_and_siglip_is_no_clip():
    encoders = [
        ("a", "timm:vit_base_patch16_clip_224.openai"),
        ("b", "timm:vit_base_patch16_siglip_224"),
        ("c", "descriptor:hog"),
    ]
    assert shared_families("OpenCLIP judge", encoders) == {"a": "clip"}
    assert shared_families("google/siglip2", encoders) == {"b": "siglip"}
    assert shared_families("gpt-4o", encoders) == {}
    assert shared_families("clip", [("d", "timm:convnext_base.clip_laion2b")]) == {"d": "clip"}


def test_judgments_of_many_pairs_are_looked_up_by_ids_in_either_order():
    random = np.random.default_rng(0)
    ids = np.array([f"i{n}" for n in range(50)], object)
    query, candidate = ids[random.integers(0, 25, 200)], ids[25 + random.integers(0, 25, 200)]
    known = {
        frozenset(ends): score
        for *ends, score in zip(query, candidate, random.uniform(size=200), strict=True)
    }
    score = np.array([known[frozenset(ends)] for ends in zip(query, candidate, strict=True)])
    kept = Judgments(Judge("j", "file", "m"), query, candidate, np.zeros(200, int), score, np.zeros(200))
    for a, b in ((ids[:25], ids[25:]), (ids[25:], ids[:25])):
        expected = [known.get(frozenset(ends), math.nan) for ends in zip(a, b, strict=True)]
        assert kept.of(a, b).tolist() == pytest.approx(expected, nan_ok=True)
