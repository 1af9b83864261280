"""The paper's table and ours in one layout, and ours from plain rows."""

import math

import numpy as np
import pytest

from lookalike.audit.agreement import ScoreAgreement
from lookalike.audit.correlation import Correlation, Correlations
from lookalike.audit.coverage_sweep import CoverageSweep, SweepCell
from lookalike.audit.full_coverage import FullCoverage
from lookalike.audit.leave_one_out import LeaveOneOut, Omission, Spread
from lookalike.core.types import Basis, Rule, Score, Scores
from lookalike.research.papers.audit_tables import consistency_table, coverage_table, leave_one_out_table
from lookalike.research.papers.computed import ComputedTable
from lookalike.research.papers.layout import cells_of, text_of
from lookalike.research.papers.measure_tables import (
    discovery_measures,
    discovery_table,
    ground_truth_table,
    identification_table,
    order_agreement,
    overlap_table,
)
from lookalike.research.papers.published import keys, published

FEW = "fewer than 3 encoders have both scores"


def correlations(sc: float, kt: float, r: float, n: int, p: float = math.nan) -> Correlations:
    reason = FEW if math.isnan(sc) else ""
    return Correlations(*(Correlation(value, n, p, reason=reason) for value in (sc, kt, r)))


SOME, NONE = correlations(0.9, 0.8, 0.7, 3), correlations(math.nan, math.nan, math.nan, 1)
OMITTED = tuple(Omission(name, 5, 50, 0, 3) for name in ("dino", "color"))


def spread(measure: str, encoder: str, mean: float, sd: float, without=(0.1, 0.2)) -> Spread:
    return Spread(measure, encoder, 0.5, without, mean, sd, int(np.isfinite(without).sum()), ("why",))


def left_out(spreads: list[Spread], bias: dict[tuple[str, str], Correlations]) -> LeaveOneOut:
    measures = tuple(dict.fromkeys(one.measure for one in spreads))
    encoders = tuple(dict.fromkeys(one.encoder for one in spreads))
    agreements = tuple(ScoreAgreement(*key, found, ()) for key, found in bias.items())
    return LeaveOneOut("surfaced", measures, encoders, OMITTED, tuple(spreads), agreements)


def sweep(cells: list[tuple[float, str, Correlations]]) -> CoverageSweep:
    rows = tuple(SweepCell(level, measure, found, (), NONE) for level, measure, found in cells)
    return CoverageSweep(5, "every", (), (), ("dino", "color"), (7, 1200), rows, "")


def scores(encoder: str, values: dict[str, float]) -> Scores:
    names, none = np.array(["q"]), np.zeros(1)
    found = {
        name: Score(name, value, 12, names, none, none, "no reason" if math.isnan(value) else "")
        for name, value in values.items()
    }
    return Scores(encoder, Basis("c", "l", Rule()), found)


def lines(key: str, ours: ComputedTable | None) -> list[str]:
    return text_of(published(key), ours).splitlines()


def consistency() -> ComputedTable:
    """Two generators and an encoder that is none; one score undefined without one of them."""
    dcs, bpref = "DCS(alpha=10)", "BPREF"
    found = left_out(
        [
            spread(dcs, "dino", 0.5, 0.0123),
            spread(dcs, "color", 0.25, 0.02),
            spread(dcs, "late", 0.125, 0.03),
            spread(bpref, "dino", 0.4, math.nan, without=(0.4, math.nan)),
            spread(bpref, "color", 0.4, 0.1),
            spread(bpref, "late", math.nan, math.nan, without=(math.nan, math.nan)),
        ],
        {(dcs, "dino"): SOME, (dcs, "color"): SOME, (bpref, "dino"): SOME, (bpref, "color"): NONE},
    )
    full = FullCoverage(
        "every",
        5,
        (),
        tuple(
            ScoreAgreement(measure, name, NONE if (measure, name) == (dcs, "dino") else SOME, ())
            for measure in (dcs, bpref)
            for name in ("dino", "color")
        ),
        "",
    )
    return consistency_table(found, full, remarks=["Of 100 labels."])


@pytest.mark.parametrize("key", keys())
def test_every_printed_figure_is_in_the_text(key: str):
    table, printed = published(key), lines(key, None)
    for row in table.rows:
        names = " ".join(row.names).split()
        line = next(line for line in printed if line.split()[: len(names)] == names)
        assert all(cell in line for cell in row.cells)
    assert [line for line in printed if line.startswith(("- ", "a) ", "b) ", "c) "))] != []
    assert max(map(len, printed)) < (190 if key == "adapt-table-1" else 160)


def test_an_encoder_with_a_models_name_is_on_the_models_row():
    printed = lines("vsd-table-1", consistency())
    (row,) = [line for line in printed if line.startswith("DCS      DINO")]
    assert "78.97 ± 1.22" in row
    assert "50.00 ± 1.23" in row
    assert row.endswith("nan   nan   nan")
    (clip,) = [line for line in printed if line.startswith("DCS      CLIP")]
    assert clip.endswith("0.88")  # nothing of ours


def test_other_encoders_follow_the_papers_models_of_their_measure():
    printed = lines("vsd-table-1", consistency())
    at = {line[:13]: number for number, line in enumerate(printed) if line[:3] in ("DCS", "EHR", "BPF")}
    names = ["DCS      AS  ", "DCS      colo", "DCS      late", "DCS      mean", "EHR@5    DINO"]
    assert [at[name] - at[names[0]] for name in names] == [0, 1, 2, 3, 4]
    assert at["BPF      colo"] == at["BPF      AS  "] + 1
    assert printed[at["DCS      colo"]].split()[:5] == ["DCS", "color", "25.00", "±", "2.00"]


def test_an_encoder_that_is_no_generator_has_a_score_alone():
    printed = lines("vsd-table-1", consistency())
    (late,) = [line for line in printed if line.startswith("DCS      late")]
    assert late.split() == ["DCS", "late", "12.50", "±", "3.00", *["-"] * 6]


def test_scores_over_fewer_label_sets_and_undefined_ones_are_reported():
    printed = lines("vsd-table-1", consistency())
    assert any(line.startswith("BPF ") and "dino (1 of 2)" in line and "why" in line for line in printed)
    assert any(line.startswith("nan: ") and FEW in line and "why" in line for line in printed)
    (dino,) = [line for line in printed if line.startswith("BPF      DINO")]
    assert "40.00 ± nan" in dino


def test_headings_of_groups_are_above_their_columns():
    printed = lines("vsd-table-1", consistency())
    first, second, third, leaf = printed[5:9]
    assert first.split() == ["paper", "this", "catalog"]
    assert second.split() == ["Fashion", "Furniture"]
    assert third.split() == ["Bias", "FC", "Bias", "FC", "Bias", "FC"]
    assert leaf.split() == ["Metric", "Model", *["Score", *["SC", "KT", "r"] * 2] * 3]
    dino = next(line for line in printed if line.startswith("DCS      DINO"))
    widest = next(line for line in printed if line.startswith("BPF      color"))
    assert first.index("this") == widest.index("40.00 ± 10.00")
    assert second.index("Furniture") <= dino.index("63.24")


def test_a_correlation_has_its_number_of_encoders():
    printed = lines("vsd-table-1", consistency())
    for name, number in (("", "100 labels"), ("Bias: ", "1 to 3 encoders"), ("FC: ", "1 to 3 encoders")):
        assert any(line.startswith(name) and number in line for line in printed), name


def test_coverage_rows_of_a_measure_stay_together():
    found = [(0.4, "EMRR@5", NONE), (0.2, "DCS(alpha=10)", SOME), (0.2, "EMRR@5", SOME)]
    printed = lines("vsd-table-5", coverage_table(sweep(found)))
    (dcs,) = [line for line in printed if line.startswith("0.2  DCS")]
    assert dcs.split() == ["0.2", "DCS", "0.48", "0.32", "0.42", "0.70", "0.80", "0.90"]
    at = [number for number, line in enumerate(printed) if "EMRR@5" in line]
    assert at[1] == at[0] + 1
    assert printed[at[1]].split() == ["0.4", "EMRR@5", "nan", "nan", "nan"]
    assert "dino (7 queries), color (1,200 queries)" in " ".join(printed)


def test_leave_one_out_rows_are_printed_like_eds_table_3():
    spreads = [
        spread("AUC_mic", "dino", 0.6262, 0.0183), spread("AUC_mac", "dino", 0.785, 0.017),
        spread("AUC_mac", "late", 0.6, 0.1),
    ]  # fmt: skip
    some = correlations(5 / 6, 0.7, 0.8, 6, p=0.0416)
    bias = {
        (measure, name): NONE if (measure, name) == ("AUC_mac", "dino") else some
        for measure in ("AUC_mic", "AUC_mac")
        for name in ("dino", "color")
    }
    table = leave_one_out_table(left_out(spreads, bias))
    printed = lines("eds-table-3", table)
    (line,) = [line for line in printed if line.startswith("DINO  ")]
    assert line.split()[-10:] == ["62.6", "±", "1.8", "0.83", "0.042", "78.5", "±", "1.7", "nan", "nan"]
    # a generator without vectors has no area of its own, but its labels can be left out
    (color,) = [line for line in printed if line.startswith("color  ")]
    assert color.split() == ["color", "-", "0.83", "0.042", "-", "0.83", "0.042"]
    assert any(line.startswith("SC: ") and "1 to 6 encoders" in line for line in printed)
    (sc, p) = table.rows[0].figures[1:3]
    assert (sc.n, sc.p, p.value) == (6, 0.0416, 0.0416)


def test_identification_rows_are_printed_like_eds_table_4():
    measures = ("HR@5", "HR@9", "MRR@5", "MRR@9")
    one = scores("color", dict(zip(measures, (0.152, 0.109, 1.0, math.nan), strict=True)))
    printed = lines("eds-table-4", identification_table([one], measures, ["Some photos."]))
    (line,) = [line for line in printed if line.startswith("color")]
    assert line.split() == ["color", "15.2", "10.9", "100.0", "nan"]
    assert "Some photos." in printed
    assert any(line.startswith("nan: ") for line in printed)


def test_discovery_rows_are_printed_like_eds_table_5():
    values = {name: at / 100 for at, name in enumerate(discovery_measures(4))}
    table = discovery_table([scores("new", values), scores("dino", values)], ["dino"], 4)
    assert [row.names for row in table.rows] == [("GT generators", "dino"), ("New models", "new")]
    assert table.columns == published("eds-table-5").columns == published("eds-table-6").columns
    (line,) = [line for line in lines("eds-table-5", table) if line.startswith("GT generators  DINO")]
    assert line.split()[-12:] == [f"{at}.0" for at in range(12)]
    # the third area is macro with the labelled negatives, the last PR-AUC macro with sampled ones
    assert list(values)[6] == "AUC_mac"
    assert list(values)[11] == "PR-AUC_mac(n=4,negatives=sampled)"


def test_a_measure_ends_with_its_mean_over_the_generators():
    """Of both sides; where a correlation is undefined, the mean is over the others, and n says over how many."""
    printed = lines("vsd-table-1", consistency())
    (row,) = [line for line in printed if line.startswith("DCS      mean")]
    cells = row.split()[2:]
    assert (cells[0], cells[7], cells[14]) == ("-", "-", "-")  # scores have no mean
    assert [float(cell) for cell in cells[1:7]] == pytest.approx(
        [1, 1, 0.995, 0.87, 0.7575, 0.715], abs=0.006
    )
    assert [float(cell) for cell in cells[8:14]] == pytest.approx(
        [0.925, 0.8325, 0.885, 0.82, 0.7095, 0.8275], abs=0.006
    )
    assert cells[15:] == ["0.90", "0.80", "0.70", "0.90", "0.80", "0.70"]
    table = {row.names: row.figures for row in consistency().rows}
    assert table["DCS", "mean"][0] is None
    assert [one.n for one in table["DCS", "mean"][1:]] == [2, 2, 2, 1, 1, 1]
    assert [one.n for one in table["BPF", "mean"][1:]] == [1, 1, 1, 2, 2, 2]


def test_the_order_of_encoders_by_two_measures_is_a_correlation_or_a_reason():
    four = [
        scores(name, {"HR@5": hr, "AUC_mac": 1 - hr, "AUC_mic": 0.5})
        for name, hr in zip("abcd", (0.1, 0.3, 0.2, 0.4), strict=True)
    ]
    said = order_agreement(four, "HR@5", four, ("AUC_mac", "AUC_mic"))
    assert said == "over 4 encoders: AUC_mac -1.00 (p = 0.083), AUC_mic undefined (all scores are equal)"
    assert "fewer than 3 encoders" in order_agreement(four, "HR@5", four[:2], ("AUC_mac",))


def test_a_table_of_other_columns_follows_the_papers():
    overlap = np.array([[np.nan, 50.0], [50.0, np.nan]])
    printed = lines("eds-table-2", overlap_table(["color", "hog"], overlap, ["Over 3 queries."]))
    at = printed.index("On this catalog:")
    assert printed[at + 1].split() == ["Generator", "color", "hog"]
    assert printed[at + 2].split() == ["color", "-", "50.0"]
    assert printed.index("Over 3 queries.") > at
    assert any(line.startswith("ID+C") for line in printed[:at])


def test_queries_that_are_not_there_are_no_row():
    assert [row.names for row in ground_truth_table((3, 9), (0, 0)).rows] == [("Discovery",)]
    printed = lines("eds-table-1", ground_truth_table((3, 9), (2000, 4)))
    (wild,) = [line for line in printed if line.startswith("Wild")]
    assert wild.split() == ["Wild", "2,000", "64,046", "b", "2,000", "4"]


def test_cells_are_unrounded_and_of_both_sides():
    cells = cells_of(
        published("vsd-table-5"),
        coverage_table(sweep([(0.2, "DCS(alpha=10)", SOME), (0.2, "HR@5", NONE)])),
    )
    assert len(cells) == 24 * 3 + 3
    (dcs,) = [cell for cell in cells if cell.names == ("0.2", "DCS") and cell.column == "r"]
    assert (dcs.paper, dcs.ours.value) == ("0.48", 0.7)
    new = [cell for cell in cells if cell.names == ("0.2", "HR@5")]
    assert all(cell.paper is None and math.isnan(cell.ours.value) for cell in new)
    assert all(cell.ours is None for cell in cells_of(published("vsd-table-5"), None))


@pytest.mark.parametrize("key", ["vsd-table-1", "eds-table-5"])
@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_table_wider_than_the_page_is_parted_and_loses_no_figure(key: str, width: int):
    table, ours = published(key), consistency()
    if key == "eds-table-5":
        values = {name: at / 7 for at, name in enumerate(discovery_measures(4))}
        ours = discovery_table([scores("new", values)], [], 4)
    text = text_of(table, ours, width)
    assert max(map(len, text.splitlines())) <= width
    assert "this catalog" in text
    both = [(row.names, row.cells) for row in table.rows]
    both += [
        (
            row.names,
            [one.printed(places) for one, places in zip(row.figures, ours.decimals, strict=True) if one],
        )
        for row in ours.rows
        if row.names[-1] != "dino"  # is on the paper's row, as DINO
    ]
    for names, cells in both:
        words = " ".join(names).split()
        found = " ".join(line for line in text.splitlines() if line.split()[: len(words)] == words)
        assert all(cell in found for cell in cells)


def test_a_part_has_no_row_without_a_cell_and_no_empty_line_of_heads():
    text = text_of(published("vsd-table-1"), consistency(), 100).splitlines()
    at = next(number for number, line in enumerate(text) if line.strip() == "this catalog")
    assert text[at + 1].split() == ["Bias", "FC"]
    assert [line.split()[1] for line in text[at + 3 : at + 7]] == ["DINO", "color", "late", "mean"]
    assert text[at + 11] == ""
