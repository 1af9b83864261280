"""Judged ranks of a run equal what counting its lines by hand gives; an encoder's own run gives its own ranks."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import retrieved
from oracles.matching import Vote, match_votes
from oracles.ranking import Photo, Rules, candidate_units
from oracles.rounding import score_error
from oracles.worlds import World, catalog_of, embeddings_of, labels_of, rule_of, rules, worlds

from lookalike.core.checks import strings
from lookalike.core.errors import NotComparableError, RunError
from lookalike.core.types import Rule
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import judged_pairs
from lookalike.rank.runs import NOT_RETRIEVED, Run, RunRanks, rank_run, run_of

Retrieved = dict[str, dict[str, float]]


def run_with(lists: Retrieved, name: str = "other") -> Run:
    rows = [(q, c, s) for q, listed in lists.items() for c, s in listed.items()]
    return Run(
        name,
        strings(row[0] for row in rows),
        strings(row[1] for row in rows),
        np.array([row[2] for row in rows], np.float64),
    )


def some_lists(w: World, seed: int) -> Retrieved:
    """Some photos for each query, own and unfindable ones among them, with many equal scores; some queries absent."""
    random = Random(seed)
    images = [photo.image for photo in w.photos]
    return {
        query: {
            image: random.randint(-2, 2) / 4
            for image in random.sample(images, random.randint(1, len(images)))
        }
        for query in images
        if random.random() < 0.8
    }


def columns(found: RunRanks) -> dict[tuple[str, str], tuple[int, int, int, int, float]]:
    judged = found.judged
    parts = (judged.label, judged.above, judged.tied, judged.candidates, judged.score)
    values = zip(*(part.tolist() for part in parts), strict=True)
    return dict(zip(zip(judged.query, judged.candidate, strict=True), values, strict=True))


@given(worlds, rules, st.integers(0, 2**32))
def test_ranks_of_a_run_are_those_counted_by_hand(w: World, r: Rules, seed: int):
    lists = some_lists(w, seed)
    labels = match_votes(w.photos, w.votes, r).label
    assume({query for query, _ in labels} & set(lists))
    catalog = catalog_of(w.photos)
    found = rank_run(catalog, run_with(lists), labels_of(w.votes), rule_of(r))
    row = {photo.image: i for i, photo in enumerate(w.photos)}
    expected = {}
    for (query, unit), label in labels.items():
        above, tied, candidates, score = retrieved.place(w.photos, row[query], unit, lists.get(query, {}), r)
        expected[query, unit] = (label, above, tied, candidates, NOT_RETRIEVED if score is None else score)
    assert columns(found) == expected
    assert found.queries_absent == len({query for query, _ in labels} - set(lists))
    assert found.pairs_absent == sum(value[4] == NOT_RETRIEVED for value in expected.values())
    assert (found.judged.tolerance, found.judged.encoder) == (0.0, "other")


@given(worlds, rules, st.integers(0, 2**32))
def test_item_ids_give_the_same_as_photos_of_the_items(w: World, r: Rules, seed: int):
    r = r._replace(level="item")
    labels = match_votes(w.photos, w.votes, r).label
    row = {photo.image: i for i, photo in enumerate(w.photos)}
    random = Random(seed)
    by_item: Retrieved = {}
    by_photo: Retrieved = {}
    for query, at in row.items():
        for item, rows in candidate_units(w.photos, at, r).items():
            if random.random() < 0.7:
                score = random.randint(0, 3) / 4
                by_item.setdefault(query, {})[item] = score
                by_photo.setdefault(query, {})[w.photos[random.choice(rows)].image] = score
    assume({query for query, _ in labels} & set(by_item))
    catalog, given_labels, rule = catalog_of(w.photos), labels_of(w.votes), rule_of(r)
    assert columns(rank_run(catalog, run_with(by_item), given_labels, rule)) == columns(
        rank_run(catalog, run_with(by_photo), given_labels, rule)
    )


def tie_free(seed: int, level: str) -> tuple[object, object, object, Rule]:
    """A catalog with random vectors, and votes on a third of its pairs."""
    random = np.random.default_rng(seed)
    photos = [Photo(f"i{at:02d}", f"p{at // 2}") for at in range(24)]
    votes = [
        Vote(a.image, b.image, int(random.random() < 0.4))
        for a in photos[::3]
        for b in photos
        if a.item != b.item and random.random() < 0.3
    ]
    catalog = catalog_of(photos)
    return catalog, embeddings_of(catalog, random.standard_normal((24, 6))), labels_of(votes), Rule(level)


@pytest.mark.parametrize("level", ["item", "image"])
@pytest.mark.parametrize("seed", range(4))
def test_the_whole_run_of_an_encoder_gives_its_own_ranks(seed: int, level: str):
    catalog, encoder, labels, rule = tie_free(seed, level)
    ours = judged_ranks(catalog, encoder, labels, rule)
    pairs = judged_pairs(catalog, labels, rule)
    whole = run_of(catalog, encoder, np.unique(pairs.query_row), 1000, rule)
    theirs = rank_run(catalog, whole, pairs).judged
    for column in ("query", "candidate", "label", "above", "tied", "candidates"):
        assert getattr(theirs, column).tolist() == getattr(ours, column).tolist(), column
    np.testing.assert_allclose(
        theirs.score, ours.score, rtol=0, atol=2 * score_error(encoder.vectors, "cosine")
    )
    theirs.basis.require_same(ours.basis)


@pytest.mark.parametrize("depth", [1, 3, 10])
def test_a_short_run_keeps_the_places_of_what_it_holds(depth: int):
    catalog, encoder, labels, rule = tie_free(1, "item")
    pairs = judged_pairs(catalog, labels, rule)
    ours = judged_ranks(catalog, encoder, pairs)
    found = rank_run(catalog, run_of(catalog, encoder, np.unique(pairs.query_row), depth, rule), pairs)
    held = found.judged.score > NOT_RETRIEVED
    assert held.tolist() == (ours.above < depth).tolist()
    assert found.judged.above[held].tolist() == ours.above[held].tolist()
    assert set(found.judged.above[~held].tolist()) == {depth}
    assert set(found.judged.tied[~held].tolist()) == {11 - depth - 1}
    assert found.pairs_absent == np.count_nonzero(~held)


def test_the_run_of_an_encoder_holds_duplicates_of_one_photo():
    catalog, encoder, _, rule = tie_free(2, "item")
    doubled = replace(catalog, duplicate=np.where(np.arange(24) < 12, 0, -1))
    run = run_of(doubled, encoder, np.array([20]), 100, rule)
    assert len(run) == 11
    assert run.candidate.tolist() == run_of(catalog, encoder, np.array([20]), 100, rule).candidate.tolist()


def test_scores_of_a_run_are_equal_to_the_last_bit_only():
    catalog, _, _, rule = tie_free(0, "image")
    one = 0.5
    lists = {"i00": {"i04": one, "i05": np.nextafter(one, 1), "i06": one}}
    found = rank_run(catalog, run_with(lists), labels_of([Vote("i00", "i04", 1)]), rule).judged
    assert (found.above.tolist(), found.tied.tolist()) == ([1], [1])


def test_a_run_of_other_queries_is_refused():
    catalog, _, labels, rule = tie_free(0, "item")
    with pytest.raises(RunError, match="the 8 labelled queries") as refused:
        rank_run(catalog, run_with({"q1": {"i04": 1.0}}), labels, rule)
    assert "'q1'" in refused.value.problem


def test_candidates_the_catalog_lacks_are_passed_over_up_to_one_in_a_hundred():
    catalog, _, labels, rule = tie_free(0, "image")
    images = {photo: float(at) for at, photo in enumerate(catalog.image[2:])}
    lists = {query: dict(images) for query in labels.query}
    lists["i00"]["gone"] = 100.0
    found = rank_run(catalog, run_with(lists), labels, rule)
    assert found.unknown == 1
    assert found.judged.above.max() < 22
    lists["i03"] |= {f"gone{at}": -1.0 for at in range(5)}
    with pytest.raises(RunError, match=r"6 of 182 candidates .*'gone', 'gone0', 'gone1' and 3 more"):
        rank_run(catalog, run_with(lists), labels, rule)


def test_items_are_refused_where_images_are_ranked():
    catalog, _, labels, _ = tie_free(0, "image")
    with pytest.raises(RunError, match="lacks 1 of 1 candidates"):
        rank_run(catalog, run_with({"i00": {"p5": 1.0}}), labels, Rule("image"))


def test_ids_that_are_images_and_other_items_are_refused():
    photos = [Photo("a", "b"), Photo("b", "a"), Photo("c", "c")]
    with pytest.raises(RunError, match=r"images and as items, .*'a'"):
        rank_run(
            catalog_of(photos), run_with({"c": {"a": 1.0, "b": 0.5}}), labels_of([Vote("c", "a", 1)]), Rule()
        )


@pytest.mark.parametrize(("role", "above"), [("query", 1), ("both", 0)])
def test_the_own_item_by_name_is_a_candidate_where_another_photo_of_it_is(role: str, above: int):
    photos = [Photo("a", "p", role), Photo("b", "r"), Photo("c", "s")]
    photos += [Photo("d", "p")] if role == "query" else []
    lists = run_with({"a": {"p": 1.0, "r": 0.5}})
    found = rank_run(catalog_of(photos), lists, labels_of([Vote("a", "b", 1)]), Rule(own_item=True))
    assert found.judged.above.tolist() == [above]
    assert found.not_candidates == 1 - above


def test_pairs_matched_for_another_rule_are_refused():
    catalog, _, labels, rule = tie_free(0, "item")
    pairs = judged_pairs(catalog, labels, rule)
    with pytest.raises(NotComparableError, match="rule"):
        rank_run(catalog, run_with({"i00": {"i04": 1.0}}), pairs, Rule("image"))
    with pytest.raises(NotComparableError, match="catalog"):
        rank_run(catalog_of([Photo("x", "y")]), run_with({"i00": {"i04": 1.0}}), pairs)


def test_no_labels_are_no_ranks():
    catalog, _, _, rule = tie_free(0, "item")
    found = rank_run(catalog, run_with({"i00": {"i04": 1.0}}), labels_of([]), rule)
    assert (len(found.judged), found.queries, found.queries_absent) == (0, 0, 0)
