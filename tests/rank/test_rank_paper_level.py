"""EDS's own evaluation: lists of items with credit only for the labelled photo, pairs on images."""

from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import ranking, scoring
from oracles.matching import Vote
from oracles.ranking import Photo, Rules
from oracles.scoring import Row
from oracles.worlds import World, catalog_of, embeddings_of, labels_of, rows_from, worlds

from lookalike.core.types import JudgedRanks, Rule
from lookalike.evaluate.measures.table import evaluate, parse
from lookalike.rank.judged import judged_ranks

FAR = 10**6
PLACES = "HR@1", "HR@3", "MRR@3", "RR", "coverage@3"
ORACLES = {
    "HR@1": lambda rows: scoring.hr(rows, 1),
    "HR@3": lambda rows: scoring.hr(rows, 3),
    "MRR@3": lambda rows: scoring.mrr(rows, 3),
    "RR": lambda rows: scoring.rr(rows, FAR),
    "coverage@3": lambda rows: scoring.coverage(rows, 3),
}


def ranked(w: World, level: str, similarity: str) -> JudgedRanks:
    catalog = catalog_of(w.photos)
    rule = Rule(level=level, similarity=similarity)
    return judged_ranks(catalog, embeddings_of(catalog, w.vectors), labels_of(w.votes), rule)


def in_list(w: World, judged: JudgedRanks, similarity: str) -> list[Row]:
    """Rows of queries with a positive, at the places of their items; those without credit far behind all."""
    row_of = {photo.image: row for row, photo in enumerate(w.photos)}
    by_item, taken, rows = Rules("item", similarity), set(), []
    positive = {query for query, label in zip(judged.query, judged.label, strict=True) if label == 1}
    for row in sorted(rows_from(judged), key=lambda one: row_of[one.candidate]):
        query, photo = row_of[row.query], row_of[row.candidate]
        item = w.photos[photo].item
        units = ranking.candidate_units(w.photos, query, by_item)

        def near(other: int, query: int = query):
            return ranking.nearness(w.vectors[query], w.vectors[other], similarity)

        is_best = near(photo) == max(map(near, units[item]))
        if is_best and (row.query, item) not in taken:
            taken.add((row.query, item))
            place = ranking.place(w.photos, w.vectors, query, item, by_item)
            placed = row._replace(above=place.above, tied=place.tied, candidates=place.candidates)
        else:
            placed = row._replace(above=FAR, tied=0, candidates=len(units))
        if row.query in positive:
            rows.append(placed)
    return rows


@given(worlds, st.sampled_from(["cosine", "dot", "euclidean"]))
def test_lists_are_of_items_with_credit_for_the_labelled_photo_alone(w: World, similarity: str):
    assume(any(ranking.may_be_found(photo, None) for photo in w.photos))
    judged = ranked(w, "paper", similarity)
    rows = in_list(w, judged, similarity)
    for measure in PLACES:
        found = parse(measure)(judged)
        exact = ORACLES[measure](rows)
        assert isnan(found.value) if exact is None else found.value == pytest.approx(exact), measure
        assert bool(found.reason) == isnan(found.value)


@given(worlds)
def test_pairs_are_those_of_the_image_level(w: World):
    assume(any(ranking.may_be_found(photo, None) for photo in w.photos))
    paper, image = ranked(w, "paper", "cosine"), ranked(w, "image", "cosine")
    for name in ("query", "candidate", "label", "above", "tied", "score", "candidates"):
        assert np.array_equal(getattr(paper, name), getattr(image, name))
    for measure in ("AUC_mic", "AUC_mac", "PR-AUC_mac", "BPREF", "DCS"):
        assert parse(measure)(paper).value == pytest.approx(parse(measure)(image).value, nan_ok=True)


def test_a_hit_through_another_photo_of_the_item_earns_nothing():
    photos = [Photo("q", "q"), Photo("near", "x"), Photo("far", "x"), Photo("other", "y")]
    w = World(photos, [[4, 0], [4, 1], [1, 4], [4, 3]], [Vote("q", "far", 1), Vote("q", "other", 0)])
    assert parse("HR@1")(ranked(w, "paper", "cosine")).value == 0.0
    assert parse("HR@1")(ranked(w, "item", "cosine")).value == 1.0
    assert parse("EMRR@1")(ranked(w, "paper", "cosine")).value == 0.0
    seen = w._replace(votes=[Vote("q", "near", 1), Vote("q", "other", 0)])
    assert parse("HR@1")(ranked(seen, "paper", "cosine")).value == 1.0


def test_labels_of_two_photos_of_an_item_may_differ():
    photos = [Photo("q", "q"), Photo("near", "x"), Photo("far", "x")]
    w = World(photos, [[4, 0], [4, 1], [1, 4]], [Vote("q", "near", 1), Vote("q", "far", 0)])
    assert parse("AUC_mac")(ranked(w, "paper", "cosine")).value == 1.0
    assert parse("EHR@5")(ranked(w, "paper", "cosine")).value == 1.0
    assert len(ranked(w, "item", "cosine")) == 0


def test_parts_of_the_rows_keep_their_places_in_the_list():
    photos = [Photo("q", "q"), Photo("a", "x"), Photo("b", "y"), Photo("c", "z")]
    votes = [Vote("q", "a", 0), Vote("q", "b", 1), Vote("q", "c", 1)]
    judged = ranked(World(photos, [[4, 0], [4, 1], [4, 2], [4, 3]], votes), "paper", "cosine")
    part = judged.only(judged.candidate != "b")
    assert parse("RR")(part).value == pytest.approx(1 / 3)
    assert evaluate(judged).basis.rule.level == "paper"
