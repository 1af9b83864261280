"""The engine on a torch device ranks as the compiled one does; here on torch's own "cpu" device."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import ranking
from oracles.matching import match_votes
from oracles.ranking import Photo, Rules
from oracles.rounding import score_error, shown_error, undecided
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

from lookalike.core.types import JudgedRanks, Rule
from lookalike.rank.distinct import TopLists, top_for_vectors, top_lists
from lookalike.rank.engine import machine as machine_module
from lookalike.rank.engine.blocks import each_block
from lookalike.rank.engine.machine import NVIDIA, Machine
from lookalike.rank.engine.source import Source
from lookalike.rank.engine.vectors import as_gallery, as_queries
from lookalike.rank.judged import judged_ranks

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.card
NAME = "cuda" if torch.cuda.is_available() else "cpu"
COMPILED, DEVICE = Machine(device="numpy"), Machine(device=NAME)
# The gallery on the device, or passing through in slabs of a few rows; blocks of one query or more.
on_device = st.builds(
    Machine,
    st.sampled_from([0, 2**20]),
    st.sampled_from([1, 300, 2**20]),
    st.sampled_from([1, 40]),
    st.just(NAME),
)


def someone_may_be_found(w: World, r: Rules) -> bool:
    return any(ranking.may_be_found(photo, r.split) for photo in w.photos)


def places(found: JudgedRanks) -> dict[tuple[str, str], tuple[int, int, int, int]]:
    columns = found.label, found.above, found.tied, found.candidates
    keys = zip(found.query, found.candidate, strict=True)
    return dict(zip(keys, zip(*(column.tolist() for column in columns), strict=True), strict=True))


def same_lists(one: TopLists, two: TopLists, error: float) -> None:
    assert one.row.tolist() == two.row.tolist()
    np.testing.assert_allclose(one.score, two.score, rtol=0, atol=2 * error)


@given(worlds, rules, on_device)
def test_ranks_on_a_device_are_those_of_counting_by_hand(w: World, r: Rules, machine: Machine):
    assume(someone_may_be_found(w, r))
    catalog = catalog_of(w.photos)
    found = judged_ranks(
        catalog, embeddings_of(catalog, w.vectors), labels_of(w.votes), rule_of(r), machine=machine
    )
    row = {photo.image: i for i, photo in enumerate(w.photos)}
    expected = {
        (query, unit): (label, *ranking.place(w.photos, w.vectors, row[query], unit, r)[:3])
        for (query, unit), label in match_votes(w.photos, w.votes, r).label.items()
    }
    assert places(found) == expected


@given(worlds, rules, on_device, st.integers(1, 9))
def test_lists_on_a_device_are_those_of_the_compiled_engine(w: World, r: Rules, machine: Machine, k: int):
    assume(someone_may_be_found(w, r))
    catalog, rule = catalog_of(w.photos), rule_of(r)
    embeddings, rows = embeddings_of(catalog, w.vectors), np.arange(len(catalog))
    new = np.array([[1, *[2] * (len(w.vectors[0]) - 1)]], np.float32)
    error = shown_error([*w.vectors, *new], r.similarity)
    known = (top_lists(catalog, embeddings, rows, k, rule, machine=m) for m in (COMPILED, machine))
    same_lists(*known, error)
    fresh = (top_for_vectors(catalog, embeddings, new, k, rule, machine=m) for m in (COMPILED, machine))
    same_lists(*fresh, error)


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
@pytest.mark.parametrize("level", ["item", "image"])
def test_many_blocks_of_uneven_items_and_many_equals(level: str, similarity: str):
    """About 300 photos on a small lattice: far more equals than a list has spare places."""
    w = world(seed=7, items=100, most_photos=5, dimension=2, spread=2, votes=0)
    photos = [photo._replace(role="both", split="train") for photo in w.photos]
    catalog, rule = catalog_of(photos), Rule(level, similarity)
    embeddings = embeddings_of(catalog, w.vectors)
    labels = labels_of([vote for i, vote in enumerate(all_pairs(photos)) if i % 50 == 3])
    device = Machine(rows=4 * len(photos) * 16, device=NAME)
    one, two = (judged_ranks(catalog, embeddings, labels, rule, machine=m) for m in (COMPILED, device))
    assert places(one) == places(two)
    np.testing.assert_allclose(one.score, two.score, rtol=0, atol=2 * score_error(w.vectors, similarity))
    rows = np.arange(len(photos))
    lists = (top_lists(catalog, embeddings, rows, 6, rule, machine=m) for m in (COMPILED, device))
    same_lists(*lists, shown_error(w.vectors, similarity))


@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_a_constant_encoder_lists_items_in_catalog_order_on_a_device(similarity: str):
    catalog = catalog_of([Photo(f"i{row:03d}", f"p{row}") for row in range(101)])
    constant = np.tile(np.random.default_rng(0).normal(size=768), (101, 1))
    embeddings, rule = embeddings_of(catalog, constant), Rule(similarity=similarity)
    found = top_lists(catalog, embeddings, np.array([0]), 7, rule, machine=DEVICE)
    assert found.row[0].tolist() == list(range(1, 8))


def test_random_vectors_of_many_numbers_rank_alike():
    """No lattice: places differ only by candidates on the edge of the tie tolerance."""
    photos = [Photo(f"i{row:03d}", f"p{row % 300}") for row in range(900)]
    catalog = catalog_of(photos)
    embeddings = embeddings_of(catalog, np.random.default_rng(1).normal(size=(900, 384)))
    labels = labels_of([vote for i, vote in enumerate(all_pairs(photos)) if i % 400 == 3])
    one, two = (judged_ranks(catalog, embeddings, labels, machine=m) for m in (COMPILED, DEVICE))
    item = {f"p{at}": [at, at + 300, at + 600] for at in range(300)}
    for pair in np.flatnonzero((one.above != two.above) | (one.tied != two.tied)):
        query, rows = catalog.row[one.query[pair]], item[one.candidate[pair]]
        may = sum(undecided(embeddings.vectors, "cosine", query, row) + 1 for row in rows)
        assert max(abs(one.above[pair] - two.above[pair]), abs(one.tied[pair] - two.tied[pair])) <= may


def test_a_block_that_does_not_fit_the_device_is_halved_until_it_does():
    source = Source(np.eye(12, dtype=np.float32))
    rows, center = np.arange(12), np.zeros(12, np.float32)
    queries = as_queries(source, rows, "cosine", center, 2**20)
    gallery = as_gallery(source, rows, "cosine", center, 2**20)
    tried, done = [], {}

    def task(first: int, last: int, scores: object) -> None:
        tried.append(last - first)
        if last - first > 3:
            raise torch.OutOfMemoryError("no room")
        done.update({row: np.array(score) for row, score in enumerate(scores.cpu().numpy(), first)})

    each_block(queries, gallery, task, machine=DEVICE)
    assert tried == [12, 12, 12, 12, 12, 12, 12, 8, 4, *[2] * 6]
    assert np.array_equal(np.stack([done[row] for row in range(12)]), np.eye(12))


def test_a_device_without_room_for_one_row_says_so():
    source, rows, center = Source(np.eye(3, dtype=np.float32)), np.arange(3), np.zeros(3, np.float32)
    queries = as_queries(source, rows, "cosine", center, 2**20)
    gallery = as_gallery(source, rows, "cosine", center, 2**20)

    def task(first: int, last: int, scores: object) -> None:
        raise torch.OutOfMemoryError("no room")

    with pytest.raises(torch.OutOfMemoryError):
        each_block(queries, gallery, task, machine=DEVICE)


def test_products_are_not_shortened_and_what_was_set_before_comes_back():
    from lookalike.rank.engine.device import exact_products

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with exact_products():
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


RANKING = """
import sys
import numpy as np
from lookalike.core.checks import strings
from lookalike.core.types import Catalog, Embeddings
from lookalike.rank.distinct import top_lists
from lookalike.rank.engine.machine import Machine
n, same = strings("abcd"), lambda word: np.full(4, word, object)
zero = np.zeros(4, np.int64)
catalog = Catalog(n, n, n, same(""), same("both"), same("train"), zero, same(""), zero, zero)
top_lists(catalog, Embeddings("e", n, np.eye(4, dtype=np.float32)), np.arange(4), 2, machine=Machine(device={device!r}))
print("torch" in sys.modules)
"""


@pytest.mark.parametrize("device", ["numpy", "auto", "cpu"])
def test_ranking_loads_torch_only_for_a_device(device: str):
    if device == "auto" and any(file.exists() for file in NVIDIA):
        pytest.skip("there is a driver here, so torch is asked")
    done = subprocess.run(
        [sys.executable, "-c", RANKING.format(device=device)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(device == "cpu")


def test_a_driver_without_a_card_ranks_on_the_processors(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setattr(machine_module, "NVIDIA", (tmp_path,))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert Machine().torch_device() is None


def test_a_driver_without_torch_ranks_on_the_processors(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setattr(machine_module, "NVIDIA", (tmp_path,))
    monkeypatch.setitem(sys.modules, "torch", None)
    assert Machine().torch_device() is None


def test_a_card_is_chosen_where_there_is_one(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setattr(machine_module, "NVIDIA", (tmp_path,))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert Machine().torch_device() == torch.device("cuda")
    assert Machine(device="numpy").torch_device() is None
