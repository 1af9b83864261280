"""What every engine must do: K distinct items, never the query's own, no duplicates, filters, and changes."""

from dataclasses import replace

import numpy as np
import pytest
from search.engines import CPU, ENGINES, keys_of, shop

from lookalike.core.filters import matching
from lookalike.search.distinct import Distinct
from lookalike.search.exact import Exact

pytestmark = pytest.mark.parametrize("engine_of", ENGINES, ids=lambda one: one.__name__)
ROWS = np.r_[
    0, 3, 7, 40, 47, 500, 777, 1_111, 20:1_200:13
]  # many: a graph may miss the neighbours of some images


def opened(engine_of, folder, catalog, vectors, held=None):
    exact = Exact.of(catalog, vectors, CPU)
    held = exact.shaped.images if held is None else held
    return engine_of(exact, held, keys_of(catalog), folder), Distinct(exact)


def oracle(catalog, vectors, row, k, allowed=None):
    """The items of one list by a walk down all images, best first."""
    unit = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    best = {}
    for at in np.argsort(-(unit @ unit[row]), kind="stable").tolist():
        free = catalog.role[at] != "query" and catalog.item[at] != catalog.item[row]
        if free and (allowed is None or allowed[at]):
            best.setdefault(catalog.item[at], at)
    shown, groups = [], set()
    for at in best.values():
        if catalog.duplicate[at] < 0 or catalog.duplicate[at] not in groups:
            shown.append(at)
            groups.add(catalog.duplicate[at])
    return shown[:k]


def require_promises(catalog, found, rows, k, allowed=None):
    for at, row in enumerate(rows):
        shown = found.row[at][found.row[at] >= 0]
        assert len(shown) == k or found.exhausted[at]
        items, groups = catalog.item[shown], catalog.duplicate[shown]
        assert len(set(items)) == len(items)
        assert catalog.item[row] not in items
        assert len(set(groups[groups >= 0])) == (groups >= 0).sum()
        assert (catalog.role[shown] != "query").all()
        assert allowed is None or allowed[shown].all()
        assert (np.diff(found.score[at][: len(shown)]) <= 1e-6).all()


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("where", [(), [("color", "green")], [("color", "rare")]])
def test_k_distinct_items(engine_of, tmp_path, where, alone):
    catalog, vectors = shop()
    engine, distinct = opened(engine_of, tmp_path, catalog, vectors)
    allowed = matching(catalog, where) if where else None
    hits = 0
    for some in [ROWS[[at]] for at in range(len(ROWS))] if alone else [ROWS]:
        found = distinct.lists(engine, vectors.vectors[some], some, 10, allowed)
        require_promises(catalog, found, some, 10, allowed)
        for at, row in enumerate(some):
            expected = oracle(catalog, vectors, row, 10, allowed)
            shown = found.row[at][found.row[at] >= 0].tolist()
            assert len(shown) == len(expected)
            hits += len(set(expected) & set(shown)) / len(expected)
    assert hits / len(ROWS) > 0.95


def test_more_than_there_are_and_nothing_allowed(engine_of, tmp_path):
    catalog, vectors = shop(300)
    engine, distinct = opened(engine_of, tmp_path, catalog, vectors)
    rows = np.array([1, 2])
    found = distinct.lists(engine, vectors.vectors[rows], rows, 5_000)
    require_promises(catalog, found, rows, 5_000)
    assert found.exhausted.all()
    for at, row in enumerate(rows):
        assert found.row[at][found.row[at] >= 0].tolist() == oracle(catalog, vectors, row, 5_000)
    none = distinct.lists(engine, vectors.vectors[rows], rows, 3, np.zeros(300, dtype=bool))
    assert (none.row == -1).all()
    assert none.exhausted.all()


def test_added_replaced_and_removed_images(engine_of, tmp_path):
    catalog, vectors = shop(400)
    old = np.flatnonzero((catalog.role != "query") & (np.arange(400) < 330))
    digest = catalog.digest.copy()
    digest[10:20] = "0f" * 32  # replaced after the index was built
    before = keys_of(catalog)
    gone = old[:9]
    catalog = replace(
        catalog, digest=digest, role=np.where(np.isin(np.arange(400), gone), "query", catalog.role)
    )
    exact = Exact.of(catalog, vectors, CPU)
    keys = keys_of(catalog)
    assert (keys[10:20] != before[10:20]).all()
    engine = engine_of(exact, old, before, tmp_path)
    if not engine.exact and hasattr(engine, "index"):
        engine = type(engine).of(engine.index, before[old], keys, exact)
        in_gallery = catalog.role != "query"
        replaced = in_gallery & (np.arange(400) >= 10) & (np.arange(400) < 20)
        assert len(engine.missing) == (in_gallery[330:].sum() + replaced.sum())
        assert len(engine.gone) == len(np.setdiff1d(before[old], keys[in_gallery]))
    distinct = Distinct(exact)
    rows = np.arange(0, 400, 23)
    found = distinct.lists(engine, vectors.vectors[rows], rows, 8)
    require_promises(catalog, found, rows, 8)
    shown = set(found.row.ravel().tolist())
    assert not shown & set(gone.tolist())
    assert any(row >= 330 for row in shown)
    if hasattr(engine, "index"):  # merged: the index itself has the changes
        index = engine.index
        index.remove(engine.gone)
        index.add(keys[engine.missing], engine.buffer.unit)
        merged = type(engine).of(index, keys[exact.shaped.images], keys, exact)
        assert (len(merged.missing), len(merged.gone), len(merged.buffer)) == (0, 0, 0)
        again = distinct.lists(merged, vectors.vectors[rows], rows, 8)
        require_promises(catalog, again, rows, 8)
        assert (again.row == found.row).mean() > 0.95
