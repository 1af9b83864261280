"""A pool grows: more queries join at random, and nothing of what was there is lost."""

import numpy as np
import pytest

from lookalike.store.workspace import Workspace


@pytest.fixture
def ten(lookalike, photos, tmp_path):
    """A workspace whose pool has 10 of the 36 queries."""
    for words in (
        ("init", photos),
        ("embed", "descriptor:color", "descriptor:hog"),
        ("discover", "--top", 3, "--queries", 10),
    ):
        assert lookalike(*words).status == 0
    return tmp_path


def label_all(lookalike, folder):
    pool = Workspace(folder).pool()
    ends = zip(pool.query.tolist(), pool.candidate.tolist(), strict=True)
    rows = [
        f"{query},{candidate},{int(query.split('/')[0] == candidate.split('/')[0])}"
        for query, candidate in ends
    ]
    (folder / "labels.csv").write_text("\n".join(["query,candidate,label", *rows]) + "\n")
    assert lookalike("labels", "import", "labels.csv").status == 0


def pairs(pool):
    return dict(
        zip(zip(pool.query.tolist(), pool.item.tolist(), strict=True), pool.candidate.tolist(), strict=True)
    )


def test_queries_are_added_and_all_pairs_and_labels_stay(lookalike, ten):
    before = Workspace(ten).pool()
    label_all(lookalike, ten)
    assert lookalike("embed", "descriptor:layout").status == 0
    found = lookalike("discover", "--queries", 25, "--json")
    assert found.status == 0, found.err
    after = Workspace(ten).pool()
    assert set(before.queries.tolist()) < set(after.queries.tolist())
    assert len(after.queries) == 25
    assert after.generators == before.generators  # an encoder that came later was not named
    assert pairs(before).items() <= pairs(after).items()
    assert found.json["labelled"] == len(before)
    assert found.json["extra"]["pairs"] == len(after) - len(before)


def test_random_pairs_stay_those_of_the_queries_that_were_there(lookalike, ten):
    assert lookalike("discover", "--random", 12).status == 0
    drawn = Workspace(ten).random_pairs()
    found = lookalike("discover", "--queries", 25)
    assert found.status == 0, found.err
    assert "before the catalog or the queries changed" in " ".join(found.out.split())
    after = Workspace(ten).random_pairs()
    assert after.query.tolist() == drawn.query.tolist()
    refused = lookalike("discover", "--random", 20)
    assert refused.status == 1
    assert "--overwrite --random 20" in refused.err


def test_the_same_number_changes_nothing_and_a_smaller_one_is_refused(lookalike, ten):
    before = Workspace(ten).pool()
    assert lookalike("discover", "--queries", 10).status == 0
    assert pairs(Workspace(ten).pool()) == pairs(before)
    refused = lookalike("discover", "--queries", 5)
    assert refused.status == 1
    assert "grows with a larger number: --queries 20" in " ".join(refused.err.split())


def test_all_queries_are_the_most_and_conditions_hold_for_those_that_join(lookalike, ten):
    first = set(Workspace(ten).pool().queries.tolist())
    assert lookalike("discover", "--queries", 14, "--where", "category=box").status == 0
    joined = set(Workspace(ten).pool().queries.tolist()) - first
    assert joined
    assert all(query.startswith("box/") for query in joined)
    assert lookalike("discover", "--queries", 1000).status == 0
    assert len(Workspace(ten).pool().queries) == 36


def test_new_queries_need_the_lists_of_all_generators(lookalike, ten):
    refused = lookalike("discover", "--queries", 20, "--generators", "hog")
    assert refused.status == 1
    assert "--generators color,hog" in refused.err
    assert lookalike("discover", "--queries", 20, "--generators", "hog,color").status == 0


def test_a_comparison_that_all_labels_leave_open_names_the_command_that_adds_queries(lookalike, ten):
    for name, seed in (("v", 3), ("w", 4)):
        np.save(ten / f"{name}.npy", np.random.default_rng(seed).standard_normal((36, 8)))
        assert lookalike("embed", f"precomputed:{name}.npy", "--name", name).status == 0
    assert (
        lookalike("discover", "--generators", "v,w", "--top", 3, "--queries", 10, "--overwrite").status == 0
    )
    label_all(lookalike, ten)
    shown = " ".join(lookalike("compare", "v", "w", "-k", 3).out.split())
    assert "No pair is left to label on these 10 queries." in shown
    assert shown.endswith(
        "Next: lookalike discover --queries 60 lookalike compare v w --measure HR@3 --labels 200"
    )
    assert lookalike("discover", "--queries", 60).status == 0
    assert "--labels" in lookalike("compare", "v", "w", "-k", 3).out.partition("Next: ")[2]
    drawn = lookalike("compare", "v", "w", "-k", 3, "--labels", 200, "--json")
    assert drawn.status == 0, drawn.err
    assert drawn.json["sample"]["pairs"] > 0
