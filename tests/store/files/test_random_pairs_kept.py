"""Random pairs on disk: in the order in which they were sampled, with the pool or not at all."""

import numpy as np
import pytest

from lookalike.core.checks import strings
from lookalike.core.types import Pool
from lookalike.discover.random_pairs import RandomPairs
from lookalike.store.settings import WorkspaceSettings
from lookalike.store.sql import rows
from lookalike.store.workspace import Workspace


def random_pairs_of(*names: str) -> RandomPairs:
    return RandomPairs(strings(f"q{n}" for n in names), strings(names), strings(f"{n}.jpg" for n in names))


def pool(*items: str) -> Pool:
    n = len(items)
    return Pool(
        strings(["q"] * n), strings(items), strings(items), np.arange(n), np.zeros(n, np.int64), np.arange(n),
        np.zeros(n, np.float32), ("color",), n, strings(["q"]),
    )  # fmt: skip


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    from lookalike.studio import studio

    return Workspace.create(tmp_path / "w", studio(200).catalog(), WorkspaceSettings("studio", ""))


def kept(workspace: Workspace) -> list[str]:
    found = workspace.random_pairs()
    assert found.query.tolist() == [f"q{item}" for item in found.item]
    assert found.candidate.tolist() == [f"{item}.jpg" for item in found.item]
    return found.item.tolist()


def test_they_come_back_in_their_order(workspace):
    assert kept(workspace) == []
    workspace.save_pool(pool("x"), random_pairs_of("c", "a", "b"))
    assert kept(workspace) == ["c", "a", "b"]
    assert kept(Workspace(workspace.folder)) == ["c", "a", "b"]


def test_they_are_replaced_only_where_others_are_given(workspace):
    workspace.save_pool(pool("x"), random_pairs_of("c", "a"))
    workspace.save_pool(pool("x", "y"))
    assert kept(workspace) == ["c", "a"]
    workspace.save_pool(pool("x", "y"), random_pairs_of("d"))
    assert kept(workspace) == ["d"]
    workspace.save_pool(pool("x"), random_pairs_of())
    assert kept(workspace) == []


def test_a_failure_leaves_pool_and_random_pairs_as_they_were(workspace, monkeypatch):
    workspace.save_pool(pool("x"), random_pairs_of("c"))
    monkeypatch.setattr(rows, "BATCH", 1)
    with pytest.raises(Exception, match="UNIQUE"):
        workspace.save_pool(pool("x", "y"), random_pairs_of("d", "d"))
    assert kept(workspace) == ["c"]
    assert workspace.pool().item.tolist() == ["x"]
