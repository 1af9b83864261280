"""A workspace that an earlier version made works with this one: nothing is lost, and measures have the same values.

`earlier` holds one archive per version of the database, each a whole workspace: 12 photos, two encoders, a pool, labels
and an account. That version also wrote `evaluation.json` and `labels.csv`. 1000 is the oldest version that can be
opened; 1007 is the version before upgrades were tested.
"""

import json
import sqlite3
import tarfile
from pathlib import Path

import pytest

from lookalike.store.sql.database import VERSION

EARLIER = Path(__file__).parent / "earlier"


@pytest.fixture(params=["1000", "1007"])
def upgraded(request, lookalike, tmp_path) -> str:
    """The version that made the workspace in the current folder."""
    with tarfile.open(EARLIER / f"{request.param}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    assert version() == request.param
    return request.param


def version() -> str:
    """The version of the database, read without this program."""
    with sqlite3.connect("lookalike.db") as connection:
        ((found,),) = connection.execute("SELECT version_num FROM alembic_version")
    connection.close()
    return found


def test_status_finds_everything_and_brings_the_database_to_this_version(lookalike, upgraded):
    found = lookalike("status", "--json").json
    assert version() == VERSION
    counted = ("images", "items", "categories", "left_out", "pool", "pool_labelled", "labels", "next")
    assert [found[name] for name in counted] == [12, 6, 2, 0, 35, 28, 28, "lookalike evaluate"]
    shown = [(one["name"], one["spec"], one["state"], one["dimension"]) for one in found["encoders"]]
    assert shown == [("color", "descriptor:color", "", 486), ("layout", "descriptor:layout", "", 193)]
    assert lookalike("doctor", "--deep", "--json").json["sound"]


def test_measures_have_the_values_that_the_earlier_version_printed(lookalike, upgraded):
    before = json.loads(Path("evaluation.json").read_text(encoding="utf-8"))["scores"]
    now = lookalike("evaluate", "--research", "--json").json["scores"]
    assert set(now) == {"color", "layout"}
    for encoder, measured in now.items():
        common = set(measured) & set(before[encoder])
        assert len(common) >= 9
        for name in common:
            was = before[encoder][name]
            assert measured[name]["value"] == pytest.approx(was["value"], rel=1e-9), name
            assert measured[name]["queries"] == was["queries"], name


def test_labels_and_people_are_kept_and_can_be_added(lookalike, upgraded):
    before = Path("labels.csv").read_text(encoding="utf-8").splitlines()
    assert lookalike("labels", "export", "again.csv").status == 0
    now = Path("again.csv").read_text(encoding="utf-8").splitlines()
    assert (now[0], sorted(now)) == (before[0], sorted(before))  # 1000 wrote the rows in another order
    Path("more.csv").write_text("query,candidate,label\nbowl/000/1.bmp,box/001/1.bmp,0\n", encoding="utf-8")
    assert lookalike("labels", "import", "more.csv", "--json").json["added"] == 1
    assert lookalike("labels", "stats", "--json").json["labels"] == 29
    assert [one["name"] for one in lookalike("users", "list", "--json").json["people"]] == ["ada"]


def test_vectors_are_used_and_the_catalog_needs_no_new_ones(lookalike, upgraded):
    vectors = [path.read_bytes() for path in sorted(Path("embeddings").rglob("*.npy"))]
    changed = lookalike("catalog", "refresh", "--json").json
    assert (changed["kept"], changed["updated"], changed["stale"]) == (12, 0, [])
    assert lookalike("embed", "descriptor:color", "descriptor:layout").status == 0
    assert [path.read_bytes() for path in sorted(Path("embeddings").rglob("*.npy"))] == vectors
    found = lookalike("search", "bowl/000/1.bmp", "-k", 3, "--encoder", "color", "--json").json["results"]
    assert len({one["item"] for one in found} - {"bowl/000"}) == 3
    assert lookalike("embed", "descriptor:hog").status == 0
    assert lookalike("discover", "--generators", "color,layout,hog", "--top", 2).status == 0
    assert lookalike("evaluate").status == 0


@pytest.mark.parametrize("newer", ["database", "settings"])
def test_a_workspace_of_a_newer_version_is_refused_by_every_command(lookalike, upgraded, newer):
    if newer == "database":
        with sqlite3.connect("lookalike.db") as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.close()
    else:
        settings = Path("lookalike.toml")
        settings.write_text(settings.read_text().replace("format = 3", "format = 99"))
    before = Path("lookalike.db").read_bytes()
    for words in (
        ["status"],
        ["evaluate"],
        ["labels", "stats"],
        ["embed", "descriptor:hog"],
        ["serve", "--port", "0"],
    ):
        done = lookalike(*words)
        assert done.status == 1
        assert "A newer Lookalike wrote" in done.err
        assert "Install the newer version" in done.err
    assert Path("lookalike.db").read_bytes() == before
