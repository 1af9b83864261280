"""Cells of VSD Tables 2 to 4 that contradict the text or repeat others (SPEC 15); notes and documentation name them."""

from collections import Counter
from pathlib import Path
from statistics import fmean

import pytest

from lookalike.research.papers.published import published

PAGE = (Path(__file__).parents[2] / "docs/research/papers.md").read_text(encoding="utf-8")
Key = tuple[str, str, str]  # dataset, backbone, method
LOSSES, SELF_SUPERVISED = ("SupCon", "Con", "TRPL"), ("SimCLR", "DINO")
PRINTED = {
    "EHR@5": "EHR / @5",
    "EHR@20": "EHR / @20",
    "AUC_mac": "AUC / mac",
    "AUC_mic": "AUC / mic",
    "DCS": "DCS",
}


def rows(table: str) -> dict[Key, dict[str, str]]:
    """The rows of a dataset that have all their cells; measures by our names."""
    one = published(table)
    return {
        (dataset, *row.names): {
            name: row.cells[one.columns.index(f"{dataset} / {column}")] for name, column in PRINTED.items()
        }
        for dataset in ("Furniture", "Fashion")
        for row in one.rows
    }


FINETUNED = rows("vsd-table-2")
NOT_SOFT = {key: row for key, row in rows("vsd-table-3").items() if key[2] == "SupCon_NSPA"}
ABLATION = rows("vsd-table-4")  # dataset as printed, L, beta


def noted(table: str, words: str) -> set[tuple[str, ...]]:
    """Cells of the one note with these words: dataset, backbone, column, method."""
    one, measures = published(table), {column: name for name, column in PRINTED.items()}
    (note,) = (note for note in one.notes if words in note.text)
    found = set()
    for row, column in note.cells:
        dataset, _, measure = one.columns[column].partition(" / ")
        backbone, method = one.rows[row].names
        found.add((dataset, backbone, measures[measure], method))
    return found


def not_above(first: str, second: str) -> set[tuple[str, str, str]]:
    """Cells (dataset, backbone, column) in which one method is not above another."""
    return {
        (dataset, backbone, column)
        for dataset, backbone, method in FINETUNED
        if method == first and (dataset, backbone, second) in FINETUNED
        for column, value in FINETUNED[dataset, backbone, first].items()
        if float(value) <= float(FINETUNED[dataset, backbone, second][column])
    }


def test_the_tables_are_whole():
    methods = Counter(backbone for _, backbone, _ in FINETUNED)
    assert methods == {"SWAG": 16, "OC": 16, "DINO2": 18, "BEiT": 18}
    assert (len(NOT_SOFT), len(ABLATION)) == (8, 60)
    assert all(
        len(row) == 5 and all(50 > 100 - float(cell) > 0 or float(cell) > 40 for cell in row.values())
        for row in (*FINETUNED.values(), *NOT_SOFT.values(), *ABLATION.values())
    )


def test_soft_positives_are_below_plain_in_4_of_120_cells():
    """7.2.3: "applying SPA improves performance of all supervised methods"."""
    below = {(*cell, loss) for loss in LOSSES for cell in not_above(f"{loss}_SPA", loss)}
    assert below == {
        ("Furniture", "SWAG", "AUC_mac", "Con"),
        ("Furniture", "OC", "AUC_mac", "Con"),
        ("Fashion", "DINO2", "EHR@5", "Con"),
        ("Fashion", "DINO2", "EHR@20", "Con"),
    }
    assert noted("vsd-table-2", "4 of 120") == {(*cell[:3], f"{cell[3]}_SPA") for cell in below}
    cells = sum(len(row) for (_, _, method), row in FINETUNED.items() if method.endswith("_SPA"))
    assert cells == 120
    differences = [
        float(FINETUNED[key][column]) - float(FINETUNED[(*key[:2], key[2].removesuffix("_SPA"))][column])
        for key in FINETUNED
        if key[2].endswith("_SPA")
        for column in FINETUNED[key]
    ]
    assert min(differences) == pytest.approx(-0.17)


def test_supervised_is_below_pretrained_in_4_of_240_cells():
    """7.2.3: all supervised methods outperform the pretrained versions and the self-supervised methods."""
    supervised = [*LOSSES, *(f"{loss}_SPA" for loss in LOSSES)]
    below = {(*cell, method) for method in supervised for cell in not_above(method, "Pre")}
    assert below == {
        ("Fashion", "OC", "EHR@5", "Con"),
        ("Fashion", "OC", "EHR@5", "SupCon"),
        ("Fashion", "OC", "EHR@20", "SupCon"),
        ("Furniture", "DINO2", "EHR@5", "Con"),
    }
    assert noted("vsd-table-2", "4 of 240") == below
    against = [
        (*cell, m, other) for m in supervised for other in SELF_SUPERVISED for cell in not_above(m, other)
    ]
    assert Counter((cell[0], cell[1], cell[-1]) for cell in against) == {
        ("Fashion", "OC", "SimCLR"): 5,
        ("Fashion", "SWAG", "SimCLR"): 1,
        ("Furniture", "BEiT", "SimCLR"): 2,
    }
    assert noted("vsd-table-2", "below SimCLR") == {cell[:4] for cell in against}


def test_what_the_text_says_of_means_and_of_datasets():
    """7.2.3: SupCon_SPA is best on average, TRPL_SPA by DCS on Furniture; Fashion is above Furniture."""
    for dataset, by_dcs in (("Furniture", "TRPL_SPA"), ("Fashion", "SupCon_SPA")):
        of = {key[1:]: row for key, row in FINETUNED.items() if key[0] == dataset}
        means = {
            method: fmean(float(cell) for key, row in of.items() if key[1] == method for cell in row.values())
            for method in (*LOSSES, *(f"{loss}_SPA" for loss in LOSSES), "Pre")
        }
        assert max(means, key=lambda method: means[method]) == "SupCon_SPA"
        for backbone in ("SWAG", "OC", "DINO2", "BEiT"):
            scores = {key[1]: float(row["DCS"]) for key, row in of.items() if key[0] == backbone}
            assert max(scores, key=lambda method: scores[method]) == by_dcs
    lower = {
        ("Fashion", backbone, column, method)
        for dataset, backbone, method in FINETUNED
        for column in PRINTED
        if dataset == "Fashion"
        and float(FINETUNED[dataset, backbone, method][column])
        <= float(FINETUNED["Furniture", backbone, method][column])
    }
    assert noted("vsd-table-2", "6 of 170") == lower
    high = Counter(
        dataset
        for (dataset, _, _), row in FINETUNED.items()
        if float(row["DCS"]) >= min(float(row["AUC_mac"]), float(row["AUC_mic"]))
    )
    assert high == {"Fashion": 30, "Furniture": 1}
    assert "30 of 34 rows" in PAGE


def test_the_headings_of_table_4_are_swapped():
    """What it calls Fashion is in the range of Furniture in Table 2, and the reverse."""
    for column in PRINTED:
        printed = [float(row[column]) for (dataset, *_), row in ABLATION.items() if dataset == "Fashion"]
        others = {
            name: [float(row[column]) for (dataset, *_), row in FINETUNED.items() if dataset == name]
            for name in ("Fashion", "Furniture")
        }
        apart = {name: abs(fmean(printed) - fmean(values)) for name, values in others.items()}
        assert apart["Furniture"] < apart["Fashion"]


def test_the_setting_of_table_2_has_other_values_in_table_4():
    """C.2: L = 7 and beta = .7 has the best DCS; no row of SupCon_SPA in Table 2 has its values."""
    for printed, dataset in (("Fashion", "Furniture"), ("Furniture", "Fashion")):
        of = {key[1:]: row for key, row in ABLATION.items() if key[0] == printed}
        assert max(of, key=lambda at: float(of[at]["DCS"])) == ("7", "0.70")
        chosen = of["7", "0.70"]
        spa = [row for key, row in FINETUNED.items() if (key[0], key[2]) == (dataset, "SupCon_SPA")]
        assert chosen not in spa
        assert dataset == "Fashion" or float(chosen["EHR@5"]) > max(float(row["EHR@5"]) for row in spa)
        near = [
            float(row["DCS"])
            for (longest, beta), row in of.items()
            if int(longest) >= 5 and float(beta) >= 0.5
        ]
        assert max(near) - min(near) == pytest.approx({"Furniture": 0.25, "Fashion": 0.31}[dataset])


def test_table_3_repeats_table_2():
    for key, row in rows("vsd-table-3").items():
        assert key in NOT_SOFT or FINETUNED[key] == row


def test_18_of_the_40_cells_of_nspa_in_table_3_repeat_another_row():
    repeated = {
        (dataset, backbone, column, method)
        for (dataset, backbone, _), row in NOT_SOFT.items()
        for column, value in row.items()
        for (other, model, method), cells in FINETUNED.items()
        if (other, model) == (dataset, backbone) and cells[column] == value
    }
    assert repeated == {
        *(("Furniture", "OC", column, "Pre") for column in ("AUC_mic", "AUC_mac", "DCS")),
        *(("Furniture", "BEiT", column, "Pre") for column in ("EHR@5", "AUC_mic", "DCS")),
        ("Furniture", "BEiT", "AUC_mac", "SupCon_SPA"),
        ("Furniture", "SWAG", "AUC_mic", "SimCLR"),
        ("Furniture", "DINO2", "AUC_mic", "SimCLR"),
        ("Furniture", "DINO2", "DCS", "SimCLR"),
        ("Furniture", "DINO2", "AUC_mac", "Pre"),
        *(("Fashion", backbone, "AUC_mic", "TRPL_SPA") for backbone in ("OC", "DINO2", "BEiT")),
        ("Fashion", "SWAG", "AUC_mic", "Con_SPA"),
        ("Fashion", "SWAG", "AUC_mac", "TRPL"),
        ("Fashion", "SWAG", "EHR@5", "SupCon"),
        ("Fashion", "OC", "EHR@5", "Con_SPA"),
    }
    assert noted("vsd-table-3", "18 of the 40") == {(*cell[:3], "SupCon_NSPA") for cell in repeated}
    assert sum(len(row) for row in NOT_SOFT.values()) == 40
    not_below = {
        (*key[:2], column)
        for key, row in NOT_SOFT.items()
        for column, value in row.items()
        if float(value) >= float(FINETUNED[(*key[:2], "SupCon_SPA")][column])
    }
    assert not_below == {("Furniture", "BEiT", "AUC_mac")}


def test_the_documentation_says_how_many_cells_there_are():
    for claim in ("4 of 120 cells", "4 of 240 cells", "18 of the 40 cells"):
        assert claim in PAGE
