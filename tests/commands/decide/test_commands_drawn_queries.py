"""Drawn labels are spread over many queries; measures leave those out whose other results have no labels."""

import pytest

from lookalike.store.workspace import Workspace

WHOLE = 12  # queries with all labels before anything is drawn


def as_category(query, candidate):
    return int(query.split("/")[0] == candidate.split("/")[0])


def label(lookalike, folder, pairs):
    lines = [f"{query},{candidate},{as_category(query, candidate)}" for query, candidate in pairs]
    (folder / "some.csv").write_text("\n".join(["query,candidate,label", *lines]) + "\n")
    assert lookalike("labels", "import", "some.csv").status == 0


@pytest.fixture
def some_queries(lookalike, workspace):
    """All pairs of some queries of the pool have a label; the pairs of the others are returned."""
    pool = Workspace(workspace).pool()
    first = set(sorted(set(pool.query.tolist()))[:WHOLE])
    pairs = list(zip(pool.query.tolist(), pool.candidate.tolist(), strict=True))
    label(lookalike, workspace, [pair for pair in pairs if pair[0] in first])
    return [pair for pair in pairs if pair[0] not in first]


def drawn(folder):
    """The pairs that a sample drew, as they were asked."""
    with Workspace(folder).database.read() as connection:
        return connection.exec_driver_sql("SELECT query, candidate FROM sample_pair ORDER BY place").all()


def test_a_few_drawn_labels_change_no_measure(lookalike, workspace, some_queries):
    before = lookalike("evaluate", "--json").json
    assert before["labels"] > 0
    lookalike("compare", "color", "hog", "-k", 3, "--labels", 60, "--unit", "pair")
    label(lookalike, workspace, drawn(workspace)[:25])
    after = lookalike("evaluate", "--json").json
    assert after["recommendation"]["headline"] == before["recommendation"]["headline"]
    assert after["scores"] == before["scores"]
    assert any("drawn for a comparison" in note for note in after["notes"])
    assert "drawn for a comparison" in " ".join(lookalike("evaluate").out.split())
    whole = lookalike("evaluate", "--source", "all", "--json").json
    assert whole["labels"] > after["labels"] == before["labels"]
    assert not any("drawn for a comparison" in note for note in whole["notes"])
    assert lookalike("audit", "--json", "--replicates", 0).json["labels"] == before["labels"]


def test_a_query_counts_once_most_of_its_pairs_have_labels(lookalike, workspace, some_queries):
    lookalike("compare", "color", "hog", "-k", 3, "--labels", 60, "--unit", "pair")
    label(lookalike, workspace, drawn(workspace))
    few = lookalike("evaluate", "--json").json["labels"]
    label(lookalike, workspace, some_queries)
    found = lookalike("evaluate", "--json").json
    assert found["labels"] == lookalike("evaluate", "--source", "all", "--json").json["labels"] > few
    assert not any("drawn for a comparison" in note for note in found["notes"])


def test_where_nearly_all_labels_were_drawn_all_count(lookalike, workspace):
    lookalike("compare", "color", "hog", "-k", 3, "--labels", 60, "--unit", "pair")
    label(lookalike, workspace, drawn(workspace))
    found = lookalike("evaluate", "--json").json
    assert found["labels"] == lookalike("evaluate", "--source", "all", "--json").json["labels"] > 0
    assert not any("drawn for a comparison" in note for note in found["notes"])
