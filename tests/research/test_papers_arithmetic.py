"""What the papers' numbers allow: pools, sums over the top K, base rates (SPEC 15). Every claim of a note is here."""

import math
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import brentq, linprog
from scipy.stats import norm

from lookalike.research.papers.published import published


def harmonic(k: int) -> float:
    """H_K = 1 + 1/2 + ... + 1/K."""
    return sum(1 / i for i in range(1, k + 1))


def distinct_candidates(k: int, half: float, *, most: bool) -> float:
    """The fewest or most distinct candidates of a query that the overlaps of EDS Table 2 allow, by a linear program.

    A candidate is proposed by one of the 63 sets of generators. How many a query has of each set is free, but every
    generator proposes k, and every two share what the table says, give or take `half` a printed digit.
    """
    table = published("eds-table-2")
    names = [row.names[0] for row in table.rows]
    sets = [chosen for size in range(1, 7) for chosen in combinations(range(6), size)]
    proposed = [[float(m in one) for one in sets] for m in range(6)]
    pairs = list(combinations(range(6), 2))
    shared = np.array([[float(a in one and b in one) for one in sets] for a, b in pairs])
    share = np.array([float(table.cell(names[a], column=names[b])) / 100 for a, b in pairs])
    sign = -1 if most else 1
    found = linprog(
        sign * np.ones(len(sets)),
        A_ub=np.concatenate([shared, -shared]),
        b_ub=np.concatenate([k * (share + half), -k * (share - half)]),
        A_eq=proposed,
        b_eq=[k] * 6,
    )
    return float(sign * found.fun)


def test_candidates_per_query_that_the_overlaps_of_eds_table_2_allow():
    table = published("eds-table-2")
    cells = {
        (row.names[0], column): cell
        for row in table.rows
        for column, cell in zip(table.columns, row.cells, strict=True)
    }
    assert all(cells[a, b] == cells[b, a] for a, b in cells)
    assert all((cell == "-") == (a == b) for (a, b), cell in cells.items())
    for half in (0.0, 0.0005):  # the overlaps as printed, and whatever rounds to them
        bounds = {
            k: (distinct_candidates(k, half, most=False), distinct_candidates(k, half, most=True))
            for k in (5, 6)
        }
        assert [round(one, 1) for one in bounds[5]] == [22.2, 25.8]
        assert [round(one, 1) for one in bounds[6]] in ([26.7, 31.0], [26.6, 31.0])
        assert bounds[5][0] < 24.4 < bounds[5][1] < bounds[6][0]
        assert bounds[5][1] < 54_170 / 2_000 < bounds[6][1]  # 27.1 excludes k = 5
        assert bounds[6][0] < 54_170 / 2_000


def test_wild_queries_need_six_candidates_of_six_generators():
    queries, pairs = (int(cell.replace(",", "")) for cell in published("eds-table-1").rows[1].cells)
    assert 6 * 5 * queries < pairs < 6 * 6 * queries
    assert 6 * 6 * queries == 72_000


RATIOS = [
    (key, row.names, measure)
    for key in ("eds-table-5", "eds-table-6")
    for row in published(key).rows
    for measure in ("HR", "MRR")
]


@pytest.mark.parametrize(("key", "names", "measure"), RATIOS)
def test_at_9_no_score_rises_and_none_falls_too_far(key, names, measure):
    """hits / K may fall to 5/9 of itself, a sum over hits / H_K to H_5/H_9, when nothing new is hit; not below."""
    at_5, at_9 = (float(published(key).cell(*names, column=f"{measure} / @{k}")) for k in (5, 9))
    floor = 5 / 9 if measure == "HR" else harmonic(5) / harmonic(9)
    half = 0.05
    assert at_9 <= at_5
    assert at_9 + half >= floor * (at_5 - half)
    assert round(harmonic(5) / harmonic(9), 3) == 0.807


def test_identification_of_eds_table_4_is_divided_by_what_can_be_found():
    table = published("eds-table-4")
    hr_5, hr_9 = (table.column(f"HR / @{k}") for k in (5, 9))
    falling = {names for names in hr_5 if float(hr_9[names]) < float(hr_5[names])}
    assert falling == {("AS",), ("DINO",), ("BEiT",), ("CLIP",)}
    for names in falling:  # at least min(5, R) / min(9, R) of itself, whatever R is
        assert float(hr_9[names]) > 5 / 9 * float(hr_5[names])
    assert float(hr_9["AS ID",]) / 100 * 9 > 8.98  # hits on average, if they were divided by 9


def worst_fall(positives: int) -> float:
    """How far a sum over hits / H_min(K, R) can fall from K = 5 to 9 when all that can be found is found at both."""
    first, last = min(5, positives), min(9, positives)
    late = sum(1 / (place + 1) for place in range(9 - (last - first), 9))
    # with R <= 5 all hits are in the top 5: the same sum over the same H_R at both K
    return 0.0 if positives <= 5 else 1.0 - (harmonic(5) + late) / harmonic(last)


@pytest.mark.parametrize("model", ["AS ID", "AS ID+C"])
def test_identification_mrr_falls_further_than_division_by_what_can_be_found_allows(model: str):
    """So MRR of Table 4 is divided by H_K. Queries that miss a hit are counted as falling by 1."""
    table = published("eds-table-4")
    mrr = [float(table.cell(model, column=f"MRR / @{k}")) / 100 for k in (5, 9)]
    hr = [float(table.cell(model, column=f"HR / @{k}")) / 100 for k in (5, 9)]
    most = max(worst_fall(positives) for positives in range(1, 60))
    assert round(most, 3) == 0.028
    half = 0.0005
    incomplete = 5 * (1 - hr[0] + half) + 9 * (1 - hr[1] + half)
    assert mrr[0] - mrr[1] - 2 * half > most + incomplete
    assert round(mrr[0] - mrr[1], 3) == 0.086
    assert mrr[1] / mrr[0] > harmonic(5) / harmonic(9)  # divided by H_K it may


def most_pr_auc(roc_auc: float, positives_per_negative: float) -> float:
    """The highest average precision that a ROC-AUC allows: a + integral from a to 1 of rho x / (1 + rho x) dx.

    With b_i negatives above the i-th positive, ROC-AUC is 1 - mean(b) / N and average precision the mean of
    i / (i + b_i), convex in each b_i: at the maximum every b_i is 0 or N, the last ones N.
    """
    rho = positives_per_negative
    return roc_auc + (1 - roc_auc) - math.log((1 + rho) / (1 + rho * roc_auc)) / rho


def binormal_pr_auc(roc_auc: float, base: float) -> float:
    """Average precision of two normal distributions of one width with that ROC-AUC and share of positives."""
    apart = math.sqrt(2) * norm.ppf(roc_auc)
    at = np.linspace(-8, 8 + apart, 8_001)
    hits, false = norm.sf(at - apart), norm.sf(at)
    return float(-np.trapezoid(base * hits / (base * hits + (1 - base) * false), hits))


def test_the_bound_holds_on_random_lists_and_is_reached():
    random = np.random.default_rng(1)

    def both(labels: np.ndarray) -> tuple[float, float]:
        hits = np.flatnonzero(labels)
        above = hits - np.arange(len(hits))
        precision = np.mean((np.arange(len(hits)) + 1) / (hits + 1))
        return 1 - above.mean() / (len(labels) - len(hits)), float(precision)

    for _ in range(300):
        positives, negatives = random.integers(50, 200, 2)
        labels = random.permutation(np.repeat([1, 0], [positives, negatives]))
        auc, precision = both(labels)
        assert precision <= most_pr_auc(auc, positives / negatives) + 0.02
    extreme = np.repeat([1, 0, 1], [739, 4000, 261])
    auc, precision = both(extreme)
    assert auc == pytest.approx(0.739)
    assert precision == pytest.approx(most_pr_auc(0.739, 0.25), abs=1e-3)


def printed(key: str, names: tuple[str, ...], kind: str) -> tuple[float, float]:
    """Micro ROC-AUC and PR-AUC of a row, from 0 to 1."""
    roc, pr = (
        float(published(key).cell(*names, column=f"{m} / Micro / {kind}")) / 100
        for m in ("ROC-AUC", "PR-AUC")
    )
    return roc, pr


def least_base(roc: float, pr: float) -> float:
    """The smallest share of positives with which the two can be had together."""
    rho = math.exp(brentq(lambda x: most_pr_auc(roc, math.exp(x)) - pr, -7, 12))
    return rho / (1 + rho)


def binormal_base(roc: float, pr: float) -> float:
    """The share of positives that gives that PR-AUC to two normal distributions."""
    return float(brentq(lambda base: binormal_pr_auc(roc, base) - pr, 1e-4, 1 - 1e-4))


def bases(key: str, kind: str, share) -> tuple[float, float]:
    found = [share(*printed(key, row.names, kind)) for row in published(key).rows]
    return round(min(found), 2), round(max(found), 2)


def test_pr_auc_of_eds_table_5_needs_few_sampled_negatives():
    """100 negatives to a query's 23 positives allow .78 where .941 is printed."""
    positives = 45_920 / 2_000
    assert round(positives) == 23
    roc, pr = printed("eds-table-5", ("GT generators", "Argus"), "Neg")
    assert (roc, pr) == pytest.approx((0.739, 0.941))
    assert round(most_pr_auc(roc, positives / 100), 2) == 0.78
    assert bases("eds-table-5", "Neg", least_base) == (0.77, 0.88)
    assert bases("eds-table-5", "Neg", binormal_base) == (0.85, 0.92)
    middle = binormal_base(roc, pr)
    assert 3 < positives * (1 - middle) / middle < 5
    assert 3 < (54_170 - 45_920) / 2_000 < 5  # as many as were annotated


def test_pr_auc_under_annotated_negatives_is_as_the_labels_have_it():
    """.848 of the annotated pairs are positive; two normal distributions say .87 to .89."""
    for row in published("eds-table-5").rows:
        roc, pr = printed("eds-table-5", row.names, "Anno.")
        assert pr <= most_pr_auc(roc, 45_920 / 8_250)
    assert bases("eds-table-5", "Anno.", binormal_base) == (0.87, 0.89)


def test_drawing_negatives_made_them_fewer_in_eds_table_6():
    assert bases("eds-table-6", "Anno.", binormal_base) == (0.39, 0.43)
    assert bases("eds-table-6", "Neg", binormal_base) == (0.76, 0.79)
    assert bases("eds-table-6", "Neg", least_base)[0] == 0.62
    positives, negatives = 0.41 * 64_046 / 2_000, 0.78
    assert 3 < positives * (1 - negatives) / negatives < 5


def test_five_cells_of_eds_table_5_are_printed_twice():
    table = published("eds-table-5")
    (note,) = (note for note in table.notes if "repeat" in note.text)
    rows = {row.names[1]: row.cells for row in table.rows}
    same = {
        column for at, column in enumerate(table.columns) if rows["Argus CAT"][at] == rows["Argus ID+C"][at]
    }
    assert {table.columns[column] for _, column in note.cells} == same
    assert {table.rows[row].names[1] for row, _ in note.cells} == {"Argus CAT"}
