"""A workspace whose database is PostgreSQL: the same commands, the same answers."""

import csv
from pathlib import Path

import pytest

MEASURES = "HR@3,EMRR@3,AUC_mac,DCS"


def loop(lookalike, photos, folder, *more):
    """From photos to measures; returns the printed pool, labels and measures, and the labels as a file."""
    at = ("--workspace", folder)
    Path("pairs.csv").unlink(missing_ok=True)
    result = [lookalike("init", photos, *at, *more, "--json")]
    result += [lookalike("embed", "descriptor:color", "descriptor:hog", *at, "--json")]
    result += [lookalike("discover", "--top", 3, "--random", 20, *at, "--pairs", "pairs.csv", "--json")]
    assert [one.status for one in result] == [0, 0, 0], result[-1].err
    with Path("pairs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = str(int(row["query"].split("/")[0] == row["candidate"].split("/")[0]))
    with Path("labels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    assert lookalike("labels", "import", "labels.csv", *at).status == 0
    assert lookalike("labels", "export", "out.csv", *at, "--force").status == 0
    scores = lookalike("evaluate", "--measures", MEASURES, *at, "--json")
    status = lookalike("status", *at)
    assert (scores.status, status.status) == (0, 0), status.err
    return result[2].json, scores.json, Path("out.csv").read_bytes()


def test_the_whole_loop_says_the_same_on_both(lookalike, photos, postgresql):
    here = loop(lookalike, photos, "one")
    there = loop(lookalike, photos, "two", "--database", postgresql.fresh())
    assert here == there
    assert not Path("two/lookalike.db").exists()
    assert Path("one/lookalike.db").exists()


def test_a_database_that_holds_a_workspace_is_not_overwritten(lookalike, photos, postgresql):
    address = postgresql.fresh()
    assert lookalike("init", photos, "--workspace", "one", "--database", address).status == 0
    result = lookalike("init", photos, "--workspace", "two", "--database", address)
    assert (result.status, "--overwrite" in result.err) == (1, True)
    assert not Path("two").exists()
    assert lookalike("status", "--workspace", "one").status == 0
    assert lookalike("init", photos, "--workspace", "two", "--database", address, "--overwrite").status == 0


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("mysql://me@localhost/shop", "not an address"),
        ("nonsense", "not an address"),
        ("postgresql://me:hush@127.0.0.1:1/shop", "PostgreSQL runs there"),
    ],
)
def test_an_address_that_cannot_be_used_says_so(lookalike, photos, address, words):
    result = lookalike("init", photos, "--workspace", "one", "--database", address)
    assert (result.status, words in result.err, "hush" in result.err) == (1, True, False), result.err
    assert not Path("one").exists()


def test_a_server_that_is_gone_is_named(lookalike, photos, postgresql):
    address = postgresql.fresh()
    assert lookalike("init", photos, "--workspace", "one", "--database", address).status == 0
    settings = Path("one/lookalike.toml")
    settings.write_text(settings.read_text().replace(str(postgresql.port), "1"))
    result = lookalike("status", "--workspace", "one")
    assert (result.status, "Traceback" in result.err, "PostgreSQL" in result.err) == (1, False, True)
