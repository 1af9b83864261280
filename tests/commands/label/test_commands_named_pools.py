"""Several pools in one workspace: made, extended and measured alone, labelled together."""

import csv

import pytest

import lookalike as library
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.queue import count_waiting, queue_pairs


@pytest.fixture
def shop(lookalike, workspace):
    """The shop's pool, and a pool of bowls with another generator, other depth and random pairs of its own."""
    assert lookalike("embed", "descriptor:lbp").status == 0
    assert lookalike("discover", "--random", 20).status == 0
    made = lookalike(
        "discover", "--pool", "bowls", "--where", "category=bowl", "--generators", "lbp,hog", "--top", 2,
        "--random", 9,
    )  # fmt: skip
    assert made.status == 0
    assert "--pool bowls" in made.out
    return workspace


def content(pool):
    return [getattr(pool, name).tolist() for name in ("query", "item", "candidate", "pair", "source", "rank")]


def label_all(lookalike, *pool):
    """Label every pair of a pool: similar means of one category."""
    lookalike("discover", "--pairs", "pairs.csv", *pool)
    with open("pairs.csv") as file:
        rows = [(row["query"], row["candidate"]) for row in csv.DictReader(file)]
    with open("labels.csv", "w") as file:
        file.write("query,candidate,label\n")
        file.writelines(f"{q},{c},{int(q.split('/')[0] == c.split('/')[0])}\n" for q, c in rows)
    assert lookalike("labels", "import", "labels.csv").status == 0


def test_a_named_pool_leaves_the_main_one_as_it_is(lookalike, workspace):
    main = Workspace(workspace).pool()
    lookalike("discover", "--pool", "bowls", "--where", "category=bowl", "--top", 2, "--random", 9)
    bowls = Workspace(workspace, pool="bowls")
    assert content(Workspace(workspace).pool()) == content(main)
    assert {query.split("/")[0] for query in bowls.pool().queries} == {"bowl"}
    assert (bowls.pool().top, len(bowls.random_pairs()), len(Workspace(workspace).random_pairs())) == (
        2,
        9,
        0,
    )
    state = lookalike("status", "--json").json
    assert state["pools"] == {"main": len(main), "bowls": len(bowls.pool())}
    assert state["pool"] == len(main)
    lookalike("embed", "descriptor:lbp")
    later = lookalike("discover", "--pool", "bowls", "--generators", "lbp", "--json").json
    assert later["extra"]["pairs"] > 0
    assert later["queries"] == 12
    assert lookalike("discover", "--pool", "bowls", "--top", 1, "--overwrite").status == 0
    assert content(Workspace(workspace).pool()) == content(main)


def test_a_pool_is_measured_on_the_labels_of_its_queries(lookalike, shop):
    label_all(lookalike)
    label_all(lookalike, "--pool", "bowls")
    labels = Workspace(shop).labels()
    of_bowls = sum(query.startswith("bowl/") for query in labels.query)
    assert 0 < of_bowls < len(labels)
    assert lookalike("labels", "stats", "--json").json["labels"] == len(labels)
    assert lookalike("labels", "stats", "--pool", "bowls", "--json").json["labels"] == of_bowls
    whole = lookalike("evaluate", "--measures", "HR@3", "--json").json
    part = lookalike("evaluate", "--pool", "bowls", "--measures", "HR@3", "--json").json
    assert part["scores"]["hog"]["HR@3"]["queries"] == 12
    assert whole["scores"]["hog"]["HR@3"]["queries"] == 36
    assert part["generators"] == ["lbp", "hog"]
    assert whole["generators"] == ["color", "hog"]
    for command in (("audit", "--json"), ("compare", "hog", "lbp", "--json"), ("report",)):
        assert lookalike(*command, "--pool", "bowls").status == 0
    assert len(library.open_workspace(shop, pool="bowls").labels) == of_bowls
    assert len(library.open_workspace(shop).labels) == len(labels)


def test_pairs_of_all_pools_are_labelled_together(lookalike, shop):
    label_all(lookalike, "--pool", "bowls")
    main, bowls = Workspace(shop), Workspace(shop, pool="bowls")
    pairs = {
        frozenset(ends)
        for source in (main.pool(), bowls.pool(), main.random_pairs(), bowls.random_pairs())
        for ends in zip(source.query, source.candidate, strict=True)
    }
    found = {frozenset(ends) for ends in zip(main.labels().query, main.labels().candidate, strict=True)}
    waiting = count_waiting(main)
    assert 0 < waiting <= len(pairs - found)
    assert queue_pairs(main).new == waiting
    assert count_waiting(main) == 0
    lookalike("discover", "--pool", "rods", "--where", "category=rod", "--generators", "lbp", "--top", 9)
    assert count_waiting(main) > 0


def test_removed_photos_leave_every_pool_and_a_backup_has_all(lookalike, shop):
    gone = Workspace(shop, pool="bowls").pool().queries[0]
    assert lookalike("backup", "kept.db").status == 0
    before = {name: len(one.pool) for name, one in Workspace(shop).every_pool().items()}
    done = lookalike("catalog", "remove", gone, "--json").json
    after = {name: len(one.pool) for name, one in Workspace(shop).every_pool().items()}
    assert all(after[name] < before[name] for name in ("main", "bowls"))
    assert done["pairs_gone"] == sum(before.values()) - sum(after.values())
    assert lookalike("restore", "kept.db", "--overwrite").status == 0
    assert {name: len(one.pool) for name, one in Workspace(shop).every_pool().items()} == before


@pytest.mark.parametrize(
    "command", [("evaluate",), ("audit",), ("compare", "hog", "color"), ("labels", "stats")]
)
def test_an_unknown_pool_is_refused_with_those_that_exist(lookalike, shop, command):
    refused = lookalike(*command, "--pool", "bowl", "--json")
    assert (refused.status, refused.json["error"]["kind"]) == (1, "PoolError")
    assert all(word in refused.err for word in ("main", "bowls", "lookalike discover --pool bowl"))


@pytest.mark.parametrize("name", ["", "a b", "-x", "x" * 101, "a/b"])
def test_a_name_that_cannot_be_typed_is_refused(lookalike, workspace, name):
    assert lookalike("discover", f"--pool={name}", "--json").json["error"]["kind"] == "PoolError"
    assert lookalike("status", "--json").json["pools"].keys() == {"main"}
