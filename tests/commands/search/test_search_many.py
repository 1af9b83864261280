"""`lookalike search --queries`: many queries at once answer as each alone, and wrong lines are named."""

import csv
import io
import json

import pytest

from lookalike.store.workspace import Workspace


def write(folder, *lines):
    (folder / "queries.txt").write_text("\n".join(lines) + "\n")
    return ("search", "--encoder", "color", "--queries", "queries.txt", "-k", 3)


def test_many_queries_answer_as_each_alone(lookalike, workspace, photos):
    image = str(Workspace(workspace).catalog.image[4])
    (workspace / "new.png").write_bytes((photos / "rod/002/1.png").read_bytes())
    queries = [image, "box/001", "new.png"]
    command = write(workspace, queries[0], "", *queries[1:])
    found = [json.loads(line) for line in lookalike(*command, "--json").out.splitlines()]
    assert [one["query"] for one in found] == queries
    for one in found:
        alone = lookalike("search", one["query"], "--encoder", "color", "-k", 3, "--json").json
        assert [hit["item"] for hit in one["results"]] == [hit["item"] for hit in alone["results"]]
        assert len({hit["item"] for hit in one["results"]}) == 3
    rows = list(csv.DictReader(io.StringIO(lookalike(*command).out)))
    assert [(row["query"], row["rank"], row["item"]) for row in rows] == [
        (one["query"], str(rank), hit["item"]) for one in found for rank, hit in enumerate(one["results"], 1)
    ]


def test_fewer_items_than_asked_for_are_said(lookalike, workspace):
    result = lookalike(*write(workspace, "box/001"), "--filter", "category=rod", "-k", 50)
    assert len(result.out.splitlines()) == 1 + 6
    assert "fewer results" in result.err


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (("box/001", "box/01x"), "Line 2: 'box/01x' is neither"),
        (("box/001", "", "broken.jpg"), "Line 3: "),
        (("", ""), "There is no query."),
    ],
)
def test_a_wrong_line_is_named(lookalike, workspace, lines, problem):
    (workspace / "broken.jpg").write_text("<svg><script>alert(1)</script></svg>")
    result = lookalike(*write(workspace, *lines))
    assert (result.status, result.out) == (1, "")
    assert problem in result.err
    assert "Traceback" not in result.err


def test_a_file_takes_the_place_of_a_query(lookalike, workspace):
    assert "takes the place" in lookalike(*write(workspace, "box/001"), "box/001").err
    assert "There is no query." in lookalike("search", "--encoder", "color").err
    assert "cannot be read" in lookalike("search", "--queries", "absent.txt").err


def test_an_encoder_that_is_added_is_not_served_unasked(lookalike, workspace):
    """The one that was embedded first answers, whatever its name, until another is promoted; every place says so."""
    manifests = {name: workspace / f"embeddings/{name}/manifest.json" for name in ("color", "hog")}
    for name, day in (("color", 2), ("hog", 1)):
        manifest = json.loads(manifests[name].read_text())
        manifests[name].write_text(json.dumps({**manifest, "added": f"2026-01-0{day}T00:00:00+00:00"}))
    assert Workspace(workspace).served == "hog"
    image = Workspace(workspace).catalog.image[0]
    assert lookalike("search", image, "--json").json["encoder"] == "hog"
    shown = lookalike("status", "--json").json
    assert [one["name"] for one in shown["encoders"] if one["served"]] == ["hog"]
    assert shown["promoted"] is False
    assert "No encoder was promoted" in lookalike("status").out
    manifests["hog"].unlink()
    assert Workspace(workspace).served == "color"
    assert "No encoder was promoted" not in lookalike("status").out


def test_an_update_of_vectors_does_not_change_which_encoder_is_served(lookalike, workspace):
    """Also of vectors that an earlier version wrote, which have only the time of their own computation."""
    for name, year in (("color", 2026), ("hog", 2025)):
        path = workspace / f"embeddings/{name}/manifest.json"
        manifest = json.loads(path.read_text()) | {"created": f"{year}-01-01T00:00:00+00:00"}
        path.write_text(json.dumps({key: value for key, value in manifest.items() if key != "added"}))
    assert Workspace(workspace).served == "hog"
    assert lookalike("catalog", "remove", Workspace(workspace).catalog.image[0]).status == 0
    for _ in range(2):
        assert lookalike("embed", "--stale").status == 0  # color is updated first
        assert Workspace(workspace).served == "hog"
        assert lookalike("embed", "descriptor:hog", "--replace").status == 0
        assert Workspace(workspace).served == "hog"


def test_of_encoders_embedded_by_one_command_the_first_named_is_served(lookalike, workspace):
    assert lookalike("embed", "--remove", "color", "--remove", "hog").status == 0
    assert lookalike("embed", "descriptor:hog", "descriptor:color").status == 0
    assert Workspace(workspace).served == "hog"
