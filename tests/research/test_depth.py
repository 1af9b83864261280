"""The study of DCS by its depth: what a cell holds, and that its figures are those of the measures."""

import numpy as np
import pytest
from audit.complete_worlds import world
from scipy.stats import spearmanr

from lookalike.evaluate.measures.table import parse
from lookalike.evaluate.significance.bootstrap import Resampling, replicates
from lookalike.research.bias.depth import (
    MEASURES,
    SHARES,
    depth_cells,
    graded,
    influence,
    simulated_catalog,
    thinned,
)
from lookalike.research.bias.ground_truths import as_if_encoders, studio_ground_truth
from lookalike.research.bias.pools import TRUTH
from lookalike.studio import studio
from lookalike.studio.truth import THRESHOLD


@pytest.mark.parametrize("share", SHARES)
def test_thinning_keeps_the_share_and_all_of_one_label(share):
    random = np.random.default_rng(0)
    label = (random.random(3000) < 0.4).astype(np.int8)
    rows = random.random(3000) < 0.7
    left = thinned(rows, label, share, random)
    assert not (left & ~rows).any()
    assert label[left].mean() == pytest.approx(share, abs=1e-3)
    dropped = rows & ~left
    assert len(set(label[dropped].tolist())) == 1


def test_thinning_is_random_among_the_label_that_is_too_frequent():
    label = np.repeat(np.array([1, 0], np.int8), 1000)
    left = thinned(np.ones(2000, bool), label, 0.8, np.random.default_rng(1))
    kept = np.flatnonzero(left[1000:])
    assert len(kept) == 250
    assert 450 < kept.mean() < 550


def test_cells_of_complete_labels_follow_the_truth_as_the_measures_do():
    """Every encoder's whole list is in the pool, so that a cell's correlation can be counted here."""
    complete = world(encoders=5, candidates=20, depth=20)
    (cell, *_) = depth_cells(complete, 3, 0, tops=(20,))
    assert (cell.source, cell.top, cell.share, cell.defined) == ("thinned", 20, 0.1, 3)
    truth = complete.hits(5).mean(axis=1)
    random = np.random.default_rng(0)
    label = complete.answers[TRUTH]
    expected = []
    for _ in range(40):
        rows = thinned(np.ones(len(label), bool), label, 0.1, random)
        value = [parse("DCS(half=3)")(one.only(rows)).value for one in complete.ranks]
        expected.append(spearmanr(value, truth).statistic)
    assert cell.labels == 640 + 71  # all negatives, and as many positives as make a tenth
    assert abs(cell.spearman["DCS(half=3)"] - np.mean(expected)) < 0.2
    for one in MEASURES:
        claims, right = cell.claims[one], cell.right[one]
        assert all(0 <= good <= made for good, made in zip(right, claims, strict=True))
        assert sum(claims) <= 3 * 10  # every two of five encoders, three pools


def test_a_pool_and_its_figures_depend_on_the_seed_alone():
    complete = world(depth=20, candidates=40)
    one, again, other = (next(depth_cells(complete, 2, seed, tops=(5,))) for seed in (3, 3, 4))
    assert one == again
    assert one != other


def test_the_error_by_influence_is_that_of_the_bootstrap():
    complete = world(queries=200)
    rows = np.random.default_rng(0).random(len(complete.query)) < 0.3
    first, second = (parse("DCS(half=3)")(complete.ranks[e].only(rows)) for e in (0, 1))
    spread = np.sqrt(((influence(first) - influence(second)) ** 2).sum())
    boots = replicates([first, second], Resampling(first.query, 2000, 0))
    assert spread == pytest.approx(np.std(boots[:, 0] - boots[:, 1]), rel=0.08)


def test_pairs_are_graded_by_the_similarity_behind_their_labels():
    truth, similar = simulated_catalog(200, 1)
    assert np.array_equal(similar >= THRESHOLD, truth.answers[TRUTH] == 1)
    drawn = studio(400, seed=2)
    two_photos = studio_ground_truth(drawn, as_if_encoders(drawn)[:3])
    label = graded(drawn, drawn.catalog(), two_photos.ranks[0]) >= THRESHOLD
    assert np.array_equal(label, two_photos.answers[TRUTH] == 1)


def test_a_moved_threshold_gives_the_share_and_another_truth():
    truth, similar = simulated_catalog(200, 1)
    cells = {(one.source, one.share): one for one in depth_cells(truth, 1, 0, similar, tops=(5,))}
    assert len(cells) == 2 * len(SHARES)
    whole = cells["threshold", 0.1].labels
    assert all(cells["threshold", share].labels == whole for share in SHARES)
    assert all(cells["thinned", share].labels <= whole for share in SHARES)
