"""Triangles of labels that contradict each other, against a walk over all triples."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import insert

from lookalike.core.checks import strings
from lookalike.core.types import Catalog, Labels
from lookalike.positive.graph import label_graph
from lookalike.store.sql import labelling_schema as schema
from lookalike.workflows.label import review as recipe
from lookalike.workflows.label.review import review, suspects, triangles
from lookalike.workflows.start.init import init

NAMES = "abcdefg"


def catalog_of(names):
    listed, size = strings(names), np.zeros(len(names), int)
    blank = strings([""] * len(names))
    split = strings(["train"] * len(names))
    return Catalog(listed, listed, listed, blank, blank, split, np.arange(len(names)), blank, size, size)


def labels_of(pairs):
    return Labels.of([p[0] for p in pairs], [p[1] for p in pairs], list(pairs.values()))


def counted(pairs):
    """Unordered labelled pair -> the third images of the contradicting triangles it is in, from the definition."""
    label = {frozenset(pair): value for pair, value in pairs.items()}
    against = {}
    for three in combinations(NAMES, 3):
        sides = [frozenset(side) for side in combinations(three, 2)]
        if sorted(label.get(side, -1) for side in sides) == [0, 1, 1]:
            for side in sides:
                against.setdefault(side, []).append((set(three) - side).pop())
    return against


PAIRS = st.dictionaries(
    st.sampled_from([pair for pair in permutations(NAMES, 2) if pair[0] < pair[1]]),
    st.integers(0, 1),
    max_size=21,
)


@given(PAIRS, st.integers(1, 30))
def test_suspects_equal_the_definition_and_the_worst_come_first(pairs, limit):
    catalog = catalog_of(NAMES)
    found = suspects(catalog, label_graph(catalog, labels_of(pairs), split=None), limit)
    wanted = counted(pairs)
    assert (found.negatives + found.positives, 3 * found.triangles) == (
        len(wanted),
        sum(map(len, wanted.values())),
    )
    assert [one.triangles for one in found.suspects] == sorted(map(len, wanted.values()), reverse=True)[
        :limit
    ]
    for one in found.suspects:
        thirds = sorted(wanted[frozenset((one.query, one.candidate))])
        assert one.triangles == len(thirds)
        assert list(one.through) == thirds[: recipe.MIDDLES]
        assert one.label == pairs[one.query, one.candidate]


def test_a_negative_across_a_cluster_comes_before_the_positives_of_its_triangles():
    pairs = {("a", "b"): 1, ("b", "c"): 1, ("a", "d"): 1, ("c", "d"): 1, ("a", "c"): 0}
    catalog = catalog_of(NAMES)
    found = suspects(catalog, label_graph(catalog, labels_of(pairs), split=None))
    first = found.suspects[0]
    assert (first.query, first.candidate, first.label, first.triangles) == ("a", "c", 0, 2)
    assert first.through == ("b", "d")
    assert [one.triangles for one in found.suspects[1:]] == [1, 1, 1, 1]


def test_portions_do_not_change_the_triangles(monkeypatch):
    random = np.random.default_rng(4)
    names = [f"i{at}" for at in range(60)]
    pairs = {(names[a], names[b]): int(random.integers(2)) for a, b in combinations(range(60), 2)}
    catalog = catalog_of(names)
    graph = label_graph(catalog, labels_of(pairs), split=None)
    whole = triangles(graph)
    monkeypatch.setattr(recipe, "AT_ONCE", 50)
    parts = triangles(graph)
    for name in ("a", "b", "c"):
        assert getattr(whole, name).tolist() == getattr(parts, name).tolist()


def test_a_pair_labelled_both_ways_is_reported_and_in_no_triangle():
    catalog = catalog_of("abc")
    labels = Labels.of("abac", "bcca", [1, 1, 0, 1])
    found = suspects(catalog, label_graph(catalog, labels, split=None))
    assert (found.suspects, found.triangles) == ((), 0)
    assert found.unusable[0].count == 2


@pytest.fixture
def workspace(tmp_path):
    from PIL import Image

    for name in "abc":
        (tmp_path / "photos" / "lamp" / name).mkdir(parents=True)
        Image.new("RGB", (8, 8), (60 * "abc".index(name), 9, 90)).save(
            tmp_path / "photos" / "lamp" / name / "1.png"
        )
    init(tmp_path / "photos", tmp_path / "shop")
    from lookalike.store.workspace import Workspace

    return Workspace(tmp_path / "shop")


def test_a_lead_gets_the_question_to_reopen(workspace):
    a, b, c = (f"lamp/{name}/1.png" for name in "abc")
    workspace.add_labels(Labels.of([a, b, c], [b, c, a], [1, 1, 0]), "votes")
    with workspace.database.write() as connection:
        connection.execute(
            insert(schema.question),
            {
                "id": 7,
                "place": 1,
                "query": c,
                "candidate": a,
                "low": a,
                "high": c,
                "item": a,
                "kind": "pool",
                "needed": 2,
                "free": 0,
                "state": "settled",
                "changed": 1,
            },
        )
    found = review(workspace)
    assert [(one.label, one.triangles, one.question) for one in found.suspects] == [
        (0, 1, 7),
        (1, 1, None),
        (1, 1, None),
    ]
    assert review(workspace, limit=1).suspects == found.suspects[:1]
    assert review(workspace, labels=Labels.of([a], [b], [1])).suspects == ()
