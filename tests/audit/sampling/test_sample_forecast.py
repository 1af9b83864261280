"""Forecasts: the half-width that samples turn out to have, of pairs and of whole queries."""

import numpy as np
import pytest

from lookalike.audit.sampling.design import Units, draw
from lookalike.audit.sampling.estimate import estimate
from lookalike.audit.sampling.forecast import alike_within_queries, forecast
from lookalike.audit.sampling.queries import ByQuery

QUERIES, EACH = 200, 5


def world(alike: float, signs: bool, seed: int, chance: float | np.ndarray = 0.4):
    """200 queries of 5 places; with chance `alike` a query's answers are those of one coin."""
    random = np.random.default_rng(seed)
    one = random.uniform(size=(QUERIES, 1))
    own = random.uniform(size=(QUERIES, EACH))
    label = (np.where(random.uniform(size=(QUERIES, 1)) < alike, one, own).ravel() < chance).astype(float)
    weight = np.full(QUERIES * EACH, 1 / (QUERIES * EACH))
    if signs:
        weight[::2] *= -1
    rows = ByQuery(np.repeat(np.arange(QUERIES), EACH), np.arange(QUERIES * EACH), weight, np.zeros(QUERIES))
    return rows, label


def widths(rows: ByQuery, label: np.ndarray, guess: np.ndarray | None, seed: int) -> tuple[float, float]:
    """Half-widths that 100 labels give: of pairs by t, and of whole queries."""
    units = Units(
        rows.weight, (rows.weight > 0).astype(int), 0.0, np.full(len(label), 0.4) if guess is None else guess
    )
    design = draw(units, 100, seed)
    pairs = estimate(units, design, label[design])
    whole, which = rows.units(guess)
    design = draw(whole, 20, seed)
    queries = estimate(whole, design, rows.answers(which[design], label))
    return (pairs.high - pairs.low) / 2, (queries.high - queries.low) / 2


@pytest.mark.parametrize("signs", [False, True])
@pytest.mark.parametrize("alike", [0.0, 0.6])
@pytest.mark.parametrize("guessed", [False, True])
def test_forecasts_are_the_half_widths_that_samples_have(alike, signs, guessed):
    chance = (
        np.random.default_rng(2).uniform(0.02, 0.98, QUERIES * EACH)
        if guessed
        else np.full(QUERIES * EACH, 0.4)
    )
    rows, label = world(alike, signs, 1, chance)
    units = Units(rows.weight, (rows.weight > 0).astype(int), 0.0, chance if guessed else None)
    left = alike_within_queries(rows.query, label, chance)
    found = forecast(
        units, rows, 100, chance, np.arange(len(label)), guess=chance if guessed else None, alike=left
    )
    seen = np.mean([widths(rows, label, chance if guessed else None, seed) for seed in range(60)], axis=0)
    assert found.queries == 20
    assert found.pairs == pytest.approx(seen[0], rel=0.15)
    assert found.whole_queries == pytest.approx(seen[1], rel=0.2)


def test_queries_are_chosen_where_their_answers_cancel():
    rows, _ = world(0.0, True, 0)
    units = Units(rows.weight, (rows.weight > 0).astype(int))
    chance = np.full(len(units), 0.4)
    which = np.arange(len(units))
    assert forecast(units, rows, 300, chance, which, alike=0.9).unit == "query"
    assert forecast(units, rows, 300, chance, which, alike=0.0).unit == "pair"


def test_looks_widen_and_all_labels_leave_nothing_open():
    rows, _ = world(0.0, False, 0)
    units = Units(rows.weight, np.zeros(len(rows.weight), int))
    chance, which = np.full(len(units), 0.4), np.arange(len(units))
    assert (
        forecast(units, rows, 100, chance, which, looks=5).pairs
        > forecast(units, rows, 100, chance, which).pairs
    )
    everything = forecast(units, rows, 1000, chance, which)
    assert (everything.pairs, everything.whole_queries) == (0.0, 0.0)
    assert np.isnan(forecast(units, rows, 9, chance, which).whole_queries)


def test_likeness_within_queries_is_found_again():
    found = [alike_within_queries(rows.query, label, np.full(len(label), 0.4)) for rows, label in
             (world(0.5, False, seed) for seed in range(20))]  # fmt: skip
    assert np.mean(found) == pytest.approx(0.5, abs=0.05)
    assert alike_within_queries(np.arange(3), np.ones(3), np.full(3, 0.5)) == 0.0
