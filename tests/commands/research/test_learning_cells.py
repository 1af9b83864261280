"""Cells of the papers' tables of training: each is trained once, resumed, or gives its reason."""

import pytest

from lookalike.core.errors import ArgumentError
from lookalike.research.learning.cells import Cell, cells_of, train_cell, train_cells
from lookalike.research.learning.methods import METHODS, method
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn.finetune import TrainingCallbacks

TINY = {"part": "network", "epochs": 1, "batch": 24, "projection": 8, "prototypes": 16}


def test_every_method_of_the_papers_is_a_request():
    made = {name: one.request(TINY) for name, one in METHODS.items() if one.settings}
    assert {name: (one.loss, one.positives, one.keep) for name, one in made.items()} == {
        "SupCon_SPA": ("supcon", "soft", "best"),
        "Con_SPA": ("con", "soft", "best"),
        "TRPL_SPA": ("trpl", "soft", "best"),
        "SupCon": ("supcon", "labels", "best"),
        "Con": ("con", "labels", "best"),
        "TRPL": ("trpl", "labels", "best"),
        "SupCon_NSPA": ("supcon", "full", "best"),
        "Con_NSPA": ("con", "full", "best"),
        "TRPL_NSPA": ("trpl", "full", "best"),
        "SimCLR": ("simclr", "soft", "best"),
        "DINO": ("dino", "soft", "best"),
        "ID": ("item", "soft", "last"),
        "CAT": ("category", "soft", "last"),
        "ID+C": ("item+category", "soft", "last"),
        "FT": ("dino", "soft", "last"),
    }
    assert {name for name, one in made.items() if one.prototypes == 16} == {"DINO", "FT"}
    assert {name for name, one in made.items() if one.projection is None} == {
        "DINO",
        "FT",
        "ID",
        "CAT",
        "ID+C",
    }
    assert all((one.part, one.epochs, one.batch) == ("network", 1, 24) for one in made.values())
    assert METHODS["Pre"].encoder("base") == "base"
    assert METHODS["TRPL_NSPA"].encoder("base") == "base-trpl-nspa"


def test_cells_become_encoders_and_are_read_again(taught):
    opened, done = Workspace(taught), []
    cells = cells_of(["base"], [METHODS[name] for name in ("Pre", "Con_SPA", "SupCon", "ID+C")], TINY)
    found = list(train_cells(opened, cells, progress=lambda at, total: done.append(at / total)))
    assert [one.reason for one in found] == [""] * 4
    assert [one.cell.name for one in found] == ["base", "base-con-spa", "base-supcon", "base-id+c"]
    assert {one.cell.name for one in found} == set(opened.encoders)
    assert done == sorted(done)
    again = list(train_cells(opened, cells))
    assert [one.outcome and one.outcome.history for one in again] == [
        one.outcome and one.outcome.history for one in found
    ]


def test_a_stopped_table_goes_on_with_the_cell_it_was_at(taught):
    opened, epochs = Workspace(taught), []
    cells = cells_of(["base"], [METHODS["SupCon"], METHODS["CAT"]], {**TINY, "epochs": 3})

    def stop(epoch):
        epochs.append(epoch.number)
        if len(epochs) == 5:  # the second of the second cell
            raise KeyboardInterrupt

    callbacks = TrainingCallbacks(epoch=stop, every=0.0)
    with pytest.raises(KeyboardInterrupt):
        list(train_cells(opened, cells, callbacks=callbacks))
    assert set(opened.encoders) == {"base", "base-supcon"}
    first, second = train_cells(opened, cells)
    assert (first.outcome.resumed, second.outcome.resumed, len(second.outcome.history)) == (3, 1, 3)


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("SimCLR", {"part": "head"}, "which needs photos"),
        ("SupCon", {"rate": 1e30}, "Training"),
        ("SupCon", {"epochs": 0}, "epochs"),
    ],
)
def test_a_cell_that_cannot_be_trained_ends_no_other(taught, name, settings, words):
    opened = Workspace(taught)
    failing, works = Cell("base", METHODS[name], TINY | settings), Cell("base", METHODS["CAT"], TINY)
    found = list(train_cells(opened, [failing, works]))
    assert words in found[0].reason
    assert found[0].outcome is None
    assert (found[1].reason, found[1].outcome.encoder) == ("", "base-cat")
    assert train_cell(opened, failing).reason == found[0].reason  # said again, not a name that is taken


def test_other_settings_under_one_name_are_said(taught):
    opened = Workspace(taught)
    assert train_cell(opened, Cell("base", METHODS["CAT"], TINY)).reason == ""
    assert (
        "batch was 24 and is now 12"
        in train_cell(opened, Cell("base", METHODS["CAT"], TINY | {"batch": 12})).reason
    )


def test_a_method_is_found_by_its_name_in_the_papers():
    assert method("supcon_spa") is METHODS["SupCon_SPA"]
    with pytest.raises(ArgumentError) as refused:
        method("ArcFace")
    assert "SupCon_NSPA" in refused.value.fix
