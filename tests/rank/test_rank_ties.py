"""Ties: equal within 1e-6 of cosine, the same photo twice always, and never an order by rounding or luck."""

from math import sqrt

import numpy as np
import pytest
from oracles.kernels import needs_avx2, on_another_kernel
from oracles.matching import Vote
from oracles.ranking import Photo
from oracles.worlds import catalog_of, embeddings_of, labels_of

from lookalike.core.types import JudgedRanks, Rule
from lookalike.evaluate.measures.table import evaluate
from lookalike.rank.distinct import top_lists
from lookalike.rank.judged import judged_ranks

SIMILARITIES = ["cosine", "dot", "euclidean"]


def at_cosines(*cosines: float, similarity: str = "cosine") -> JudgedRanks:
    """One query whose candidates have these cosines; every one is labelled similar."""
    photos = [Photo("q", "q"), *(Photo(f"c{i}", f"p{i}") for i in range(len(cosines)))]
    catalog = catalog_of(photos)
    vectors = [[1.0, 0.0], *([c, sqrt(1 - c * c)] for c in cosines)]
    votes = [Vote("q", f"c{i}", 1) for i in range(len(cosines))]
    embeddings = embeddings_of(catalog, vectors, dtype=np.float64)
    return judged_ranks(catalog, embeddings, labels_of(votes), Rule(similarity=similarity))


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("cosine", [-0.7, 0.0, 0.5, 0.9])
def test_unit_vectors_within_a_millionth_of_cosine_tie(cosine: float, similarity: str):
    """The product with (1, 0) is exact, so a score is off by the 4 roundings of shaping: 0.5e-6 + 8 u < 1e-6."""
    found = at_cosines(cosine, cosine - 0.5e-6, similarity=similarity)
    assert (found.above.tolist(), found.tied.tolist()) == ([0, 0], [1, 1])


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("cosine", [-0.7, 0.0, 0.5, 0.9])
def test_unit_vectors_with_larger_distances_do_not(cosine: float, similarity: str):
    """3e-5 apart: more than the tolerance of 1e-6 and twice the error of a score in two dimensions (`score_error`)."""
    found = at_cosines(cosine - 3e-5, cosine, similarity=similarity)
    assert (found.above.tolist(), found.tied.tolist()) == ([1, 0], [0, 0])


@pytest.mark.parametrize("measure", ["HR@2", "coverage@2"])
def test_near_ties_in_a_chain_fill_no_more_than_the_top_k(measure: str):
    """a ties with b and b with c, but not a with c: the places of the top 2 are still only two."""
    assert evaluate(at_cosines(0.5, 0.5 - 0.8e-6, 0.5 - 1.6e-6), [measure])[measure].value <= 1.0


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_the_same_photo_twice_ties_in_every_column_of_the_product(similarity: str):
    random = np.random.default_rng(0)
    catalog = catalog_of([Photo(f"i{row}", f"p{row}") for row in range(203)])
    few = random.normal(size=(7, 384)) * 5
    which = random.integers(0, 7, 203)
    votes = [Vote("i0", f"i{row}", 1) for row in range(1, 203)]
    embeddings = embeddings_of(catalog, few[which])
    found = judged_ranks(catalog, embeddings, labels_of(votes), Rule(similarity=similarity))
    for photo in range(7):
        same = np.flatnonzero(which[1:] == photo)
        by_name = [found.candidate.tolist().index(f"p{row + 1}") for row in same]
        assert len(set(found.above[by_name].tolist())) == 1
        assert set(found.tied[by_name].tolist()) == {len(same) - 1}


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_top_lists_order_photos_that_differ_by_rounding_as_the_catalog_does(similarity: str):
    """The later photo is nearer by the last bit only; that is a tie, and ties go by the catalog."""
    catalog = catalog_of([Photo("q", "q"), Photo("first", "a"), Photo("second", "b")])
    nearer = np.nextafter(np.float32(1.0), np.float32(2.0))
    vectors = np.array([[1, 0], [1, 1], [nearer, 1]], np.float32)
    if similarity == "euclidean":
        vectors[2] = [1, np.nextafter(np.float32(1.0), np.float32(0.0))]
    found = top_lists(catalog, embeddings_of(catalog, vectors), np.array([0]), 2, Rule(similarity=similarity))
    assert found.row.tolist() == [[1, 2]]


SAME_PHOTO_IN_MANY_COLUMNS = """
import numpy as np
from oracles.ranking import Photo
from oracles.worlds import all_pairs, catalog_of, embeddings_of, labels_of
from lookalike.core.types import Rule
photos = [Photo(f"i{row:03d}", f"p{row}") for row in range(101)]
catalog = catalog_of(photos)
embeddings = embeddings_of(catalog, np.tile(np.random.default_rng(0).normal(size=768), (101, 1)))
"""


@needs_avx2
def test_a_constant_encoder_lists_items_in_catalog_order_on_every_product_kernel():
    program = """
from lookalike.rank.distinct import top_lists
found = top_lists(catalog, embeddings, np.array([0]), 100)
print(found.row[0].tolist() == list(range(1, 101)))
"""
    assert on_another_kernel(SAME_PHOTO_IN_MANY_COLUMNS + program) == "True"


@needs_avx2
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_a_constant_encoder_gets_half_the_micro_auc_on_every_product_kernel(similarity: str):
    program = f"""
from lookalike.evaluate.measures.table import evaluate
from lookalike.rank.judged import judged_ranks
judged = judged_ranks(catalog, embeddings, labels_of(all_pairs(photos)), Rule(similarity={similarity!r}))
print(evaluate(judged, ["AUC_mic"])["AUC_mic"].value)
"""
    assert on_another_kernel(SAME_PHOTO_IN_MANY_COLUMNS + program) == "0.5"


@pytest.mark.parametrize("apart", [0, 1e-7, 5e-7, 5e-6, 1e-3])
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_what_ties_in_rank_ties_in_micro_auc(similarity: str, apart: float):
    """With one query micro and macro AUC look at the same pair, so they agree on whether it ties."""
    catalog = catalog_of([Photo("q", "q"), Photo("first", "a"), Photo("second", "b"), Photo("far", "c")])
    vectors = [[100, 0], [100, 100], [100 * (1 + apart), 100 * (1 + apart)], [-50, 80]]
    labels = labels_of([Vote("q", "first", 1), Vote("q", "second", 0)])
    judged = judged_ranks(catalog, embeddings_of(catalog, vectors), labels, Rule(similarity=similarity))
    scores = evaluate(judged, ["AUC_mic", "AUC_mac"])
    assert scores["AUC_mic"].value == scores["AUC_mac"].value
    assert scores["AUC_mac"].value == 0.5 or apart > 1e-7


@pytest.mark.parametrize("offset", [10, 100, 1000])
def test_euclidean_ranks_do_not_change_when_all_vectors_move_together(offset: int):
    """Whole numbers: every distance is exact before and after."""
    random = np.random.default_rng(0)
    catalog = catalog_of([Photo(f"i{row:02d}", f"p{row}") for row in range(40)])
    vectors = random.integers(-3, 4, (40, 4))
    labels = labels_of([Vote(f"i{q:02d}", f"i{c:02d}", 1) for q in range(40) for c in range(40) if q != c])
    here, there = (
        judged_ranks(catalog, embeddings_of(catalog, v), labels, Rule(similarity="euclidean"))
        for v in (vectors, vectors + offset)
    )
    assert here.above.tolist() == there.above.tolist()
    assert here.tied.tolist() == there.tied.tolist()


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_one_far_vector_does_not_make_the_others_tie(similarity: str):
    """It comes last for every query; nothing else may change."""
    near = [[1.0, 0.0], [0.9999, 0.01], [0.9998, 0.02], [0.9997, 0.03]]
    photos = [Photo(f"i{row}", f"p{row}") for row in range(5)]
    labels = labels_of([Vote("i0", f"i{row}", 1) for row in (1, 2, 3)])

    def above(rows: int) -> tuple[list[int], list[int]]:
        catalog = catalog_of(photos[:rows])
        embeddings = embeddings_of(catalog, [*near, [-2e3, 0.0]][:rows])
        found = judged_ranks(catalog, embeddings, labels, Rule(similarity=similarity))
        return found.above.tolist(), found.tied.tolist()

    assert above(5) == above(4)
