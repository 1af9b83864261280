"""Estimates of HR@K from pool labels, by arithmetic on pools small enough to count."""

import numpy as np
import pytest
from audit.complete_worlds import judged, world

from lookalike.research.bias.estimates import ESTIMATES, Seen, estimates, generator_rates
from lookalike.research.bias.simulate import simulate

# One query, ten candidates, K = 4. Generator a ranks 0 1 2 3 first, b ranks 2 3 4 5 first.
LABEL = np.array([1, 0, 1, 1, 1, 0, 1, 0, 0, 0])
SURFACED = np.zeros((2, 10), bool)
SURFACED[0, :4] = SURFACED[1, 2:6] = True
PLACES = np.stack([np.arange(10), (np.arange(10) - 2) % 10]).astype(np.float64)


def rates():
    pooled = SURFACED.any(axis=0)
    return generator_rates(
        PLACES[:, pooled], SURFACED[:, pooled], LABEL[pooled], np.zeros(int(pooled.sum()), int), 4
    )


def encoder_outside() -> Seen:
    """Ranks 2 4 6 7 first: 2 and 4 are labelled similar, 6 and 7 (one similar, one not) are open."""
    first = [2, 4, 6, 7, 0, 1, 3, 5, 8, 9]
    scores = np.zeros((1, 10))
    scores[0, first] = np.arange(10, 0, -1)
    pooled = SURFACED.any(axis=0)
    return Seen(
        judged=judged("new", scores, LABEL[None]).only(pooled),
        k=4,
        found=SURFACED.sum(axis=0)[pooled],
        others=2,
        rates=rates(),
        open_score=np.array([8.0, 7.0]),
        open_query=np.array([0, 0]),
        open_label=LABEL[[6, 7]],
        seed=0,
    )


def test_what_generators_found_alone_and_together():
    found = rates()
    assert found.only.tolist() == [0.5, 0.5]  # a alone: 0 (similar), 1; b alone: 4 (similar), 5
    assert found.shared.tolist() == [1.0, 1.0]  # both: 2 and 3, both similar
    assert found.known.tolist() == [0.75, 0.75]
    assert found.without.tolist() == [1.0, 1.0]
    assert found.coverage.tolist() == [0.5, 0.5]


def test_the_estimates_by_hand():
    value = {name: score.value for name, score in estimates(encoder_outside()).items()}
    assert value["HR@4 alone"] == pytest.approx((2 + 2 * 0.5) / 4)
    assert value["HR@4 alone x own"] == pytest.approx((2 + 2 * 1.0 * 0.5) / 4)
    odds = 99.0 * (1.0 / 99.0)  # odds of EHR 1 (moved in to .99), times odds(.5) / odds(.99)
    assert value["HR@4 alone x own odds"] == pytest.approx((2 + 2 * odds / (1 + odds)) / 4)
    # shift per lost coverage: (1 - .75) / .5; the encoder outside lost half of its own
    assert value["EHR@4 left-out shift"] == pytest.approx(1.0 - 0.5 * 0.5)
    assert value["HR@4 with 100 labels"] == pytest.approx(0.75)  # both open ones labelled: the true value


def test_nothing_found_alone_leaves_the_rates_undefined_with_a_reason():
    everything = np.ones((2, 4), bool)
    found = generator_rates(np.tile(np.arange(4.0), (2, 1)), everything, np.ones(4, int), np.zeros(4, int), 4)
    assert np.isnan(found.only).all()
    seen = encoder_outside()
    lost = Seen(**{**seen.__dict__, "rates": found})
    for name in ("HR@4 alone", "HR@4 alone x own", "EHR@4 left-out shift"):
        score = estimates(lost)[name]
        assert np.isnan(score.value)
        assert "found alone" in score.reason
        assert score.queries == 0


def test_if_no_further_pair_is_resolved_the_judged_ones_remain():
    seen = encoder_outside()
    open_ones = Seen(**{**seen.__dict__, "open_label": np.array([-1, -1])})
    assert estimates(open_ones)["HR@4 with 100 labels"].value == pytest.approx(1.0)


def test_a_sample_of_further_labels_has_no_bias():
    found = simulate(world(encoders=8, queries=120, candidates=60), 30, 0)
    name = "HR@5 with 100 labels"
    off = found.value[:, found.measures.index(name)] - found.true_same
    outsiders = off[~found.generator]
    assert abs(outsiders.mean()) < 3 * outsiders.std() / np.sqrt(len(outsiders)) + 0.002
    ehr = (found.value[:, found.measures.index("EHR@5")] - found.true_same)[~found.generator]
    assert np.sqrt((outsiders**2).mean()) < 0.5 * np.sqrt((ehr**2).mean())


def test_every_estimate_equals_the_truth_where_all_of_the_top_is_labelled():
    found = simulate(world(), 30, 0)
    deep = (found.top >= 5)[:, None] & found.generator
    for name in ESTIMATES:
        value = found.value[:, found.measures.index(name.replace("@K", "@5"))][deep]
        known = np.isfinite(value)
        assert known.any()
        assert np.allclose(value[known], found.true_same[deep][known]), name
