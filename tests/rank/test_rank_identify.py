"""Identification (EDS 6.5): a positive is another photo of the query's item, and the list is of photos."""

import pytest
from hypothesis import given
from oracles import ranking, scoring
from oracles.ranking import Photo, Rules
from oracles.scoring import Row
from oracles.worlds import World, catalog_of, embeddings_of, worlds

from lookalike.core.errors import CatalogError
from lookalike.evaluate.measures.table import parse
from lookalike.rank.identification import identification
from lookalike.rank.judged import judged_ranks


def found_rows(w: World) -> tuple[list[Row], int]:
    """Every query with the other photos of its item, each at its place, and how many queries have none."""
    rules, rows, alone = Rules("image", own_item=True), [], 0
    for query, photo in enumerate(w.photos):
        if not ranking.may_be_query(photo, None):
            continue
        units = ranking.candidate_units(w.photos, query, rules)
        others = [name for name, (row,) in units.items() if w.photos[row].item == photo.item]
        alone += not others
        for name in others:
            place = ranking.place(w.photos, w.vectors, query, name, rules)
            rows.append(Row(photo.image, name, 1, place.above, place.tied, place.score, place.candidates))
    return rows, alone


@given(worlds)
def test_identification_equals_its_definition(w: World):
    rows, alone = found_rows(w)
    catalog = catalog_of(w.photos)
    if not rows:
        with pytest.raises(CatalogError):
            identification(catalog)
        return
    task = identification(catalog)
    assert (task.alone, task.queries) == (alone, len(scoring.by_query(rows)))
    judged = judged_ranks(catalog, embeddings_of(catalog, w.vectors), task.pairs)
    assert len(judged) == len(rows)
    for k in (1, 3):
        hits, ranks = parse(f"HR@{k}(of=possible)")(judged), parse(f"MRR@{k}(of=possible)")(judged)
        assert hits.value == pytest.approx(scoring.hr_of_possible(rows, k))
        assert ranks.value == pytest.approx(scoring.mrr_of_possible(rows, k))
        assert hits.queries == task.queries


def test_all_photos_of_the_item_first_give_one():
    photos = [Photo(f"{item}{photo}", item) for item in "abc" for photo in range(3)]
    vectors = [[9 if i == "abc".index(p.item) else 0 for i in range(3)] for p in photos]
    catalog = catalog_of(photos)
    judged = judged_ranks(catalog, embeddings_of(catalog, vectors), identification(catalog).pairs)
    for measure in ("HR@2(of=possible)", "HR@5(of=possible)", "MRR@5(of=possible)", "RR"):
        assert parse(measure)(judged).value == 1.0
    assert parse("HR@5")(judged).value == pytest.approx(2 / 5)
