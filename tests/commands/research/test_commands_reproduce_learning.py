"""`reproduce` with trained encoders: VSD Tables 2 to 4 and the tables of EDS, as a person types them."""

import csv
import json
import math

import numpy as np
import pytest
from learning_studio import NETWORK, add_true_labels

from lookalike.core.types import Rule, Scores
from lookalike.evaluate.significance.compare import holm
from lookalike.evaluate.significance.summary import significance
from lookalike.research.learning.cells import Cell, train_cell
from lookalike.research.learning.methods import METHODS, ablation
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.evaluate import evaluate

HEADS = ("--part", "head", "--epochs", 2, "--batch", 24)
COLUMNS = {
    "EHR@5": "EHR / @5",
    "EHR@20": "EHR / @20",
    "AUC_mac": "AUC / mac",
    "AUC_mic": "AUC / mic",
    "DCS(alpha=10)": "DCS",
}
BEST = "best supervised - best other"


def flat(text: str) -> str:
    return " ".join(text.split())


def ours(shown) -> dict[tuple[str, ...], dict]:
    """Our figures by the names of the row and the column."""
    return {(*cell["row"].values(), cell["column"]): cell["ours"] for cell in shown["cells"] if cell["ours"]}


def test_without_trained_cells_it_names_them_and_the_command(lookalike, taught):
    shown = lookalike("reproduce", "vsd-table-2", "--methods", "Con,DINO,Pre", "--json").json
    assert ours(shown) == {}
    assert "Missing: 2 cells of 3. base-con and base-dino: not trained." in shown["missing"]
    assert "lookalike reproduce vsd-table-2 --train --methods Con,DINO,Pre" in shown["missing"]


def test_table_2_trains_what_is_missing_and_scores_it_on_the_test_split(lookalike, taught):
    asked = ("reproduce", "vsd-table-2", "--methods", "SupCon_SPA,SupCon,SimCLR,Pre", *HEADS)
    first = lookalike(*asked, "--train")
    assert first.status == 0, first.err
    words = flat(first.out)
    assert "3 encoders to train" in words
    assert "base-supcon-spa: epoch" in words
    assert "base-simclr: loss is 'simclr', which needs photos" in words  # and the others are trained
    shown = lookalike(*asked, "--json").json
    table, opened = ours(shown), Workspace(taught)
    names = {"SupCon_SPA": "base-supcon-spa", "SupCon": "base-supcon", "Pre": "base"}
    found = evaluate(opened, list(names.values()), tuple(COLUMNS), rule=Rule(split="test"))
    scores = {one.encoder: one for one in found.scores}
    values = {}
    for method, encoder in names.items():
        for measure, column in COLUMNS.items():
            cell, one = table["base", method, column], scores[encoder][measure]
            assert cell["value"] == pytest.approx(100 * one.value)
            assert cell["n"] == one.queries
            assert one.queries < 10 or cell["low"] <= cell["value"] <= cell["high"]
            values[method, measure] = one.value
    adjusted, p = [], []
    for measure, column in COLUMNS.items():
        best = max(("SupCon_SPA", "SupCon"), key=lambda method: values[method, measure])
        difference = table["base", BEST, column]
        assert difference["value"] == pytest.approx(100 * (values[best, measure] - values["Pre", measure]))
        pair = [
            Scores(name, scores[name].basis, {measure: scores[name][measure]})
            for name in (names[best], "base")
        ]
        (tested,) = significance(pair).comparisons[measure]
        over_queries = measure in ("EHR@5", "EHR@20", "AUC_mac")
        assert over_queries or math.isnan(tested.p_t)
        p.append(tested.p_t if over_queries else tested.p)
        adjusted.append(difference["p"])
    assert adjusted == pytest.approx(holm(np.array(p)).tolist())
    remarks = flat(" ".join(shown["remarks"]))
    below = sum(values["SupCon_SPA", one] <= values["SupCon", one] for one in COLUMNS)
    lost = sum(
        values[method, one] <= values["Pre", one] for one in COLUMNS for method in ("SupCon_SPA", "SupCon")
    )
    assert f"SPA is not above the method without it in {below} of 5 cells here" in remarks
    assert f"Training on labels is not above the encoder as it is in {lost} of 10 cells here" in remarks
    assert "part head, epochs 2, batch 24" in remarks
    again = flat(lookalike(*asked, "--train").out)
    assert "1 encoder to train" in again  # the one that needs photos


def test_cells_are_written_with_their_intervals(lookalike, taught):
    opened = Workspace(taught)
    for name in ("SupCon_SPA", "SupCon_NSPA"):
        assert train_cell(opened, Cell("base", METHODS[name], {"epochs": 1, "batch": 24})).reason == ""
    done = lookalike("reproduce", "vsd-table-3", "--output", "t.csv")
    assert (done.status, done.err) == (0, ""), done.out
    with (taught / "t.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["ours"]]
    assert {row["Method"] for row in rows} == {"SupCon_SPA", "SupCon_NSPA", "Pre", BEST}
    assert all(
        float(row["ours_low"]) <= float(row["ours"]) <= float(row["ours_high"])
        for row in rows
        if row["ours_low"]
    )
    assert any(row["ours_low"] for row in rows)
    text = flat(lookalike("reproduce", "vsd-table-3").out)
    assert "Soft weight is not above full weight (NSPA) in" in text
    assert "Missing: 1 cell of 4. base-supcon: not trained." in text


def test_a_cell_with_other_settings_or_a_stopped_training_is_said(lookalike, taught):
    opened = Workspace(taught)
    for name in ("SupCon", "Con"):
        assert train_cell(opened, Cell("base", METHODS[name], {"epochs": 1, "batch": 24})).reason == ""
    about = taught / "models/base-con/checkpoint.json"
    found = json.loads(about.read_text())
    found["learned"]["stopped"] = "the loss became infinite in epoch 2"
    about.write_text(json.dumps(found))
    asked = ("reproduce", "vsd-table-2", "--methods", "SupCon,Con,Pre")
    assert "base-con: the loss became infinite in epoch 2." in flat(lookalike(*asked).out)
    text = flat(lookalike(*asked, "--epochs", 2).out)
    assert "base-supcon and base-con: trained with epochs 1." in text
    assert "Train: lookalike reproduce vsd-table-2 --train --epochs 2 --methods SupCon,Con,Pre" in text


def test_why_a_training_failed_is_in_the_table(lookalike, taught):
    done = lookalike(
        "reproduce", "vsd-table-2", "--methods", "SupCon,Pre", *HEADS, "--rate", 1e30, "--train", "--json"
    )
    assert done.status == 0, done.err
    assert "base-supcon: Training on base stopped" in flat(done.json["missing"])


def test_table_4_names_the_choice_of_the_validation_split(lookalike, taught):
    opened, methods = Workspace(taught), ablation()
    assert len(methods) == 30
    assert methods[7, 0.7] is METHODS["SupCon_SPA"]
    values = {}
    for at in ((2, 0.1), (3, 0.5), (7, 0.7)):
        found = train_cell(opened, Cell("base", methods[at], {"epochs": 1, "batch": 24}))
        settings = json.loads((taught / f"models/{found.cell.name}/run.json").read_text())["settings"]
        assert (settings["max_distance"], settings["beta"], settings["loss"]) == (*at, "supcon")
        values[at] = found.outcome.value
    shown = lookalike("reproduce", "vsd-table-4", "--json").json
    assert {names[:2] for names in ours(shown)} == {("2", "0.10"), ("3", "0.50"), ("7", "0.70")}
    longest, beta = max(values, key=lambda at: values[at])
    remarks = flat(" ".join(shown["remarks"]))
    assert f"base: of 3 cells, the validation split chooses L = {longest} and beta = {beta:g}" in remarks
    assert f"{max(values.values()):.4f}" in remarks
    assert "Missing: 27 cells of 30." in remarks
    paper = {(*cell["row"].values(), cell["column"]): cell["paper"] for cell in shown["cells"]}
    assert paper["7", "0.70", "Fashion / DCS"] == "69.92"


def test_encoders_that_classify_stand_in_the_rows_of_the_paper(lookalike, unlabelled):
    assert lookalike("embed", NETWORK, "--name", "argus").status == 0
    tiny = ("--encoders", "argus", "--epochs", 1, "--batch", 24)
    done = lookalike("reproduce", "eds-table-2", "--train", *tiny, "--methods", "ID")
    assert done.status == 0, done.err
    assert "argus-id: epoch 1 of 1" in done.out
    assert "no pool" in done.out
    assert lookalike("discover", "--generators", "base,argus,argus-id", "--top", 3).status == 0
    add_true_labels(unlabelled)
    overlap = lookalike("reproduce", "eds-table-2", "--json").json
    assert ("argus-id", "argus") in ours(overlap)
    assert "Trained without labels: argus-id." in flat(" ".join(overlap["remarks"]))
    for key, printed in (("eds-table-3", "AS ID"), ("eds-table-4", "AS ID")):
        found = lookalike("reproduce", key, "--json").json
        shared = [cell for cell in found["cells"] if cell["row"]["Model"] == printed]
        assert all(cell["paper"] and cell["ours"] for cell in shared)
        assert {cell["row"]["Model"] for cell in found["cells"] if cell["ours"]} == {"AS", "AS ID", "base"}
    found = lookalike("reproduce", "eds-table-5", "--json").json
    rows = {tuple(cell["row"].values()) for cell in found["cells"] if cell["ours"]}
    assert rows == {("GT generators", name) for name in ("Argus", "Argus ID", "base")}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("vsd-table-1", "--train"), "Nothing is trained for vsd-table-1"),
        (("vsd-table-2", "--methods", "ArcFace"), "no method 'ArcFace'"),
        (("vsd-table-2", "--encoders", "nowhere"), "nowhere"),
        (("vsd-table-4", "--encoders", "base,other"), "other"),
        (("vsd-table-2", "--epochs", 0), "epochs"),
    ],
)
def test_what_cannot_be_trained_is_refused(lookalike, taught, arguments, words):
    result = lookalike("reproduce", *arguments)
    assert result.status != 0
    assert words in flat(result.err)


def test_without_a_network_it_says_what_can_be_trained(lookalike, labelled):
    assert "No encoder here is a network" in flat(lookalike("reproduce", "vsd-table-2").out)
    text = flat(lookalike("reproduce", "vsd-table-2", "--part", "head", "--methods", "Con").out)
    assert "color-con and hog-con: not trained" in text
