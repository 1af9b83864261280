"""Cells of VSD Tables 2 and 3 that contradict the text or repeat other rows (SPEC 15); the documentation names them."""

import tomllib
from collections import Counter
from pathlib import Path

import pytest

HERE = Path(__file__)
PRINTED = tomllib.loads((HERE.parents[1] / "golden/vsd_finetuning.toml").read_text(encoding="utf-8"))
PAGE = (HERE.parents[2] / "docs/research/papers.md").read_text(encoding="utf-8")
Key = tuple[str, str, str]  # dataset, backbone, method
LOSSES, SELF_SUPERVISED = ("SupCon", "Con", "TRPL"), ("SimCLR", "DINO")


def rows(table: str) -> dict[Key, dict[str, str]]:
    return {
        tuple(row[:3]): dict(zip(PRINTED[table]["columns"], row[3:], strict=True))
        for row in PRINTED[table]["rows"]
    }


FINETUNED, NOT_SOFT = rows("table_2"), rows("table_3")


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
    assert len(NOT_SOFT) == 8
    assert all(
        len(row) == 5 and all(50 > 100 - float(cell) > 0 or float(cell) > 40 for cell in row.values())
        for row in (FINETUNED | NOT_SOFT).values()
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
    against = [
        (*cell, m, other) for m in supervised for other in SELF_SUPERVISED for cell in not_above(m, other)
    ]
    assert Counter((cell[0], cell[1], cell[-1]) for cell in against) == {
        ("Fashion", "OC", "SimCLR"): 5,
        ("Fashion", "SWAG", "SimCLR"): 1,
        ("Furniture", "BEiT", "SimCLR"): 2,
    }


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
    assert sum(len(row) for row in NOT_SOFT.values()) == 40


def test_the_documentation_says_how_many_cells_there_are():
    for claim in ("4 of 120 cells", "4 of 240 cells", "18 of the 40 cells"):
        assert claim in PAGE
