"""The study of sampled labels: its catalogs, its judges, one cell computed draw by draw, and resumed runs."""

import numpy as np
import pytest
from scipy.special import logit

from lookalike.audit.sampling.design import Units, sizes
from lookalike.audit.sampling.estimate import estimate
from lookalike.audit.sampling.forecast import forecast
from lookalike.research.bias.ground_truths import as_if_encoders, studio_ground_truth
from lookalike.research.sampling.catalogs import (
    BIAS,
    JUDGES,
    correlation,
    judge,
    open_questions,
    studio_places,
)
from lookalike.research.sampling.cells import COVARIATES, drawn, one_target, run_cells, targets, whole_queries
from lookalike.research.sampling.tables import as_csv, as_text, limits, sampled_cells
from lookalike.store.journal import Journal
from lookalike.studio import studio

IMAGES = 500


@pytest.fixture(scope="module")
def found():
    return studio_places(IMAGES, 1)


def test_known_places_and_answers_add_up_to_the_true_hit_rate(found):
    shop = studio(IMAGES, photos_per_item=2, seed=1)
    truth = studio_ground_truth(shop, as_if_encoders(shop))
    for encoder, hits in zip(truth.encoders, truth.hits(5), strict=True):
        units, which = found.places.units(encoder)
        assert units.known + units.weight @ found.answer[which] == pytest.approx(hits.mean())
        assert (len(units) == 0) == (encoder not in found.outside)


def test_the_curve_s_chances_add_up_to_the_corrected_value(found):
    p = found.places
    for encoder in found.outside:
        chance = found.curve[encoder]
        worth = np.where(chance > 0, chance, found.answer[p.question])
        value = p.weight[p.encoders.index(encoder)] @ worth / (p.k * p.queries)
        assert value == pytest.approx(found.corrected[encoder], abs=1e-6)


def test_a_question_asked_in_both_directions_is_one(found):
    ends = [tuple(pair) for pair in found.places.photos.tolist()]
    assert len(set(ends)) == len(ends) < len(found.places)
    assert all(a < b for a, b in ends)


@pytest.mark.parametrize("kind", JUDGES)
def test_judges_correlate_with_the_answers_as_they_say(found, kind):
    scores, here = judge(found, kind, 3), open_questions(found)
    assert 0 <= scores.min() < scores.max() <= 1
    close = 0.1 if kind == "biased" else 1e-6
    assert correlation(scores[here], found.answer[here]) == pytest.approx(JUDGES[kind], abs=close)


def test_the_biased_judge_favours_one_encoder_s_candidates(found):
    p, here = found.places, open_questions(found)
    mine = np.isin(here, p.question[p.weight[p.encoders.index(found.outside[0])] > 0])
    odds = logit(judge(found, "biased", 3)[here])
    for answer in (0.0, 1.0):
        same = found.answer[here] == answer
        assert odds[mine & same].mean() - odds[~mine & same].mean() == pytest.approx(BIAS, abs=0.6)


def test_drawn_units_are_simple_random_samples_of_the_strata():
    units = Units(np.repeat([0.1, -0.1], [6, 4]), np.repeat([0, 1], [6, 4]))
    unit = drawn(units, np.array([3, 1]), 4000, 0)
    assert (np.sort(units.stratum[unit], axis=1) == units.stratum[unit]).all()
    assert all(len(set(row)) == 4 for row in unit[:50].tolist())
    assert np.bincount(unit.ravel()) / 4000 == pytest.approx(np.repeat([0.5, 0.25], [6, 4]), abs=0.04)


def test_a_cell_is_what_its_draws_are_one_by_one(found):
    target = targets(found)[-1]
    guesses = {kind: judge(found, kind, 3) for kind in JUDGES}
    cell = one_target(found, target, guesses, 40, 7)["cells"]["50"]
    plain, which = found.places.units(*target)
    y = found.answer[which]
    truth, taken = plain.known + plain.weight @ y, sizes(plain, 50)
    for name, guess in (("none", None), ("good", guesses["good"][which])):
        units = Units(plain.weight, plain.stratum, plain.known, guess)
        each = [estimate(units, unit, y[unit]) for unit in drawn(plain, taken, 40, 57)]
        assert cell[name]["covers"] == np.mean([one.low <= truth <= one.high for one in each])
        assert cell[name]["rmse"] == pytest.approx(
            np.sqrt(np.mean([(one.value - truth) ** 2 for one in each]))
        )
        assert cell[name]["width"] == pytest.approx(np.mean([one.high - one.low for one in each]))


def test_whole_queries_need_the_fewest_labels_that_are_as_precise(found):
    target = targets(found)[-1]
    ratio = whole_queries(found, target, None)["both 50"]
    units, which = found.places.units(*target)
    by_query, asked = found.places.by_query(*target)
    labels = by_query.labels_of()
    answers, place = found.answer[asked], np.searchsorted(asked, which)
    wanted = forecast(units, by_query, 50, answers, place).pairs
    enough = int(np.argmin(np.abs(labels - 50 * ratio)))
    assert labels[enough] == pytest.approx(50 * ratio)
    widths = [
        forecast(units, by_query, int(np.ceil(labels[m])), answers, place).whole_queries
        for m in (enough, enough - 1)
    ]
    assert widths[0] <= wanted < widths[1]


def test_a_stopped_run_goes_on_and_the_tables_show_every_cell(found, tmp_path):
    journal = Journal(tmp_path / "j.jsonl")
    first = next(iter(run_cells(found, 20, 0, journal)))
    entries = list(run_cells(found, 20, 0, Journal(tmp_path / "j.jsonl")))
    assert entries[0] == first
    assert len(entries) == len(targets(found)) == 8 + 28
    kept = (tmp_path / "j.jsonl").read_bytes()
    assert list(run_cells(found, 20, 0, Journal(tmp_path / "j.jsonl"))) == entries
    assert (tmp_path / "j.jsonl").read_bytes() == kept
    cells = sampled_cells(entries)
    one = next(c for c in cells if (c.kind, c.labels, c.covariate) == ("difference", 50, "good"))
    values = [e["cells"]["50"]["good"] for e in entries if e["second"] and "50" in e["cells"]]
    assert one.values == len(values)
    assert one.mean_coverage == pytest.approx(np.mean([v["covers"] for v in values]))
    assert one.worst_coverage == min(v["covers"] for v in values)
    assert one.rmse == pytest.approx(np.sqrt(np.mean([v["rmse"] ** 2 for v in values])))
    assert len(as_csv(entries).splitlines()) == 1 + len(cells)
    text = as_text(entries)
    assert all(f"| {name} | " in text for name in COVARIATES)
    assert all(line in text for line in limits(cells))
