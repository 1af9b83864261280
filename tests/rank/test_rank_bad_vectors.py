"""Vectors that do not fit are an error with a way out, never a rank."""

import numpy as np
import pytest
from oracles.matching import Vote
from oracles.ranking import Photo
from oracles.worlds import catalog_of, embeddings_of, labels_of
from shape_checks import unchecked

from lookalike.core.errors import ArgumentError, EmbeddingsError
from lookalike.core.types import Embeddings, Rule
from lookalike.rank.distinct import top_for_vectors, top_lists
from lookalike.rank.judged import judged_ranks

SIMILARITIES = ["cosine", "dot", "euclidean"]
CATALOG = catalog_of([Photo("q", "q"), Photo("a", "a"), Photo("b", "b")])
LABELS = labels_of([Vote("q", "a", 1), Vote("q", "b", 0)])
GOOD = np.array([[1, 0], [1, 1], [0, 1]], np.float32)


def spoiled(row: int, value: float) -> Embeddings:
    vectors = GOOD.copy()
    vectors[row] = value
    return embeddings_of(CATALOG, vectors)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_a_vector_that_is_no_number_is_refused(similarity: str, value: float):
    for row in (0, 2):
        with pytest.raises(EmbeddingsError):
            judged_ranks(CATALOG, spoiled(row, value), LABELS, Rule(similarity=similarity))
        with pytest.raises(EmbeddingsError):
            top_lists(CATALOG, spoiled(row, value), np.array([0]), 2, Rule(similarity=similarity))


@pytest.mark.parametrize("row", [0, 2])
def test_a_zero_vector_has_no_cosine(row: int):
    with pytest.raises(EmbeddingsError) as caught:
        judged_ranks(CATALOG, spoiled(row, 0), LABELS)
    assert "similarity='dot'" in caught.value.fix


def test_a_zero_vector_is_named_by_its_image():
    """The second row of the gallery or of the labelled queries is no row of the catalog."""
    photos = [Photo("only asked", "x", "query"), *(Photo(name, name) for name in ("a", "b", "c"))]
    vectors = [[1, 0], [1, 1], [0, 0], [0, 1]]
    catalog = catalog_of(photos)
    with pytest.raises(EmbeddingsError, match=r"'b'|row 2\b"):
        judged_ranks(catalog, embeddings_of(catalog, vectors), labels_of([Vote("a", "c", 1)]))


@pytest.mark.parametrize("similarity", ["dot", "euclidean"])
def test_a_zero_vector_is_fine_for_the_others(similarity: str):
    assert len(judged_ranks(CATALOG, spoiled(2, 0), LABELS, Rule(similarity=similarity))) == 2


def test_an_image_without_a_vector_is_named():
    short = Embeddings("hog", CATALOG.image[:2], GOOD[:2])
    with pytest.raises(EmbeddingsError, match=r"hog .*1 of 3 images: 'b'"):
        judged_ranks(CATALOG, short, LABELS)


def test_a_new_photo_needs_a_vector_of_the_same_length():
    with pytest.raises(EmbeddingsError):
        top_for_vectors(CATALOG, embeddings_of(CATALOG, GOOD), np.ones((1, 3), np.float32), 2)


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_refused(k: int):
    with pytest.raises(ArgumentError):
        top_lists(CATALOG, embeddings_of(CATALOG, GOOD), np.array([0]), k)


@pytest.mark.parametrize("wrong", [{"level": "photo"}, {"similarity": "cos"}, {"split": "holdout"}])
def test_an_unknown_rule_lists_the_known_ones(wrong: dict[str, str]):
    with unchecked(), pytest.raises(ArgumentError) as caught:
        Rule(**wrong)
    assert "Use one of" in caught.value.fix
