"""Which labels are ranked: conflicts of every form are left out, reported and counted; never guessed."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from oracles.matching import Vote, match_votes
from oracles.ranking import Photo, Rules
from oracles.worlds import World, catalog_of, embeddings_of, labels_of, rule_of, rules, worlds

from lookalike.core.errors import CatalogError, LabelsError, LookalikeError
from lookalike.core.types import Labels, Rule
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import JudgedPairs, judged_pairs

REASONS = {  # a word of the package's reason -> the oracle's reason
    "lacks": "unknown image",
    "are one image": "one image",
    "show one item": "one item",
    "similar and dissimilar": "both ways",
    "may not be asked": "may not be asked",
    "not in the gallery": "not in the gallery",
    "photos of one item labelled": "within an item",
}
SHOP = [
    Photo("a1", "a"),
    Photo("b1", "b"),
    Photo("b2", "b"),
    Photo("c1", "c"),
    Photo("query", "d", role="query"),
    Photo("gallery", "e", role="gallery"),
]
FLAT = [[1, 0], [0, 1], [1, 1], [2, 1], [1, 2], [1, -1]]


def pairs_of(photos: list[Photo], votes: list[Vote], r: Rules) -> JudgedPairs:
    return judged_pairs(catalog_of(photos), labels_of(votes), rule_of(r))


def label_by_pair(photos: list[Photo], pairs: JudgedPairs) -> dict[tuple[str, str], int]:
    ends = zip((photos[row].image for row in pairs.query_row), pairs.candidate, strict=True)
    return dict(zip(ends, pairs.label.tolist(), strict=True))


def reasons(pairs: JudgedPairs) -> Counter[str]:
    counted: Counter[str] = Counter()
    for unusable in pairs.unusable:
        (reason,) = [reason for word, reason in REASONS.items() if word in unusable.reason]
        counted[reason] += unusable.count
    return counted


def of_shop(
    *votes: tuple[str, str, int], level: str = "item"
) -> tuple[dict[tuple[str, str], int], Counter[str]]:
    pairs = pairs_of(SHOP, [Vote(*vote) for vote in votes], Rules(level=level))
    return label_by_pair(SHOP, pairs), reasons(pairs)


@given(worlds, rules)
def test_random_votes_give_the_labels_of_the_oracle(w: World, r: Rules):
    pairs, paper = pairs_of(w.photos, w.votes, r), match_votes(w.photos, w.votes, r)
    assert label_by_pair(w.photos, pairs) == paper.label
    assert reasons(pairs) == paper.left_out


@given(worlds, rules)
def test_every_vote_counts_or_is_reported_once(w: World, r: Rules):
    pairs = pairs_of(w.photos, w.votes, r)
    reported = sum(unusable.count for unusable in pairs.unusable)
    unit = {photo.image: photo.item if r.level == "item" else photo.image for photo in w.photos}
    kept = label_by_pair(w.photos, pairs)
    standing = sum(kept.get((v.query, unit.get(v.candidate))) == v.label for v in w.votes)
    assert len(kept) <= standing
    assert reported <= len(w.votes) <= reported + standing


@given(worlds, rules)
def test_neither_order_nor_repetition_of_votes_matters(w: World, r: Rules):
    once, again = pairs_of(w.photos, w.votes, r), pairs_of(w.photos, [*w.votes[::-1], *w.votes], r)
    assert label_by_pair(w.photos, once) == label_by_pair(w.photos, again)
    assert once.basis == again.basis


def test_one_pair_with_both_labels_is_left_out():
    assert of_shop(("a1", "b1", 1), ("a1", "b1", 0)) == ({}, {"both ways": 2})


def test_a_pair_and_its_mirror_with_different_labels_are_left_out():
    assert of_shop(("a1", "b1", 1), ("b1", "a1", 0)) == ({}, {"both ways": 2})


def test_a_pair_and_its_mirror_with_one_label_both_count():
    assert of_shop(("a1", "b1", 1), ("b1", "a1", 1)) == ({("a1", "b"): 1, ("b1", "a"): 1}, {})


def test_the_mirrored_pair_contradicts_even_if_it_is_no_query():
    assert of_shop(("query", "a1", 1), ("a1", "query", 0)) == ({}, {"both ways": 2})


def test_photos_of_one_item_are_no_pair():
    assert of_shop(("b1", "b2", 1)) == ({}, {"one item": 1})


def test_an_image_with_itself_is_no_pair():
    assert of_shop(("a1", "a1", 1)) == ({}, {"one image": 1})


def test_images_the_catalog_lacks_are_reported():
    assert of_shop(("a1", "nowhere", 1), ("nowhere", "a1", 0)) == ({}, {"unknown image": 2})


def test_photos_of_one_item_labelled_both_ways_for_one_query():
    votes = ("a1", "b1", 1), ("a1", "b2", 0)
    assert of_shop(*votes) == ({}, {"within an item": 2})
    assert of_shop(*votes, level="image") == ({("a1", "b1"): 1, ("a1", "b2"): 0}, {})


def test_photos_of_one_item_with_one_label_are_one_label():
    assert of_shop(("a1", "b1", 0), ("a1", "b2", 0)) == ({("a1", "b"): 0}, {})


def test_roles_decide_what_is_a_query_or_a_result():
    votes = ("gallery", "a1", 1), ("a1", "query", 1), ("query", "gallery", 1)
    assert of_shop(*votes) == ({("query", "e"): 1}, {"may not be asked": 1, "not in the gallery": 1})


def test_a_contradiction_within_an_item_counts_even_where_the_photo_may_not_be_found():
    """As between (a, b) and (b, a): a contradicted label is no evidence, whatever the role of the other photo."""
    photos = [Photo("a1", "a"), Photo("b1", "b"), Photo("b2", "b", role="query")]
    pairs = pairs_of(photos, [Vote("a1", "b1", 1), Vote("a1", "b2", 0)], Rules())
    assert label_by_pair(photos, pairs) == {}


def test_a_pair_that_contradicts_itself_contradicts_the_other_photos_of_the_item():
    """The votes on the item, for this query, are 1, 0 and 1: they conflict, whichever photo they came by."""
    votes = ("a1", "b1", 1), ("a1", "b1", 0), ("a1", "b2", 1)
    assert of_shop(*votes) == ({}, {"both ways": 2, "within an item": 1})
    assert of_shop(*votes, level="image") == ({("a1", "b2"): 1}, {"both ways": 2})


def test_reported_examples_are_the_first_few():
    votes = [Vote("a1", f"nowhere {i}", 1) for i in range(9)]
    (unusable,) = pairs_of(SHOP, votes, Rules()).unusable
    assert unusable.examples == tuple(("a1", f"nowhere {i}") for i in range(5))


def test_no_labels_give_no_rows():
    catalog = catalog_of(SHOP)
    assert len(judged_ranks(catalog, embeddings_of(catalog, FLAT), labels_of([]))) == 0


def test_a_changed_label_is_another_basis():
    yes, no = (pairs_of(SHOP, [Vote("a1", "b1", label)], Rules()).basis for label in (1, 0))
    assert yes.catalog == no.catalog
    assert yes.labels != no.labels


def test_a_gallery_without_images_is_an_error_with_a_way_out():
    catalog = catalog_of([photo._replace(role="query") for photo in SHOP])
    with pytest.raises(CatalogError) as caught:
        judged_ranks(catalog, embeddings_of(catalog, FLAT), labels_of([Vote("a1", "b1", 1)]))
    assert "role" in caught.value.fix


@pytest.mark.parametrize("label", [2, -1, 0.5, float("nan"), None, "yes"])
def test_a_label_is_one_or_zero_and_nothing_else(label: object):
    """An unsure or missing answer must not become a dissimilar one: unjudged is never a negative."""
    with pytest.raises(LabelsError):
        Labels.of(["a1"], ["b1"], [label])


def test_labels_have_columns_of_one_length():
    with pytest.raises(LabelsError):
        Labels.of(["a1"], ["b1", "c1"], [1, 0, 1])


def test_labels_matched_to_another_catalog_are_refused():
    pairs = pairs_of(SHOP, [Vote("a1", "b1", 1)], Rules())
    other = catalog_of(SHOP[::-1])
    with pytest.raises(LookalikeError):
        judged_ranks(other, embeddings_of(other, FLAT), pairs)


def test_labels_matched_for_another_rule_are_refused():
    catalog, pairs = catalog_of(SHOP), pairs_of(SHOP, [Vote("a1", "b1", 1)], Rules())
    with pytest.raises(LookalikeError):
        judged_ranks(catalog, embeddings_of(catalog, FLAT), pairs, Rule(level="image"))


def test_judged_ranks_are_ordered_by_query():
    votes = [Vote(q, c, 1) for q in ("c1", "a1", "b1") for c in ("b2", "a1", "c1", "gallery") if q != c]
    catalog = catalog_of(SHOP)
    found = judged_ranks(catalog, embeddings_of(catalog, FLAT), labels_of(votes))
    _, code = found.query_codes
    assert np.all(np.diff(code) >= 0)
