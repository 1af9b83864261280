"""Places: with every answer given, the units add up to HR@K and to differences, ties and both directions included."""

import numpy as np
import pytest

from lookalike.api.places import places
from lookalike.api.values import score
from lookalike.catalog.read import catalog_from
from lookalike.core.errors import ArgumentError
from lookalike.core.types import Embeddings, Labels, Rule

IMAGES, K = 40, 3


@pytest.fixture(scope="module")
def shop():
    """40 photos of 20 items; `plain` and `other` are random, `coarse` has four values, `blind` ties everything."""
    random = np.random.default_rng(2)
    columns = {
        "image": [f"i{n:02d}" for n in range(IMAGES)],
        "item": [f"x{n // 2:02d}" for n in range(IMAGES)],
        "split": ["test" if n < 24 else "train" for n in range(IMAGES)],
    }
    catalog = catalog_from(columns).catalog
    vectors = {
        "plain": random.standard_normal((IMAGES, 6)),
        "other": random.standard_normal((IMAGES, 6)),
        "coarse": np.eye(4)[random.integers(0, 4, IMAGES)],
        "blind": np.ones((IMAGES, 2)),
    }
    encoders = [Embeddings(name, catalog.image, v.astype(np.float32)) for name, v in vectors.items()]
    kind = random.integers(0, 3, IMAGES // 2)
    item = np.arange(IMAGES) // 2
    q, c = (each.ravel() for each in np.meshgrid(np.arange(IMAGES), np.arange(IMAGES), indexing="ij"))
    apart = item[q] != item[c]
    q, c = q[apart], c[apart]
    labels = Labels.of(catalog.image[q], catalog.image[c], (kind[item[q]] == kind[item[c]]).astype(int))
    return catalog, encoders, labels, kind[item]


def only(labels: Labels, which: np.ndarray) -> Labels:
    return Labels(labels.query[which], labels.candidate[which], labels.label[which])


def answers(found, catalog, kind) -> np.ndarray:
    """What an annotator would say of every question."""
    return (kind[found.photos[:, 0]] == kind[found.photos[:, 1]]).astype(float)


@pytest.mark.parametrize("split", [None, "test"])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_known_part_and_answered_units_add_up_to_the_true_hit_rate(shop, share, split):
    catalog, encoders, labels, kind = shop
    rule = Rule(split=split)
    truth = {
        one.encoder: one[f"HR@{K}"].value for one in score(catalog, encoders, labels, f"HR@{K}", rule=rule)
    }
    some = only(labels, np.random.default_rng(0).uniform(size=len(labels)) < share)
    found = places(catalog, encoders, some, np.flatnonzero(catalog.is_query(split)), K, rule)
    given = answers(found, catalog, kind)
    for name, value in truth.items():
        units, which = found.units(name)
        assert units.known + units.weight @ given[which] == pytest.approx(value, abs=1e-9)
        assert (units.weight > 0).all()
    for first, second in (("plain", "coarse"), ("blind", "other")):
        units, which = found.units(first, second)
        expected = truth[first] - truth[second]
        assert units.known + units.weight @ given[which] == pytest.approx(expected, abs=1e-9)
        assert set(np.sign(units.weight[units.stratum == 1])) <= {1.0}
    assert (len(found.units("plain")[0]) == 0) == (share == 1.0)


def test_each_encoder_s_weights_of_a_query_add_up_to_k_also_where_everything_ties(shop):
    catalog, encoders, labels, _ = shop
    found = places(catalog, encoders, only(labels, np.zeros(len(labels), bool)), np.arange(10), K)
    for weights in found.weight:
        total = np.bincount(found.query, weights=weights)
        assert total[np.arange(10)] == pytest.approx(np.full(10, K), abs=1e-9)


def test_both_directions_are_one_question_and_an_answer_to_one_is_known_for_the_other(shop):
    catalog, encoders, labels, _ = shop
    nothing = np.zeros(len(labels), bool)
    found = places(catalog, encoders[:1], only(labels, nothing), np.arange(IMAGES), K)
    ends = [tuple(sorted(pair)) for pair in found.photos.tolist()]
    assert len(set(ends)) == len(ends) < len(found)
    twice = int(np.flatnonzero(np.bincount(found.question) == 2)[0])
    a, b = catalog.image[found.photos[twice]]
    one = only(labels, (labels.query == a) & (labels.candidate == b))
    again = places(catalog, encoders[:1], one, np.arange(IMAGES), K)
    assert (again.label >= 0).sum() == 2
    assert len(again.units("plain")[0]) == len(found.units("plain")[0]) - 1


def test_a_label_of_the_other_direction_makes_a_place_known_unless_labels_contradict_each_other(shop):
    catalog, encoders, labels, _ = shop
    found = places(catalog, encoders[:1], only(labels, np.zeros(len(labels), bool)), np.arange(IMAGES), K)
    once = int(np.flatnonzero(np.bincount(found.question) == 1)[0])
    (row,) = np.flatnonzero(found.question == once)
    a, b = catalog.image[found.photos[once]]
    for said, expected in (([1], 1), ([0], 0), ([0, 1], -1)):
        turned = Labels.of([b] * len(said), [a] * len(said), said)
        again = places(catalog, encoders[:1], turned, np.arange(IMAGES), K)
        assert again.label[row] == expected
        others = again.question[again.label >= 0]  # of other photos of these items
        assert set(catalog.item[again.photos[others]].ravel()) <= set(catalog.item[found.photos[once]])
    (twin,) = (
        image for image in catalog.image[catalog.item == catalog.item[found.photos[once, 1]]] if image != b
    )
    both = Labels.of([a, b], [twin, a], [0, 1])
    assert places(catalog, encoders[:1], both, np.arange(IMAGES), K).label[row] == 1
    assert places(catalog, encoders[:1], only(both, np.arange(2) == 0), np.arange(IMAGES), K).label[row] == 0


def test_a_guess_is_averaged_over_the_rows_that_a_question_answers(shop):
    catalog, encoders, labels, _ = shop
    nothing = only(labels, np.zeros(len(labels), bool))
    found = places(catalog, encoders[:1], nothing, np.arange(IMAGES), K)
    guess = np.random.default_rng(1).uniform(size=len(found))
    units, which = found.units("plain", guess=guess)
    w = found.weight[0] / (K * IMAGES)
    assert units.weight @ units.covariate == pytest.approx(w @ guess)
    assert len(which) == len(found.photos)


def test_an_encoder_without_lists_is_named(shop):
    catalog, encoders, labels, _ = shop
    found = places(catalog, encoders[:2], labels, np.arange(5), K)
    with pytest.raises(ArgumentError, match="blind"):
        found.units("plain", "blind")


def test_known_parts_and_answered_rows_add_up_query_by_query(shop):
    catalog, encoders, labels, kind = shop
    some = only(labels, np.random.default_rng(0).uniform(size=len(labels)) < 0.3)
    found = places(catalog, encoders, some, np.arange(IMAGES), K)
    truth = score(catalog, encoders, labels, f"HR@{K}")
    given = answers(found, catalog, kind)
    by_query, which = found.by_query("plain")
    parts = by_query.known + by_query.sums(by_query.weight * given[which][by_query.question])
    assert np.sort(parts * IMAGES) == pytest.approx(np.sort(truth[0][f"HR@{K}"].numerator))
    for first, second in (("plain", None), ("plain", "coarse")):
        units, drawn = found.units(first, second)
        rows, _ = found.by_query(first, second, drawn)
        assert np.bincount(rows.question, rows.weight, len(units)) == pytest.approx(units.weight)
        assert rows.known.sum() == pytest.approx(units.known)
    whole, queries = by_query.units()
    label = np.where(np.isin(np.arange(len(given)), which), given, np.nan)[which]
    least, most = by_query.answers(queries, label)
    assert least.tolist() == most.tolist()
    assert whole.known + whole.weight @ least == pytest.approx(truth[0][f"HR@{K}"].value)


def test_one_draw_for_several_encoders_has_the_units_of_each(shop):
    catalog, encoders, labels, kind = shop
    found = places(catalog, encoders, only(labels, np.zeros(len(labels), bool)), np.arange(10), K)
    of_all = found.shared_units(["plain", "other", "coarse"])
    given = answers(found, catalog, kind)[of_all[1]]
    for pair in (("plain", "other"), ("other", "coarse"), ("coarse", "plain")):
        alone, which = found.units(*pair)
        units, _ = found.units(*pair, drawn_from=of_all)
        assert (units.weight != 0).sum() == len(alone)
        assert units.weight @ given == pytest.approx(alone.weight @ answers(found, catalog, kind)[which])
        assert units.stratum is of_all[0].stratum
    assert of_all[0].stratum.max() <= 3


def test_units_of_dcg_add_up_to_the_discounted_gain_over_all_tie_orders(shop):
    catalog, encoders, labels, kind = shop
    nothing = only(labels, np.zeros(len(labels), bool))
    found = places(catalog, encoders, nothing, np.arange(10), K, measure="DCG")
    best = sum(1 / np.log2(place + 2) for place in range(K))
    for weights in found.weight:
        assert np.bincount(found.query, weights=weights)[:10] == pytest.approx(np.full(10, best))
    units, which = found.units("plain")
    vectors = encoders[0].vectors.astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    earned = 0.0
    for query in range(10):
        scores = vectors @ vectors[query]
        items = [i for i in range(IMAGES // 2) if i != query // 2]
        items.sort(key=lambda i: -max(scores[2 * i], scores[2 * i + 1]))
        for place, item in enumerate(items[:K]):
            earned += (kind[2 * item] == kind[query]) / np.log2(place + 2)
    assert units.weight @ answers(found, catalog, kind)[which] == pytest.approx(earned / 10)
