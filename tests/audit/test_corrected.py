"""HR@K corrected for unjudged candidates: its curve, its value, its undefined cases, and a whole pool."""

import numpy as np
import pytest
from audit.complete_worlds import judged
from scipy.optimize import minimize

from lookalike.audit.corrected import ONE_KIND, RIDGE, corrected_hit_rate, found_by_others, logistic
from lookalike.core.errors import ArgumentError, NotComparableError
from lookalike.core.types import Labels, Rule
from lookalike.evaluate.significance.bootstrap import Resampling, replicates
from lookalike.rank.pairs import judged_pairs
from lookalike.research.bias.ground_truths import as_if_encoders, studio_ground_truth
from lookalike.research.bias.pools import TRUTH, GroundTruth, draw
from lookalike.research.bias.simulate import simulate
from lookalike.studio import studio
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
    assert score.value - labelled.value == pytest.approx(0.2, abs=0.03)  # five open ones at K = 5


def test_a_top_that_is_all_labelled_has_its_hit_rate():
    random = np.random.default_rng(1)
    label = random.integers(0, 2, (6, 9))
    scores = random.standard_normal((6, 9))
    found = corrected_hit_rate(judged("e", scores, label), 3, np.ones(54), np.empty(0, int), NONE)
    top = np.argsort(-scores, axis=1)[:, :3]
    assert found.value == pytest.approx(np.take_along_axis(label, top, axis=1).mean())
    assert found.queries == 6


@pytest.mark.parametrize("label", [0, 1])
def test_labels_of_one_kind_are_undefined_with_a_reason(label):
    ranks = judged("e", np.arange(6.0).reshape(2, 3), np.full((2, 3), label))
    found = corrected_hit_rate(ranks, 2, np.ones(6), np.array([0]), np.array([1.0]))
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
    found = corrected_hit_rate(judged("e", scores, label), 5, share.ravel(), places, open_score.ravel())
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
                ).value
            )
    assert np.corrcoef(linear, refitted)[0, 1] > 0.97
    assert linear.std() == pytest.approx(np.std(refitted), rel=0.1)


def test_the_share_of_others_leaves_the_encoder_out():
    scores = np.array([[3.0, 2.0, 1.0]])
    label = np.zeros((1, 3), int)
    a, b = judged("a", scores, label), judged("b", -scores, label)
    assert found_by_others([a, b], 1, "new").tolist() == [0.5, 0.0, 0.5]
    assert found_by_others([a, b], 1, "a").tolist() == [0.0, 0.0, 1.0]
    assert found_by_others([a], 1, "a").tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(NotComparableError):
        found_by_others([a, b.only(np.array([True, True, False]))], 1, "new")


def test_on_a_whole_pool_it_gives_what_the_simulation_gave():
    drawn_studio = studio(400, seed=2)
    catalog, encoders = drawn_studio.catalog(), as_if_encoders(drawn_studio)[:6]
    complete = studio_ground_truth(drawn_studio, encoders, queries=60)
    complete = GroundTruth(
        complete.ranks, {TRUTH: complete.answers[TRUTH]}, complete.random & False, complete.depth
    )
    sample, found = draw(complete, 0, 0), simulate(complete, 1, 0)
    rows, ranks = sample.labelled, complete.ranks[0]
    _, code = catalog.item_codes
    names = catalog.item_codes[0]
    first = {names[item]: catalog.image[np.flatnonzero(code == item)[0]] for item in range(len(names))}
    labels = Labels.of(ranks.query[rows], [first[item] for item in ranks.candidate[rows]], ranks.label[rows])
    pairs = judged_pairs(catalog, labels, Rule())
    generators = [complete.encoders[g] for g in sample.generators]
    scores = corrected(catalog, encoders, pairs, generators, sample.top)
    expected = found.value[0, found.measures.index("HR@5 corrected")]
    assert [scores[name].value for name in complete.encoders] == pytest.approx(expected.tolist(), abs=2e-4)
    assert scores["as-if-1"].measure == "HR@5 corrected"
    with pytest.raises(ArgumentError, match="nobody"):
        corrected(catalog, encoders, pairs, ["nobody"], 5)
