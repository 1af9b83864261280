"""The paper's table and ours in one layout, and ours from plain rows."""

import math

import numpy as np
import pytest

from lookalike.reproduce.builders import (
    ConsistencyRow,
    Correlations,
    CoverageRow,
    IdentificationRow,
    LeaveOneOutRow,
    consistency_table,
    coverage_table,
    ground_truth_table,
    identification_table,
    leave_one_out_table,
    overlap_table,
)
from lookalike.reproduce.layout import cells_of, text_of
from lookalike.reproduce.ours import OurTable
from lookalike.reproduce.published import keys, published

SOME = Correlations(sc=0.9, kt=0.8, r=0.7, n=3)
NONE = Correlations(sc=math.nan, kt=math.nan, r=math.nan, n=1)


def lines(key: str, ours: OurTable | None) -> list[str]:
    return text_of(published(key), ours).splitlines()


def consistency() -> OurTable:
    return consistency_table(
        [
            ConsistencyRow("DCS(alpha=10)", "dino", 0.5, 0.0123, SOME, NONE),
            ConsistencyRow("DCS(alpha=10)", "color", 0.25, 0.02, SOME, SOME),
            ConsistencyRow("BPREF", "color", 0.4, 0.1, NONE, SOME),
        ],
        remarks=["Of 100 labels."],
    )


@pytest.mark.parametrize("key", keys())
def test_every_printed_figure_is_in_the_text(key: str):
    table, said = published(key), lines(key, None)
    for row in table.rows:
        names = " ".join(row.names).split()
        line = next(line for line in said if line.split()[: len(names)] == names)
        assert all(cell in line for cell in row.cells)
    assert [line for line in said if line.startswith(("- ", "a) ", "b) ", "c) "))] != []
    assert max(map(len, said)) < 160


def test_an_encoder_with_a_models_name_stands_on_the_models_row():
    said = lines("vsd-table-1", consistency())
    (row,) = [line for line in said if line.startswith("DCS      DINO")]
    assert "78.97 ± 1.22" in row
    assert "50.00 ± 1.23" in row
    assert row.endswith("undefined  undefined  undefined")
    (clip,) = [line for line in said if line.startswith("DCS      CLIP")]
    assert clip.endswith("0.88")  # nothing of ours


def test_other_encoders_follow_the_papers_models_of_their_measure():
    said = lines("vsd-table-1", consistency())
    at = {line[:13]: number for number, line in enumerate(said) if line[:3] in ("DCS", "EHR", "BPF")}
    assert at["DCS      AS  "] + 1 == at["DCS      colo"] == at["EHR@5    DINO"] - 1
    assert at["BPF      colo"] == at["BPF      AS  "] + 1
    assert said[at["DCS      colo"]].split()[:5] == ["DCS", "color", "25.00", "±", "2.00"]


def test_heads_of_groups_stand_above_their_columns():
    said = lines("vsd-table-1", consistency())
    first, second, third, leaf = said[5:9]
    assert first.split() == ["paper", "this", "catalog"]
    assert second.split() == ["Fashion", "Furniture"]
    assert third.split() == ["Bias", "FC", "Bias", "FC", "Bias", "FC"]
    assert leaf.split() == ["Metric", "Model", *["Score", *["SC", "KT", "r"] * 2] * 3]
    dino = next(line for line in said if line.startswith("DCS      DINO"))
    widest = next(line for line in said if line.startswith("BPF      color"))
    assert first.index("this") == widest.index("40.00 ± 10.00")
    assert second.index("Furniture") <= dino.index("63.24")


def test_it_is_said_over_how_many_encoders_a_correlation_is():
    said = lines("vsd-table-1", consistency())
    for words in ("Of 100 labels.", "Bias: over 1 to 3 encoders.", "FC: over 1 to 3 encoders."):
        assert words in said


def test_coverage_rows_of_a_measure_stay_together():
    rows = [
        CoverageRow(0.2, "DCS(alpha=10)", SOME),
        CoverageRow(0.2, "EMRR@5", SOME),
        CoverageRow(0.4, "EMRR@5", NONE),
    ]
    said = lines("vsd-table-5", coverage_table(rows))
    (dcs,) = [line for line in said if line.startswith("0.2  DCS")]
    assert dcs.split() == ["0.2", "DCS", "0.48", "0.32", "0.42", "0.70", "0.80", "0.90"]
    at = [number for number, line in enumerate(said) if "EMRR@5" in line]
    assert at[1] == at[0] + 1
    assert said[at[1]].split() == ["0.4", "EMRR@5", "undefined", "undefined", "undefined"]


def test_leave_one_out_rows_are_printed_like_eds_table_3():
    row = LeaveOneOutRow("as", (0.6262, 0.0183, 5 / 6, 0.0416), (0.785, 0.017, math.nan, math.nan), 6)
    said = lines("eds-table-3", leave_one_out_table([row]))
    (line,) = [line for line in said if line.startswith("AS  ")]
    printed = ["62.6", "±", "1.8", "0.83", "0.042", "78.5", "±", "1.7", "undefined", "undefined"]
    assert line.split()[-10:] == printed
    assert "SC: over 6 encoders." in said


def test_identification_rows_are_printed_like_eds_table_4():
    said = lines(
        "eds-table-4",
        identification_table([IdentificationRow("color", (0.152, 0.109), (1.0, math.nan), 1200)]),
    )
    (line,) = [line for line in said if line.startswith("color")]
    assert line.split() == ["color", "15.2", "10.9", "100.0", "undefined"]
    assert "Means: over 1,200 queries." in said


def test_a_table_of_other_columns_follows_the_papers():
    overlap = np.array([[np.nan, 50.0], [50.0, np.nan]])
    said = lines("eds-table-2", overlap_table(["color", "hog"], overlap, ["Over 3 queries."]))
    at = said.index("On this catalog:")
    assert said[at + 1].split() == ["Generator", "color", "hog"]
    assert said[at + 2].split() == ["color", "-", "50.0"]
    assert said.index("Over 3 queries.") > at
    assert any(line.startswith("ID+C") for line in said[:at])


def test_queries_that_are_not_there_are_no_row():
    assert [row.names for row in ground_truth_table((3, 9), (0, 0)).rows] == [("Discovery",)]
    said = lines("eds-table-1", ground_truth_table((3, 9), (2000, 4)))
    (wild,) = [line for line in said if line.startswith("Wild")]
    assert wild.split() == ["Wild", "2,000", "64,046", "b", "2,000", "4"]


def test_cells_are_unrounded_and_of_both_sides():
    cells = cells_of(
        published("vsd-table-5"),
        coverage_table([CoverageRow(0.2, "DCS(alpha=10)", SOME), CoverageRow(0.2, "HR@5", NONE)]),
    )
    assert len(cells) == 24 * 3 + 3
    (dcs,) = [cell for cell in cells if cell.names == ("0.2", "DCS") and cell.column == "r"]
    assert (dcs.paper, dcs.ours.value) == ("0.48", 0.7)
    new = [cell for cell in cells if cell.names == ("0.2", "HR@5")]
    assert all(cell.paper is None and math.isnan(cell.ours.value) for cell in new)
    assert all(cell.ours is None for cell in cells_of(published("vsd-table-5"), None))
