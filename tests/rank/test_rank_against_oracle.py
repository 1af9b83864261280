"""Judged ranks of random small catalogs equal what counting by hand gives, exact ties included."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import ranking
from oracles.matching import Vote, match_votes
from oracles.ranking import Photo, Rules
from oracles.rounding import score_error
from oracles.worlds import (
    World,
    all_pairs,
    catalog_of,
    embeddings_of,
    labels_of,
    rule_of,
    rules,
    world,
    worlds,
)

from lookalike.core.types import JudgedRanks
from lookalike.rank.judged import judged_ranks


def judged(w: World, r: Rules, dtype: type = np.float32) -> JudgedRanks:
    catalog = catalog_of(w.photos)
    return judged_ranks(
        catalog, embeddings_of(catalog, w.vectors, dtype=dtype), labels_of(w.votes), rule_of(r)
    )


def places(found: JudgedRanks) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    columns = found.label, found.above, found.tied, found.candidates
    keys = zip(found.query, found.candidate, strict=True)
    return dict(zip(keys, zip(*(column.tolist() for column in columns), strict=True), strict=True))


def expected(w: World, r: Rules) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    row = {photo.image: i for i, photo in enumerate(w.photos)}
    answer = {}
    for (query, unit), label in match_votes(w.photos, w.votes, r).label.items():
        at = ranking.place(w.photos, w.vectors, row[query], unit, r)
        answer[query, unit] = (label, at.above, at.tied, at.candidates)
    return answer


def someone_may_be_found(w: World, r: Rules) -> bool:
    return any(ranking.may_be_found(photo, r.split) for photo in w.photos)


@given(worlds, rules)
def test_label_above_tied_and_candidates(w: World, r: Rules):
    assume(someone_may_be_found(w, r))
    assert places(judged(w, r)) == expected(w, r)


@given(worlds, rules)
def test_scores_are_cosine_dot_and_minus_half_the_squared_distance(w: World, r: Rules):
    assume(someone_may_be_found(w, r))
    row = {photo.image: i for i, photo in enumerate(w.photos)}
    found = judged(w, r)
    for query, unit, score in zip(found.query, found.candidate, found.score, strict=True):
        exact = ranking.place(w.photos, w.vectors, row[query], unit, r).score
        assert abs(score - exact) <= score_error(w.vectors, r.similarity)


@given(worlds, rules)
def test_half_precision_vectors_rank_the_same(w: World, r: Rules):
    assume(someone_may_be_found(w, r))
    assert places(judged(w, r, np.float16)) == places(judged(w, r))


@given(worlds, st.sampled_from(["cosine", "dot", "euclidean"]), st.booleans())
def test_with_one_photo_per_item_the_levels_agree(w: World, similarity: str, own_item: bool):
    photos = [photo._replace(item=f"item of {photo.image}") for photo in w.photos]
    w = w._replace(photos=photos, votes=all_pairs(photos))
    assume(someone_may_be_found(w, Rules()))
    by_image = places(judged(w, Rules("image", similarity, own_item)))
    by_item = places(judged(w, Rules("item", similarity, own_item)))
    assert {(q, f"item of {c}"): at for (q, c), at in by_image.items()} == by_item


def test_a_hit_through_another_photo_of_the_labelled_item_counts():
    """The labelled photo is far away, another photo of its item is the best."""
    photos = [Photo("q", "q"), Photo("far", "twin"), Photo("near", "twin"), Photo("other", "other")]
    w = World(photos, [[2, 0], [-1, 0], [2, 0], [1, 1]], [Vote("q", "far", 1)])
    assert places(judged(w, Rules())) == {("q", "twin"): (1, 0, 0, 2)}
    assert places(judged(w, Rules(level="image"))) == {("q", "far"): (1, 2, 0, 3)}


@pytest.mark.parametrize("level", ["item", "image"])
@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_more_queries_than_one_block_and_uneven_items(level: str, similarity: str):
    """Some 270 queries with a label each and items of one to five photos; blocks are at most 256 queries tall."""
    w = world(seed=7, items=100, most_photos=5, dimension=3, spread=3, votes=0)
    photos = [photo._replace(role="both", split="train") for photo in w.photos]
    votes = [
        vote._replace(label=len(vote.candidate) % 2)
        for i, vote in enumerate(all_pairs(photos))
        if i % len(photos) == 3
    ]
    w = w._replace(photos=photos, votes=votes)
    r = Rules(level, similarity)
    found = places(judged(w, r))
    assert len({query for query, _ in found}) > 256
    some = sorted(found)[::9]
    row = {photo.image: i for i, photo in enumerate(photos)}
    for query, unit in some:
        at = ranking.place(photos, w.vectors, row[query], unit, r)
        assert found[query, unit][1:] == (at.above, at.tied, at.candidates)
