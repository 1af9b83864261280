"""HR@K corrected for unjudged candidates: its curve, its value, its undefined cases, and a whole pool."""

from dataclasses import replace

import numpy as np
import pytest
from audit.complete_worlds import judged
from scipy.optimize import minimize

from lookalike.audit.corrected import (
    ONE_KIND,
    RIDGE,
    Correction,
    corrected_hit_rate,
    error_of_curve,
    found_by_others,
    logistic,
)
from lookalike.core.errors import ArgumentError
from lookalike.core.types import Embeddings, Labels, Score
from lookalike.evaluate.significance.bootstrap import Resampling, replicates
from lookalike.evaluate.significance.intervals import Interval
from lookalike.rank.pairs import judged_pairs
from lookalike.research.bias.ground_truths import as_if_encoders, queries_of, studio_ground_truth
from lookalike.research.bias.pools import TRUTH, draw
from lookalike.research.bias.simulate import simulate
from lookalike.research.bias.statistics import summary
from lookalike.studio import studio
from lookalike.studio.simulated_encoders import observed, observers
from lookalike.workflows.decide.corrected import corrected

NONE = np.empty(0)


def test_the_regression_is_the_least_of_its_loss():
    random = np.random.default_rng(0)
    x = np.stack([np.ones(300), random.standard_normal(300), random.uniform(size=300)])
    y = (random.uniform(size=300) < 1 / (1 + np.exp(-(x[1] - 2 * x[2])))).astype(float)

    def loss(w):
        at = w @ x
        return np.sum(np.logaddexp(0, at) - y * at) + RIDGE / 2 * w @ w

    assert logistic(x, y) == pytest.approx(minimize(loss, np.zeros(3), tol=1e-10).x, abs=1e-3)


def test_separable_labels_have_finite_weights():
    x = np.stack([np.ones(8), np.arange(8.0) - 3.5])
    weights = logistic(x, (np.arange(8) > 3).astype(float))
    assert np.isfinite(weights).all()
    assert weights[1] > 1


def test_unjudged_candidates_count_with_the_curve_at_no_generator():
    """The score says nothing and the share everything: all share 1 similar at .8, share .5 at .5; so .2 at 0."""
    label = np.array(([1] * 8 + [0] * 2 + [1] * 5 + [0] * 5) * 30).reshape(30, 20)
    share = np.tile([1.0] * 10 + [0.5] * 10, 30)
    random = np.random.default_rng(0)
    ranks = judged("e", random.standard_normal((30, 20)), label)
    score = corrected_hit_rate(
        ranks, 5, share, np.repeat(np.arange(30), 5), np.tile(random.standard_normal(5), 30)
    )
    labelled = corrected_hit_rate(ranks, 5, share, np.empty(0, int), NONE)
    assert score.score.value - labelled.score.value == pytest.approx(0.2, abs=0.03)  # five open ones at K = 5


def test_a_top_that_is_all_labelled_has_its_hit_rate():
    random = np.random.default_rng(1)
    label = random.integers(0, 2, (6, 9))
    scores = random.standard_normal((6, 9))
    found = corrected_hit_rate(judged("e", scores, label), 3, np.ones(54), np.empty(0, int), NONE).score
    top = np.argsort(-scores, axis=1)[:, :3]
    assert found.value == pytest.approx(np.take_along_axis(label, top, axis=1).mean())
    assert found.queries == 6


@pytest.mark.parametrize("label", [0, 1])
def test_labels_of_one_kind_are_undefined_with_a_reason(label):
    ranks = judged("e", np.arange(6.0).reshape(2, 3), np.full((2, 3), label))
    found = corrected_hit_rate(ranks, 2, np.ones(6), np.array([0]), np.array([1.0])).score
    assert np.isnan(found.value)
    assert (found.reason, found.queries) == (ONE_KIND, 0)


def test_intervals_know_that_the_curve_is_fitted():
    """Replicates from the parts spread as the estimate does when the curve is fitted again on each draw."""
    random = np.random.default_rng(4)
    queries, pairs = 60, 8
    scores, share = random.standard_normal((queries, pairs)), random.choice([0.5, 1.0], (queries, pairs))
    chance = 1 / (1 + np.exp(-(scores + 3 * share - 2)))
    label = (random.uniform(size=scores.shape) < chance).astype(int)
    open_score = random.standard_normal((queries, 3)) - 0.5
    places = np.repeat(np.arange(queries), 3)
    found = corrected_hit_rate(judged("e", scores, label), 5, share.ravel(), places, open_score.ravel()).score
    resampling = Resampling(found.query, 300, 1)
    linear = replicates([found], resampling)[:, 0]
    refitted = []
    for weights in resampling.weights():
        for counts in weights.astype(int):
            sampled = np.repeat(np.arange(queries), counts)
            again = judged("e", scores[sampled], label[sampled])
            refitted.append(
                corrected_hit_rate(
                    again, 5, share[sampled].ravel(), places, open_score[sampled].ravel()
                ).score.value
            )
    assert np.corrcoef(linear, refitted)[0, 1] > 0.97
    assert linear.std() == pytest.approx(np.std(refitted), rel=0.1)


QUERIES_ONLY = Interval(0.45, 0.55, 0.95, "bca", 2000, 0)


def of_score(unjudged: float, chance: float, value: float = 0.5) -> Correction:
    return Correction(Score("HR@5 corrected", value, 60, NONE, NONE, NONE), unjudged, chance)


def test_the_interval_joins_the_draw_of_queries_and_the_error_of_the_curve():
    """By hand: u = .4, P = .3, so s = 1.2 + .24 = 1.44 and the odds of 3 to 7 move by exp(1.96 x 1.44) either way."""
    odds, times = 0.3 / 0.7, np.exp(1.959963984540054 * 1.44)
    low, high = (o / (1 + o) for o in (odds / times, odds * times))
    found = of_score(0.4, 0.3).interval(QUERIES_ONLY)
    assert found.low == pytest.approx(0.5 - np.sqrt(0.05**2 + (0.4 * (0.3 - low)) ** 2))
    assert found.high == pytest.approx(0.5 + np.sqrt(0.05**2 + (0.4 * (high - 0.3)) ** 2))
    assert (found.method, found.level, found.replicates) == ("corrected", 0.95, 2000)


def test_the_interval_of_a_difference_joins_three_errors_two_of_which_are_correlated():
    one, other = of_score(0.4, 0.3, 0.6), of_score(0.2, 0.6, 0.45)
    queries = replace(QUERIES_ONLY, low=0.1, high=0.2)
    (below, above), (other_below, other_above) = (
        error_of_curve(each.unjudged, each.chance, 0.95) for each in (one, other)
    )
    found = one.interval_of_difference(other, queries)
    low = 0.05**2 + below**2 + other_above**2 - below * other_above
    high = 0.05**2 + above**2 + other_below**2 - above * other_below
    assert [found.low, found.high] == pytest.approx([0.15 - np.sqrt(low), 0.15 + np.sqrt(high)])
    back = other.interval_of_difference(one, replace(queries, low=-0.2, high=-0.1))
    assert [back.low, back.high] == pytest.approx([-found.high, -found.low])
    known = of_score(0.0, np.nan, 0.6).interval_of_difference(of_score(0.0, np.nan, 0.45), queries)
    assert [known.low, known.high] == pytest.approx([0.1, 0.2])


def test_without_unjudged_places_or_without_an_interval_nothing_is_added():
    assert of_score(0.0, np.nan).interval(QUERIES_ONLY) == QUERIES_ONLY
    none = replace(QUERIES_ONLY, low=np.nan, high=np.nan, reason="too few queries")
    assert of_score(0.5, 0.5).interval(none) == none


@pytest.mark.parametrize(("value", "chance"), [(0.02, 0.0), (0.98, 1.0), (0.5, 1e-12)])
def test_the_interval_stays_within_0_and_1(value, chance):
    around = replace(QUERIES_ONLY, low=value - 0.01, high=value + 0.01)
    found = of_score(0.9, chance, value).interval(around)
    assert 0.0 <= found.low <= value <= found.high <= 1.0


@pytest.mark.slow
def test_the_interval_holds_the_truth_where_that_of_the_queries_alone_does_not():
    """As-if encoders on the catalog's own queries and on a test split; descriptors are in the study of the docs."""
    drawn_studio = studio(1000, seed=11)
    found = []
    for kind in ("catalog", "split"):
        asked = queries_of(drawn_studio, kind)
        encoders = [
            Embeddings(one.encoder, asked.catalog.image, one.vectors) for one in as_if_encoders(drawn_studio)
        ]
        truth = studio_ground_truth(drawn_studio, encoders, asked)
        found.append(simulate(truth, 25, 3, measures=["HR@5"]))
    figures = {
        (one.figure, one.where): one.value for one in summary(found) if one.measure == "HR@5 corrected"
    }
    assert figures["interval holds the truth", "outside"] > 0.93
    assert figures["interval of the draw of queries holds the truth", "outside"] < 0.8
    assert figures["interval of a difference holds the truth", "both outside"] > 0.93


def test_the_share_of_others_leaves_the_encoder_out():
    a, b = np.array([True, False, False]), np.array([False, False, True])
    assert found_by_others({"a": a, "b": b}, "new").tolist() == [0.5, 0.0, 0.5]
    assert found_by_others({"a": a, "b": b}, "a").tolist() == [0.0, 0.0, 1.0]
    assert found_by_others({"a": a}, "a").tolist() == [0.0, 0.0, 0.0]
    assert found_by_others({}, "a").tolist() == []


@pytest.mark.parametrize(
    ("kind", "within"), [("catalog", False), ("wild", False), ("split", False), ("split", True)]
)
def test_on_a_whole_pool_it_gives_what_the_simulation_gave(kind, within):
    """`within`: generators proposed candidates of the query's split only."""
    drawn_studio = studio(600, seed=2)
    asked = queries_of(drawn_studio, kind)
    catalog = asked.catalog
    encoders = [
        Embeddings(one.name, catalog.image, observed(drawn_studio, one, asked.wild))
        for one in observers(6, drawn_studio.seed)
    ]
    complete = studio_ground_truth(drawn_studio, encoders, asked)
    complete = replace(
        complete, answers={TRUTH: complete.answers[TRUTH]}, random=np.zeros_like(complete.random)
    )
    if within:
        complete = replace(complete, proposed=None)
    sample, found = draw(complete, 0, 0), simulate(complete, 1, 0)
    rows, ranks = sample.labelled, complete.ranks[0]
    names, code = catalog.item_codes
    first = {names[item]: catalog.image[np.flatnonzero(code == item)[0]] for item in range(len(names))}
    labels = Labels.of(ranks.query[rows], [first[item] for item in ranks.candidate[rows]], ranks.label[rows])
    pairs = judged_pairs(catalog, labels, asked.rule)
    generators = [complete.encoders[g] for g in sample.generators]
    scores = corrected(catalog, encoders, pairs, generators, sample.top, within_splits=within)
    expected = found.value[0, found.measures.index("HR@5 corrected")]
    assert [scores[name].score.value for name in complete.encoders] == pytest.approx(
        expected.tolist(), abs=2e-4
    )
    assert scores["as-if-1"].score.measure == "HR@5 corrected"
    with pytest.raises(ArgumentError, match="nobody"):
        corrected(catalog, encoders, pairs, ["nobody"], 5)
