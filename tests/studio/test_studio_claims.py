"""What the studio says of its truth and its experts holds at every size."""

import numpy as np
import pytest

from lookalike.studio import THRESHOLD, expert_claims, similarity, studio, truth_claims
from lookalike.studio.claims import FEWEST, MOST, demanding_pool, kappa

SIZES = [200, 2_000, 100_000, 1_000_000]


@pytest.fixture(scope="module", params=SIZES)
def studio_catalog(request):
    return studio(request.param)


def test_an_item_has_6_to_15_positives_and_all_are_of_its_family(studio_catalog):
    claims = truth_claims(studio_catalog)
    assert claims.within > 0.97
    assert 7 < claims.positives_mean < 13
    assert claims.positives[1] >= FEWEST  # all but one in twenty
    assert claims.positives[-1] <= MOST
    assert claims.positive_share == pytest.approx(claims.positives_mean / (studio_catalog.items - 1))
    assert claims.cross_family == claims.cross_kind == 0.0
    assert claims.closest_families < THRESHOLD - 0.1
    assert claims.queries == min(studio_catalog.items, 2_000)


def test_experts_agree_as_people_do(studio_catalog):
    claims = expert_claims(studio_catalog)
    assert 0.86 <= claims.agreement <= 0.94
    assert 0.70 <= claims.kappa <= 0.88
    assert 0.93 <= claims.self_consistency <= 0.98
    assert claims.self_consistency > claims.agreement
    assert 0.03 < claims.wrong < 0.12
    assert claims.resolved_wrong < 0.4 * claims.wrong  # two who agree are more often right
    assert 0.38 < claims.positive_share < 0.7


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("images", [200, 400, 2_000])
def test_the_claims_hold_for_other_seeds(images, seed):
    generated = studio(images, seed=seed)
    assert truth_claims(generated).within > 0.97
    assert 0.86 <= expert_claims(generated).agreement <= 0.94


def test_claims_are_those_of_all_pairs_where_all_can_be_counted():
    generated = studio(300, seed=3)
    a, b = np.triu_indices(generated.items, 1)
    alike = similarity(generated, a, b)
    counts = np.bincount(
        np.concatenate([a[alike >= THRESHOLD], b[alike >= THRESHOLD]]), minlength=generated.items
    )
    claims = truth_claims(generated)
    assert claims.positives_mean == pytest.approx(counts.mean())
    assert claims.positive_share == pytest.approx(np.mean(alike >= THRESHOLD))
    assert claims.within == pytest.approx(np.mean((counts >= 6) & (counts <= 15)))
    assert claims.positives[0] == counts.min()
    apart = generated.of.family[a] != generated.of.family[b]
    of_a_kind = generated.of.kind[a] == generated.of.kind[b]
    assert claims.closest_families == pytest.approx(alike[apart & of_a_kind].max())


def test_claims_would_show_positives_in_other_families(monkeypatch):
    """Were the threshold lower, as it must not be, the claims would say so."""
    from lookalike.studio import claims

    monkeypatch.setattr(claims, "THRESHOLD", 0.15)
    assert truth_claims(studio(2_000)).cross_family > 0.2
    monkeypatch.setattr(claims, "THRESHOLD", 0.001)
    assert truth_claims(studio(2_000)).cross_kind > 0.0


def test_a_demanding_pool_holds_all_positives_and_as_many_others():
    generated = studio(2_000, seed=4)
    query, candidate, label = demanding_pool(generated)
    assert not np.any(query == candidate)
    assert len(set(zip(query.tolist(), candidate.tolist(), strict=True))) == len(query)
    alike = similarity(generated, query, candidate)
    assert np.array_equal(label == 1, alike >= THRESHOLD)
    assert np.bincount(query[label == 0]).max() == 16


def test_kappa_by_hand():
    """Nine pairs: both similar 4, both not 2, one each way 2 and 1: p = 6/9, c = (6 x 5 + 3 x 4) / 81."""
    one = np.array([1, 1, 1, 1, 0, 0, 1, 1, 0])
    other = np.array([1, 1, 1, 1, 0, 0, 0, 0, 1])
    chance = (6 * 5 + 3 * 4) / 81
    assert kappa(one, other) == pytest.approx((6 / 9 - chance) / (1 - chance))
    assert np.isnan(kappa(np.ones(3), np.ones(3)))


def test_claims_repeat():
    assert truth_claims(studio(400)) == truth_claims(studio(400))
    assert expert_claims(studio(400)) == expert_claims(studio(400))
