"""Numbers the papers print that need no data: ours beside theirs, and where the paper cannot be right."""

import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.scoring import Row
from oracles.worlds import judged_of

from lookalike.core.checks import strings
from lookalike.core.types import Pool
from lookalike.discover.prevalence import PositiveRate, chebyshev_budget, positive_rate
from lookalike.discover.statistics import PoolFigures, expert_hours, pool_figures
from lookalike.evaluate.measures.credit import phi
from lookalike.evaluate.measures.table import parse
from lookalike.research.papers.published import published

PUBLISHED: dict[str, Any] = tomllib.loads((Path(__file__).parent / "published.toml").read_text())
EDS, VSD = PUBLISHED["eds"], PUBLISHED["vsd"]


def number(printed: str) -> float:
    """The number in what is printed: '~1,400x' is 1400, 'around 1,200' is 1200, '35K' is 35,000."""
    thousand = 1000 if printed.endswith("K") else 1
    return thousand * float("".join(sign for sign in printed if sign.isdigit() or sign == "."))


def figures(pairs: int, queries: int, generators: int, top: int, images: int = 2) -> PoolFigures:
    """Figures of a pool of that size: provenance walks round the pairs until every generator has named its top k."""
    found = np.arange(generators * queries * top)
    pool = Pool(
        query=strings(f"q{pair % queries}" for pair in range(pairs)),
        item=strings(f"p{pair}" for pair in range(pairs)),
        candidate=strings(f"c{pair}" for pair in range(pairs)),
        pair=found % pairs,
        source=found // (queries * top),
        rank=found % top,
        score=np.zeros(len(found), np.float32),
        generators=tuple(f"generator {m}" for m in range(generators)),
        top=top,
        queries=strings(f"q{query}" for query in range(queries)),
    )
    return pool_figures(pool, images)


def eds_pool() -> PoolFigures:
    saving = EDS["saving"]
    return figures(
        EDS["positive_rate"]["pairs"],
        saving["queries"],
        saving["generators"],
        saving["top"],
        saving["images"],
    )


def test_every_published_number_has_its_place_in_the_paper():
    for entry in chain(EDS.values(), VSD.values()):
        assert entry["paper"] in ("EDS", "VSD")
        assert entry["where"]


def test_eds_saves_about_1400_times_the_labelling():
    """|D| / (|M| k) = 52,712 / 36 = 1,464; counting the pairs that were proposed, |A| / |S_k| = 1,946."""
    found, printed = eds_pool(), number(EDS["saving"]["printed"])
    assert found.saving_catalog == pytest.approx(52_712 / 36)
    assert round(found.saving_catalog, -2) == pytest.approx(printed, abs=100)
    assert found.saving_pairs == pytest.approx(2_000 * 52_711 / 54_170)
    assert found.saving_pairs > printed


def eds_rate() -> PositiveRate:
    rate, saving = EDS["positive_rate"], EDS["saving"]
    return positive_rate(
        pairs=saving["queries"] * (saving["images"] - 1),
        known=rate["positives"],
        drawn=rate["sampled"],
        labelled=rate["sampled"],
        positives=rate["sampled_positives"],
        pool_labelled=rate["pairs"],
        pool_positives=rate["positives"],
    )


def test_eds_positive_rates_of_the_pool_and_of_random_pairs():
    rate, found = EDS["positive_rate"], eds_rate()
    assert f"{found.pool_rate:.3f}" == rate["printed"]
    assert f"{found.rate:.3f}" == rate["printed_random"]
    assert found.low == found.lower_bound  # 2 of 2,000 say nothing more than the pool's own positives do


def test_eds_gain_is_far_above_100_at_any_point_of_the_interval():
    """The pool is 848 times as rich as chance, 106 times if the estimate errs by a factor of 8; ours: 266 to 1,946."""
    rate, found = EDS["positive_rate"], eds_rate()
    assert found.gain / rate["printed_error_factor"] > number(rate["printed_gain"])
    assert round(found.gain) == 848
    assert (round(found.gain_low), round(found.gain_high)) == (266, 1946)
    assert found.high < rate["printed_error_factor"] * found.rate  # a factor of 8 is more than 95 % allow for
    assert found.known_share == pytest.approx(0.436, abs=0.001)


def test_eds_budget_of_its_own_sample():
    """With b = 1 / (eps q), 2,000 pairs estimate p to within .001 in half of all cases, to within .01 in 19 of 20."""
    assert chebyshev_budget(0.001, 0.5, 0.0009) == EDS["positive_rate"]["sampled"]
    assert chebyshev_budget(0.01, 0.05, 0.001) == EDS["positive_rate"]["sampled"]
    trials = 1 / number(EDS["positive_rate"]["rare"])
    assert trials == number(EDS["positive_rate"]["printed_trials_per_positive"])


def test_eds_wild_candidates_per_query():
    """Table 1: 64,046 pairs of 2,000 wild queries are 32.0 a query; of 6 x 6, duplicates of 11 %."""
    truth = EDS["ground_truth"]
    queries, pairs = (int(number(cell)) for cell in published("eds-table-1").rows[1].cells)
    found = figures(pairs, queries, truth["generators"], truth["top"])
    assert found.candidates_per_query == pytest.approx(32.0, abs=0.05)
    assert 100 * found.duplicates == pytest.approx(11.05, abs=0.01)


def test_eds_lower_bound_of_the_positive_rate_is_printed_a_little_high():
    """45,920 / |A| is .000436 with |A| = |Q| (|D| - 1); .00045 is printed."""
    bound = eds_rate().lower_bound
    assert f"{bound:.6f}" == "0.000436"
    assert number(EDS["positive_rate"]["printed_lower_bound"]) > bound


def test_eds_duplication_rate():
    """24.4 of at most 30 candidates per query: 18.7 %, printed as ~18 %."""
    d = EDS["duplicates"]
    pairs = round(number(d["printed_mean"]) * d["queries"])
    found = figures(pairs, d["queries"], d["generators"], d["top"])
    assert found.most / found.queries == number(d["printed_most"])
    assert found.candidates_per_query == pytest.approx(number(d["printed_mean"]))
    assert int(100 * found.duplicates) == number(d["printed_rate"])


def test_eds_candidates_per_query_contradict_its_own_table_1():
    """54,170 pairs for 2,000 queries are 27.1 a query, not 24.4; of 6 x 6 that is a duplication of 24.8 %."""
    found = eds_pool()
    assert f"{found.pairs:,}" == published("eds-table-1").cell("Discovery", column="# of annotated pairs")
    assert found.candidates_per_query == pytest.approx(27.085)
    assert found.candidates_per_query > number(EDS["duplicates"]["printed_mean"])
    assert 100 * found.duplicates == pytest.approx(24.76, abs=0.01)


def test_eds_mean_overlap_is_the_mean_of_table_2():
    rows = published("eds-table-2").rows
    table = [float(cell) for i, row in enumerate(rows) for cell in row.cells[i + 1 :]]
    assert len(table) == 15
    assert np.mean(table) == pytest.approx(10.37, abs=0.01)
    assert round(np.mean(table)) == number(EDS["overlap"]["printed_mean"])


def test_the_mean_overlap_of_a_pool_is_that_of_its_table():
    """Two of three generators share half of their lists, the third shares nothing: (50 + 0 + 0) / 3."""
    shared = Pool(
        query=strings("qqqqq"),
        item=strings("abcde"),
        candidate=strings("abcde"),
        pair=np.array([0, 1, 1, 2, 3, 4]),
        source=np.array([0, 0, 1, 1, 2, 2]),
        rank=np.array([0, 1, 0, 1, 0, 1]),
        score=np.zeros(6, np.float32),
        generators=("AS", "DINO", "BEiT"),
        top=2,
        queries=strings("q"),
    )
    found = pool_figures(shared, 6)
    assert found.overlap["AS"]["DINO"] == found.overlap["DINO"]["AS"] == 50
    assert found.mean_overlap == pytest.approx(50 / 3)


def test_eds_brute_force_takes_years_and_random_labelling_days():
    force, random = EDS["brute_force"], EDS["random_labelling"]
    hours = expert_hours(force["pairs"], 1, (3600 / force["seconds_per_pair"],) * 2)[0]
    assert hours / 24 / 365 == pytest.approx(4.76, abs=0.01)
    assert hours / 24 / 365 > number(force["printed_years"])
    hours = expert_hours(random["pairs"], 1, (3600 / random["seconds_per_pair"],) * 2)[0]
    assert round(hours / 24) == number(random["printed_days"])


def test_vsd_counts_add_up_and_fit_into_the_pool_they_came_from():
    labels = VSD["labels"]
    pairs, queries = number(labels["pairs"]), number(labels["queries"])
    assert number(labels["positives"]) + number(labels["negatives"]) == pairs
    assert pairs <= labels["generators"] * queries * labels["top"]
    more = VSD["more_queries"]
    assert round(100 * (queries / more["fashion_queries"] - 1)) == number(more["printed"])


def test_vsd_hours_are_those_of_two_votes_a_pair_and_a_little_more():
    """904 to 1,151 hours for two votes; `around 1,200` fits the 140,000 votes the experts gave: 2.2 a pair."""
    hours, pairs = VSD["hours"], int(number(VSD["labels"]["pairs"]))
    fewest, most = expert_hours(pairs, hours["votes_per_pair"], tuple(map(float, hours["rate"])))
    assert (round(fewest), round(most)) == (904, 1151)
    printed = number(hours["printed_hours"])
    assert printed > most
    votes = int(hours["experts"] * number(hours["printed_votes_per_expert"]))
    fewest, most = expert_hours(votes, 1)
    assert fewest == 1000
    assert fewest < printed < most
    assert hours["experts"] * number(hours["printed_per_expert"]) == printed


@pytest.mark.parametrize(("p", "printed"), VSD["curve"]["phi"])
def test_credit_curves_of_figure_1(p: str, printed: str):
    """A positive earns phi, a negative 1 - phi (VSD Eq. 1, 2)."""
    alpha, exact = float(VSD["curve"]["alpha"]), float(printed)
    assert phi(np.array([float(p)]), alpha)[0] == pytest.approx(exact, rel=1e-11)
    n = 101
    above = round((1 - float(p)) * (n - 1))
    for label, credit in ((1, exact), (0, 1 - exact)):
        judged = judged_of([Row("q", "c", label, above, 0, 0.0, n)])
        assert parse("DCS")(judged).value == pytest.approx(credit, rel=1e-9, abs=1e-12)
