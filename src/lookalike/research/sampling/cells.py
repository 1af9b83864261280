"""One value drawn and estimated many times: how often its interval holds the truth, and how far it is off."""

import math
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from lookalike.audit.sampling.design import Units, filled, sizes
from lookalike.audit.sampling.estimate import estimates
from lookalike.audit.sampling.forecast import forecast
from lookalike.core.progress import Progress
from lookalike.research.sampling.catalogs import JUDGES, JudgedPlaces, correlation, judge
from lookalike.store.journal import Entry, Journal

LABELS = (50, 100, 200)
PAIRS = (50, 100)
"""Labels of pairs that whole queries are compared with."""
QUERIES = ("none, whole queries", "good, whole queries")
COVARIATES = ("none", "curve", *JUDGES, "half")
"""What is known of each place before the draw; "half" is the good judge on a random half of the questions."""
Target = tuple[str, str | None]


def targets(found: JudgedPlaces) -> list[Target]:
    """Each encoder outside the pool, and each difference of two of them."""
    singles: list[Target] = [(name, None) for name in found.outside]
    return singles + list(combinations(found.outside, 2))


def run_cells(
    found: JudgedPlaces, draws: int, seed: int, journal: Journal, progress: Progress | None = None
) -> Iterator[Entry]:
    """An entry for every target and number of labels; those in the journal are not computed again."""
    guesses: dict[str, np.ndarray] = {}
    listed = targets(found)
    for at, target in enumerate(listed):
        key = f"{found.name} {target} {draws} draws of seed {seed}"
        entry = journal.get(key)
        if entry is None:
            guesses = guesses or {kind: judge(found, kind, seed) for kind in JUDGES}
            entry = {
                "key": key,
                "catalog": found.name,
                **one_target(found, target, guesses, draws, seed + at),
            }
            journal.add(entry)
        yield entry
        if progress is not None:
            progress(at + 1, len(listed))


def one_target(
    found: JudgedPlaces,
    target: Target,
    judges: Mapping[str, Float64[np.ndarray, " questions"]],
    draws: int,
    seed: int,
) -> dict[str, Any]:
    """All numbers of one value: by labels and covariate, of the measures without labels, and of whole queries."""
    plain, which = found.places.units(*target)
    y = found.answer[which]
    truth = plain.known + float(plain.weight @ y)
    half = np.where(np.random.default_rng(seed).random(len(y)) < 0.5, judges["good"][which], np.nan)
    guesses = {
        "none": None,
        "curve": _curve(found, target)[which],
        **{name: one[which] for name, one in judges.items()},
        "half": filled(half, plain.stratum),
    }
    cells = {}
    for labels in LABELS:
        taken = sizes(plain, labels)
        if taken.sum() == len(plain):
            continue
        unit = drawn(plain, taken, draws, seed + labels)
        cells[str(labels)] = {
            name: _held(Units(plain.weight, plain.stratum, plain.known, guess), unit, y[unit], truth)
            for name, guess in guesses.items()
        } | _held_by_queries(found, target, judges["good"], labels, draws, seed + labels)
    first, second = target
    without = {
        name: values[first] - (0.0 if second is None else values[second]) - truth
        for name, values in (("EHR", found.estimated), ("corrected", found.corrected))
    }
    return {
        "first": first, "second": second, "truth": truth, "open": len(plain), "cells": cells, "error": without,
        "correlation": {name: 0.0 if g is None else correlation(g, y) for name, g in guesses.items()},
        "whole": {name: whole_queries(found, target, one) for name, one in (("none", None), ("good", judges["good"]))},
    }  # fmt: skip


def drawn(
    units: Units, taken: Int64[np.ndarray, " strata"], draws: int, seed: int
) -> Int64[np.ndarray, "draws drawn"]:
    """Stratified simple random samples without replacement, stratum by stratum."""
    random = np.random.Generator(np.random.PCG64(seed))
    parts = []
    for h, n in zip(np.unique(units.stratum), taken.tolist(), strict=True):
        mine = np.flatnonzero(units.stratum == h)
        keys = random.random((draws, len(mine)), np.float32)
        parts.append(mine[np.argpartition(keys, n - 1, axis=1)[:, :n]])
    return np.concatenate(parts, axis=1)


def whole_queries(
    found: JudgedPlaces, target: Target, guess: Float64[np.ndarray, " questions"] | None
) -> dict[str, float]:
    """Labels of whole queries for the expected half-width of some labels of pairs, over these, from the true answers.

    "both" uses the covariate in both designs, "pairs" in the pairs alone. Without the key where the labels of pairs
    are all that are open.
    """
    units, which = found.places.units(*target)
    by_query, asked = found.places.by_query(*target)
    place = np.searchsorted(asked, which)
    if guess is not None:
        units = Units(units.weight, units.stratum, units.known, guess[which])
    ratios = {}
    for name, used in (("both", guess), ("pairs", None)):
        given = None if used is None else used[asked]
        for pairs in PAIRS:
            wanted = forecast(units, by_query, pairs, found.answer[asked], place, guess=given).pairs
            if wanted > 0:
                needed = next(
                    float(labels)
                    for labels in by_query.labels_of()[2:]
                    if forecast(
                        units, by_query, math.ceil(labels), found.answer[asked], place, guess=given
                    ).whole_queries
                    <= wanted
                )
                ratios[f"{name} {pairs}"] = needed / pairs
    return ratios


def _held_by_queries(
    found: JudgedPlaces,
    target: Target,
    guess: Float64[np.ndarray, " questions"],
    labels: int,
    draws: int,
    seed: int,
) -> dict[str, dict[str, float]]:
    """The same with as many whole queries as the labels are enough for; nothing where these are 1 or nearly all."""
    by_query, asked = found.places.by_query(*target)
    cells = {}
    for name, known in zip(QUERIES, (None, guess[asked]), strict=True):
        units, which = by_query.units(known)
        taken = sizes(units, max(int(np.searchsorted(by_query.labels_of(), labels, side="right")) - 1, 1))
        if 1 < taken.sum() < len(units):
            y = by_query.answers(which, found.answer[asked])[0]
            unit = drawn(units, taken, draws, seed)
            cells[name] = _held(units, unit, y[unit], units.known + float(units.weight @ y))
    return cells


def _curve(found: JudgedPlaces, target: Target) -> Float64[np.ndarray, " questions"]:
    """The corrected curve's chance of every question; of a difference, that of the list which the candidate is in."""
    p = found.places
    sides = [name for name in target if name is not None]
    heavy = np.stack([p.weight[p.encoders.index(name)] for name in sides])
    chance = np.stack([found.curve[name] for name in sides])
    rows = (heavy * chance).sum(axis=0) / np.maximum(heavy.sum(axis=0), 1e-300)
    return p.of_questions(rows, *target)


def _held(
    units: Units,
    unit: Int64[np.ndarray, "draws drawn"],
    label: Float64[np.ndarray, "draws drawn"],
    truth: float,
) -> dict[str, float]:
    found = estimates(units, unit, label)
    return {
        "covers": float(((found.low <= truth) & (truth <= found.high)).mean()),
        "rmse": float(np.sqrt(((found.value - truth) ** 2).mean())),
        "bias": float((found.value - truth).mean()),
        "width": float((found.high - found.low).mean()),
    }
