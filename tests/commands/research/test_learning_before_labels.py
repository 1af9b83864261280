"""Classification and self-supervision that keep the last epoch need no label, so they can feed the pool (EDS 6.1)."""

import json
import shutil

import pytest
from learning_studio import add_true_labels

from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.trained import is_trained, trained

TINY = ("--part", "network", "--epochs", 1, "--batch", 24)


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def generators(lookalike, unlabelled):
    """A catalog without labels, pooled from an encoder and from one that classifies its items."""
    done = lookalike("finetune", "base", "--name", "base-id", "--loss", "item", "--keep", "last", *TINY)
    assert done.status == 0, done.err
    assert "It learns from item. The last epoch is kept, as requested." in flat(done.out)
    done = lookalike("discover", "--generators", "base,base-id", "--top", 3)
    assert done.status == 0, done.err
    return unlabelled


def test_an_encoder_that_saw_no_label_feeds_the_pool_and_is_judged_on_all_labels(lookalike, generators):
    assert Workspace(generators).pool().generators == ("base", "base-id")
    add_true_labels(generators)
    assert trained(Workspace(generators)) == ()
    found = lookalike("evaluate", "--measures", "EHR@5", "--json").json
    assert (found["split"], set(found["scores"])) == (None, {"base", "base-id"})
    left_out = lookalike("audit", "--json").json["leave_one_out"]["omissions"]
    assert [one["generator"] for one in left_out] == ["base", "base-id"]


def test_labels_that_come_later_change_nothing(lookalike, generators):
    before = (generators / "models/base-id/run.json").read_bytes()
    assert json.loads(before)["labels"] == ""
    add_true_labels(generators)
    again = lookalike("finetune", "base", "--name", "base-id", "--loss", "item", "--keep", "last", *TINY)
    assert again.status == 0, again.err
    assert (generators / "models/base-id/run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("asked", "used"),
    [
        (("--loss", "category", "--keep", "last"), False),
        (("--loss", "category"), True),  # labels choose the epoch
        (("--loss", "supcon", "--keep", "last", "--projection", 8), True),
    ],
)
def test_labels_in_the_loss_or_in_the_choice_of_the_epoch_make_it_trained(lookalike, taught, asked, used):
    assert lookalike("finetune", "base", "--name", "first", *asked, *TINY).status == 0
    assert (
        lookalike("finetune", "first", "--name", "second", "--loss", "item", "--keep", "last", *TINY).status
        == 0
    )
    opened = Workspace(taught)
    assert (is_trained(opened, "first"), is_trained(opened, "second")) == (used, used)
    shutil.rmtree(taught / "models/first")  # what it was trained on is no longer known
    assert is_trained(opened, "second")
