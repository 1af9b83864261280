"""Which correlations the papers can have printed: values that n models allow, p-values, coverage tables (SPEC 15)."""

from functools import cache
from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, rankdata, spearmanr, t

from lookalike.research.papers.published import PublishedTable, published

CONSISTENCY = published("vsd-table-1")
PLACES = (1, 2)  # decimals of a printed correlation


@cache
def untied(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Spearman and Kendall of all pairs of untied lists of n: 1 - 6 S/(n(n^2-1)), 1 - 4 I/(n(n-1))."""
    orders = np.array(list(permutations(range(n))), np.int8)
    squares = ((orders.astype(np.int64) - np.arange(n)) ** 2).sum(axis=1)
    inversions = sum(
        (orders[:, i] > orders[:, j]).astype(np.int64) for i in range(n) for j in range(i + 1, n)
    )
    both = np.unique(np.column_stack([squares, inversions]), axis=0)
    return 1 - 6 * both[:, 0] / (n * (n**2 - 1)), 1 - 4 * both[:, 1] / (n * (n - 1))


def fits(sc: str, kt: str, n: int) -> bool:
    """Whether some pair of untied lists of n rounds to both printed values."""
    found_sc, found_kt = untied(n)
    near = (np.abs(found_sc - float(sc)) <= 0.005 + 1e-9) & (np.abs(found_kt - float(kt)) <= 0.005 + 1e-9)
    return bool(near.any())


def printed_pairs(part: str) -> dict[tuple[str, str, str], tuple[str, str]]:
    """Metric, model, dataset -> printed SC and KT."""
    return {
        (*names, dataset): (sc, CONSISTENCY.cell(*names, column=f"{dataset} / {part} / KT"))
        for dataset in ("Fashion", "Furniture")
        for names, sc in CONSISTENCY.column(f"{dataset} / {part} / SC").items()
    }


def noted(table: PublishedTable, words: str) -> set[tuple[str, ...]]:
    """Cells of the one note with these words: the row's names and the column."""
    (note,) = (note for note in table.notes if words in note.text)
    return {(*table.rows[row].names, table.columns[column]) for row, column in note.cells}


def test_the_formulas_are_those_of_scipy():
    random = np.random.default_rng(0)
    for n in (4, 6, 9):
        x, y = np.arange(n), random.permutation(n)
        found_sc, found_kt = untied(n)
        assert np.abs(found_sc - spearmanr(x, y).statistic).min() < 1e-12
        assert np.abs(found_kt - kendalltau(x, y).statistic).min() < 1e-12


def test_bias_correlations_of_vsd_table_1_fit_nine_models():
    pairs = printed_pairs("Bias")
    count = {n: sum(fits(*pair, n) for pair in pairs.values()) for n in range(3, 10)}
    assert len(pairs) == 40
    assert count[9] == 36
    assert max(count[n] for n in range(3, 9)) == 7
    none = {key for key, pair in pairs.items() if not any(fits(*pair, n) for n in range(3, 10))}
    assert noted(CONSISTENCY, "Under Bias these pairs") == {
        (metric, model, f"{dataset} / Bias / KT") for metric, model, dataset in none
    }
    above = [key for key in none if float(pairs[key][1]) > float(pairs[key][0])]
    assert above == [("AUC_mac", "BEiT", "Fashion")]


def test_full_coverage_correlations_of_vsd_table_1_fit_no_single_n():
    pairs = printed_pairs("FC")
    count = {n: sum(fits(*pair, n) for pair in pairs.values()) for n in range(3, 10)}
    assert (count[4], count[9]) == (28, 28)
    for pair, only in ((("0.2", "0.0"), 4), (("0.94", "0.87"), 6), (("0.95", "0.89"), 9)):
        assert pair in pairs.values()
        assert [n for n in range(3, 10) if fits(*pair, n)] == [only]
    none = {key for key, pair in pairs.items() if not any(fits(*pair, n) for n in range(3, 10))}
    assert len(none) == 10
    assert noted(CONSISTENCY, "Under FC these pairs") == {
        (metric, model, f"{dataset} / FC / KT") for metric, model, dataset in none
    }


def p_of(sc: float, n: int) -> float:
    """Two-sided p of a Spearman correlation by Student's t, as scipy gives it."""
    return float(2 * t.sf(sc * np.sqrt((n - 2) / (1 - sc**2)), n - 2)) if sc < 1 else 0.0


def test_a_correlation_of_four_models_is_weak_evidence():
    assert spearmanr([1, 2, 3, 4], [1, 2, 4, 3]).statistic == pytest.approx(0.8)
    assert p_of(0.8, 4) == pytest.approx(0.2)


def test_micro_p_values_of_eds_table_3():
    table = published("eds-table-3")
    possible = untied(6)[0]
    for names, printed in table.column("Micro ROC-AUC / SC").items():
        (sc,) = {round(one, 6) for one in possible if abs(one - float(printed)) <= 0.005 + 1e-9}
        p, shown = p_of(sc, 6), table.cell(*names, column="Micro ROC-AUC / p-value")
        cut = f"{int(1000 * p) / 1000:.3f}"
        assert shown in (f"{p:.3f}", cut)
        marked = (*names, "Micro ROC-AUC / p-value") in noted(table, "(rounded)")
        assert marked == (shown != f"{p:.3f}")
    assert round(p_of(29 / 35, 6), 4) == 0.0416
    assert round(p_of(33 / 35, 6), 4) == 0.0048


def test_macro_correlations_of_eds_table_3_need_a_tie():
    """.75, .93 and .70 are none of six untied models; with the tie of Table 5 they are, and p fits, cut off."""
    table, full = published("eds-table-3"), published("eds-table-5").column("ROC-AUC / Macro / Anno.")
    generators = [float(cell) for (kind, _), cell in full.items() if kind == "GT generators"]
    assert sorted(rankdata(generators)) == [1.5, 1.5, 3, 4, 5, 6]
    tied = {round(pearsonr(rankdata(generators), order).statistic, 6) for order in permutations(range(1, 7))}
    for names, printed in table.column("Macro ROC-AUC / SC").items():
        assert np.abs(untied(6)[0] - float(printed)).min() > 0.005 + 1e-9
        (sc,) = {one for one in tied if abs(one - float(printed)) <= 0.005}
        shown = table.cell(*names, column="Macro ROC-AUC / p-value")
        assert shown == f"{int(1000 * p_of(sc, 6)) / 1000:.3f}"
        assert ((*names, "Macro ROC-AUC / p-value") in noted(table, "told from zero")) == (p_of(sc, 6) > 0.05)


def test_macro_aucs_of_eds_table_3_lie_above_those_of_table_5_in_the_same_order():
    names = {"AS": "Argus", "AS ID": "Argus ID", "AS ID+C": "Argus ID+C"}
    left_out = {
        model: float(cell.split("±")[0])
        for (model,), cell in published("eds-table-3").column("Macro ROC-AUC / AUC").items()
    }
    full = {
        model: float(
            published("eds-table-5").cell(
                "GT generators", names.get(model, model), column="ROC-AUC / Macro / Anno."
            )
        )
        for model in left_out
    }
    gaps = [left_out[model] - full[model] for model in full]
    assert (round(min(gaps), 1), round(max(gaps), 1)) == (0.6, 1.6)
    ordered = sorted(full, key=lambda model: left_out[model])
    assert all(full[a] <= full[b] for a, b in pairwise(ordered))


def coverage(key: str, metric: str, kind: str) -> dict[str, float]:
    """Coverage -> printed correlation of a measure; nan where there is none."""
    column = published(key).column(kind).items()
    return {cov: float("nan" if cell == "?" else cell) for (cov, name), cell in column if name == metric}


def test_furniture_contradicts_that_bpf_underperforms():
    for kind in ("r", "KT", "SC"):
        bpf, auc = (coverage("vsd-table-5", metric, kind) for metric in ("BPF", "AUC_mac"))
        assert all(bpf[cov] > auc[cov] for cov in bpf)
    for kind in ("KT", "SC"):
        bpf, dcs = (coverage("vsd-table-5", metric, kind) for metric in ("BPF", "DCS"))
        assert [cov for cov in bpf if bpf[cov] > dcs[cov]] == ["0.2", "0.4", "0.6"]


def test_fashion_contradicts_that_ehr_is_strongest_from_a_fifth_on():
    ehr, dcs, auc = (coverage("vsd-table-6", metric, "r") for metric in ("EHR@5", "DCS", "AUC_mac"))
    assert [cov for cov in ehr if dcs[cov] > ehr[cov]] == ["0.2", "0.4"]
    assert [cov for cov in ehr if auc[cov] > ehr[cov]] == ["0.2"]


def test_dcs_on_fashion_loses_rank_correlation_with_more_labels():
    for kind in ("KT", "SC"):
        dcs = coverage("vsd-table-6", "DCS", kind)
        assert dcs["0.2"] < dcs["0.0"]
    r = coverage("vsd-table-6", "DCS", "r")
    assert r["0.2"] - r["0.0"] == pytest.approx(0.19)


@pytest.mark.parametrize("key", ["vsd-table-5", "vsd-table-6"])
def test_ehr_is_hr_at_full_coverage_and_undefined_without_any(key: str):
    for kind in ("r", "KT", "SC"):
        ehr = coverage(key, "EHR@5", kind)
        assert np.isnan(ehr["0.0"])
        assert ehr["1.0"] == 1.0


def test_all_correlations_of_the_coverage_tables_but_one_grow_with_coverage():
    """Every column of four measures grows; DCS on Fashion is noted as the one that does not at once."""
    falling = {
        (key, metric, kind)
        for key in ("vsd-table-5", "vsd-table-6")
        for metric in ("BPF", "DCS", "EHR@5", "AUC_mac")
        for kind in ("r", "KT", "SC")
        if np.any(np.diff([one for one in coverage(key, metric, kind).values() if np.isfinite(one)]) < 0)
    }
    assert falling == {("vsd-table-6", "DCS", "KT"), ("vsd-table-6", "DCS", "SC")}


MEASURES = ("DCS", "EHR@5", "AUC_mic", "AUC_mac", "BPF")


def means_of(part: str) -> dict[str, float]:
    """The mean over the four generators, by measure, from the printed cells."""
    column = CONSISTENCY.column(part)
    return {
        name: float(np.mean([float(cell) for (measure, _), cell in column.items() if measure == name]))
        for name in MEASURES
    }


def test_the_means_of_vsd_table_1_are_those_of_its_cells():
    assert [row.names for row in CONSISTENCY.means] == [(name, "mean") for name in MEASURES]
    for row in CONSISTENCY.means:
        for column, cell in zip(CONSISTENCY.columns, row.cells, strict=True):
            if "Score" in column:
                assert cell == "-"
            else:
                assert float(cell) == pytest.approx(means_of(column)[row.names[0]], abs=0.005 + 1e-9)


def test_what_vsd_concludes_from_the_means_of_table_1():
    """7.2.1: DCS is the most consistent on Furniture, then AUC and EHR; BPF is the least consistent on both."""
    for dataset in ("Fashion", "Furniture"):
        for kind in ("SC", "KT", "r"):
            found = means_of(f"{dataset} / Bias / {kind}")
            assert min(found, key=found.get) == "BPF"
    order = {
        kind: sorted(MEASURES, key=lambda name, kind=kind: -means_of(f"Furniture / Bias / {kind}")[name])
        for kind in ("SC", "KT", "r")
    }
    assert order["SC"] == ["DCS", "AUC_mac", "EHR@5", "AUC_mic", "BPF"]
    assert order["KT"] == ["DCS", "AUC_mac", "AUC_mic", "EHR@5", "BPF"]
    assert order["r"] == ["AUC_mac", "AUC_mic", "EHR@5", "DCS", "BPF"]  # against the text
    noted_values = means_of("Furniture / Bias / r")
    assert [round(noted_values[name], 2) for name in ("EHR@5", "AUC_mic", "AUC_mac")] == [0.92, 0.93, 0.95]
    assert noted_values["DCS"] == pytest.approx(0.8875, abs=0.001)


def order_of(key: str, one: str, other: str, kind: str = "") -> float:
    """Spearman of two columns of EDS Table 5 or 6, over all models or those of one kind."""
    table = published(key)
    rows = [names for names in table.column(one) if kind in ("", names[0])]
    first, second = ([float(table.cell(*names, column=column)) for names in rows] for column in (one, other))
    return float(spearmanr(first, second).statistic)


@pytest.mark.parametrize(
    ("key", "kind", "micro", "macro"),
    [
        ("eds-table-5", "", (-0.07, 0.22), (-0.06, 0.34)),
        ("eds-table-5", "GT generators", (0.60, 0.84), (0.64, 0.71)),
        ("eds-table-5", "New models", (0.40, 0.24), (0.38, 0.50)),
        ("eds-table-6", "", (0.71, 0.80), (0.84, 0.93)),
    ],
)
def test_the_order_by_hr_is_closer_to_that_under_neg(key, kind, micro, macro):
    """EDS 6.4: with sampled negatives the hierarchies are closer to those of HR. For new models micro is not."""
    for name, expected in (("Micro", micro), ("Macro", macro)):
        found = [
            order_of(key, "HR / @5", f"ROC-AUC / {name} / {negatives}", kind)
            for negatives in ("Anno.", "Neg")
        ]
        assert found == pytest.approx(expected, abs=0.006)


def test_identification_of_eds_table_4_against_discovery():
    """EDS 6.5 over six models: no correlation with ROC-AUC differs from 0, nor from .8."""
    table = published("eds-table-4").column("HR / @5")
    names = {("AS",): "Argus", ("AS ID",): "Argus ID", ("AS ID+C",): "Argus ID+C"}
    hr = [float(cell) for cell in table.values()]

    def with_discovery(key: str, column: str) -> float:
        cells = [published(key).cell("GT generators", names.get(one, one[0]), column=column) for one in table]
        return float(spearmanr(hr, [float(cell) for cell in cells]).statistic)

    columns = ["HR / @5", *(f"ROC-AUC / {a} / {n}" for n in ("Anno.", "Neg") for a in ("Micro", "Macro"))]
    found = [with_discovery("eds-table-5", column) for column in columns]
    assert found == pytest.approx([0.43, -0.20, -0.06, 0.64, 0.37], abs=0.006)
    wild = [with_discovery("eds-table-6", column) for column in columns]
    assert (min(wild), max(wild)) == pytest.approx((-0.60, -0.43), abs=0.006)
    every = untied(6)[0]
    assert p_of(31 / 35, 6) < 0.05 < p_of(0.8, 6)
    assert np.abs(every - 31 / 35).min() < 1e-9
