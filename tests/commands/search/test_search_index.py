"""The index of a workspace: built for a recall, refused by others, stale, updated, and two writers."""

import json
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from milvus_server import started_milvus

from lookalike.core.errors import SearchError, WorkspaceError
from lookalike.search.approximate import Approximate
from lookalike.store.disk import lock
from lookalike.store.workspace import Workspace
from lookalike.workflows.search.index import build_index, index_folder, open_engine, update_index
from lookalike.workflows.search.searcher import Searcher

pytest.importorskip("usearch", reason="needs usearch: pip install '.[search]'")


def answers(folder, engine="auto"):
    searcher = Searcher.of(Workspace(folder), "color", engine=engine)
    images = searcher.catalog.image[:12].tolist()
    return [[one.item for one in found.results] for found in searcher.many(images, 5)]


def test_an_index_answers_as_the_exact_engine(lookalike, workspace):
    made = lookalike("index", "color", "--json").json
    assert (made["engine"], made["recall"], made["removed"]) == ("usearch", 0.99, 0)
    assert made["measured"] >= 0.99
    assert answers(workspace) == answers(workspace, "exact")
    found = lookalike("search", "bowl/000", "--encoder", "color", "--json").json
    assert (found["engine"], found["note"]) == ("usearch", "")
    exact = lookalike("search", "bowl/000", "--encoder", "color", "--engine", "exact", "--json").json
    shown, expected = found["results"], exact["results"]
    assert [one["image"] for one in shown] == [one["image"] for one in expected]
    assert [one["score"] for one in shown] == pytest.approx([one["score"] for one in expected], abs=1e-6)
    assert lookalike("search", "bowl/000", "--encoder", "color", "--engine", "milvus").status == 1


def test_an_index_older_than_the_catalog_is_used_said_and_updated(lookalike, workspace):
    assert lookalike("index", "color").status == 0
    gone = Workspace(workspace).catalog.image[0]
    assert lookalike("catalog", "remove", gone).status == 0
    assert lookalike("embed", "--stale").status == 0
    found = lookalike("search", "bowl/001", "--encoder", "color", "-k", 50, "--json").json
    assert "older than the catalog" in found["note"]
    assert gone not in {one["image"] for one in found["results"]}
    assert answers(workspace) == answers(workspace, "exact")
    updated = lookalike("index", "color", "--update", "--json").json
    assert (updated["added"], updated["removed"]) == (0, 1)
    assert lookalike("search", "bowl/001", "--encoder", "color", "--json").json["note"] == ""
    assert answers(workspace) == answers(workspace, "exact")


@pytest.mark.parametrize("change", ["weights", "catalog"])
def test_an_index_of_others_is_refused(workspace, change):
    opened = Workspace(workspace)
    build_index(opened, "color")
    folder = index_folder(opened, "color")
    if change == "weights":
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(manifest | {"weights": "another"}))
    else:
        keys = np.load(folder / "keys.npy")
        np.save(folder / "keys.npy", keys + 1)
    with pytest.raises(SearchError, match="cannot be used"):
        Searcher.of(opened, "color", engine="usearch")
    searcher = Searcher.of(opened, "color")
    assert searcher.engine.name == "exact"
    assert "cannot be used" in searcher.note


def test_a_full_disk_is_one_sentence_and_keeps_the_earlier_index(lookalike, workspace, monkeypatch):
    assert lookalike("index", "color").status == 0

    def full(index, path):
        raise RuntimeError("Failed to serialize into stream")

    monkeypatch.setattr(Approximate, "save", full)
    result = lookalike("index", "color")
    assert result.status == 1
    assert "writing the index color" in result.err
    assert "Traceback" not in result.err
    assert lookalike("search", "bowl/000", "--encoder", "color", "--json").json["engine"] == "usearch"


def test_two_writers(workspace):
    opened = Workspace(workspace)
    build_index(opened, "color")
    folder = index_folder(opened, "color")
    with lock(folder.parent, "color", "index color"), pytest.raises(WorkspaceError, match="Another command"):
        update_index(opened, "color")
    searcher = Searcher.of(opened, "color")
    threads = [threading.Thread(target=searcher.merge) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert answers(workspace) == answers(workspace, "exact")


def test_a_milvus_that_is_gone_in_mid_request(workspace):
    server = started_milvus()
    opened = Workspace(workspace)
    with pytest.raises(SearchError, match="address"):
        build_index(opened, "color", engine="milvus")
    build_index(opened, "color", engine="milvus", address=server.address)
    searcher = Searcher.of(opened, "color", engine="milvus")
    assert answers(workspace, "milvus") == answers(workspace, "exact")

    server.kill()
    with pytest.raises(SearchError, match="does not answer"):
        searcher.by_image(str(searcher.catalog.image[0]))
    embeddings, exact = searcher.embeddings, searcher.distinct.exact
    assert open_engine(opened, embeddings, exact, "exact") == (exact, "")


def test_a_milvus_that_dies_while_it_answers(workspace):
    """The server is stopped, so that it has the request and cannot answer; then it dies."""
    server = started_milvus()
    opened = Workspace(workspace)
    build_index(opened, "color", engine="milvus", address=server.address)
    searcher = Searcher.of(opened, "color", engine="milvus")
    image = str(searcher.catalog.image[0])
    assert searcher.by_image(image).results
    server.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, server.process.pid, os.WSTOPPED | os.WNOWAIT)  # all its threads stand still
    with ThreadPoolExecutor(1) as asking:
        answer = asking.submit(searcher.by_image, image)
        with pytest.raises(TimeoutError):
            answer.result(timeout=1)
        server.kill()
        with pytest.raises(SearchError, match="does not answer"):
            answer.result(timeout=120)


def test_a_milvus_that_answers_fewer_than_asked(workspace, monkeypatch):
    """Lists are whole all the same: every image is compared instead."""
    server = started_milvus()
    opened = Workspace(workspace)
    build_index(opened, "color", engine="milvus", address=server.address)
    searcher = Searcher.of(opened, "color", engine="milvus")
    client = searcher.engine.index._client
    real, cut = client.search, []

    def fewer(*given, **options):
        found = real(*given, **options)
        cut.append(len(found))
        return [hits[:2] for hits in found]

    monkeypatch.setattr(client, "search", fewer)
    images = searcher.catalog.image[:12].tolist()
    found = [[one.item for one in answer.results] for answer in searcher.many(images, 5)]
    assert cut
    assert found == answers(workspace, "exact")
    server.kill()
