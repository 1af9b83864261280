"""The table behind the verdict's words, made from simulated pools, and how well it holds on others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.audit.trust import BANDS, KINDS, trust, wilson
from lookalike.research.bias.encoder_pairs import EncoderPairs, all_pairs, pairs
from lookalike.research.bias.estimates import MORE
from lookalike.research.bias.simulate import MEASURES, SimulatedPools

CALIBRATED = (*MEASURES, "HR@5 corrected", f"HR@5 with {MORE} labels")
"""What the table holds: the measures, and the estimates that did well."""
WORDS = ("trusted", "with care", "not to be trusted", "unknown")


@dataclass(frozen=True)
class CalibrationCheck:
    """How a calibration did on pools it was not made from: the share it promised and what was so."""

    measure: str
    word: str
    promised: float
    share: float
    pairs: int


def calibrated(outcomes: Sequence[SimulatedPools]) -> dict[str, dict[str, dict[str, list[dict[str, float]]]]]:
    """measure -> kind -> "separated" or "open" -> one cell for each band of coverage.

    A cell: `share` ordered as the true HR@5 orders them, `low` its lower bound, `pairs`, `pools`.
    """
    return {measure: _of_measure(outcomes, measure) for measure in calibrated_among(outcomes[0].measures)}


def held(
    outcomes: Sequence[SimulatedPools], table: Mapping[str, Any] | None = None
) -> tuple[CalibrationCheck, ...]:
    """The words of a calibration against what was so on these pools."""
    checks = []
    for measure in calibrated_among(outcomes[0].measures):
        found = all_pairs(outcomes, measure)
        promised = np.full(len(found.right), np.nan)
        words = np.full(len(promised), "unknown", dtype=object)
        for kind, name in enumerate(KINDS):
            for place in range(len(BANDS) - 1):
                for separated in (True, False):
                    here = _cell(found, kind, place, separated)
                    known = trust(measure, name, BANDS[place] + 0.1, separated, table)
                    promised[here], words[here] = known.share, known.word
        for word in WORDS:
            some = words == word
            if some.any():
                checks.append(
                    CalibrationCheck(
                        measure,
                        word,
                        float(np.nanmean(promised[some])) if word != "unknown" else float("nan"),
                        float(found.right[some].mean()),
                        int(some.sum()),
                    )
                )
    return tuple(checks)


def calibrated_among(measures: Sequence[str]) -> list[str]:
    """Those of some measures that the table holds."""
    return [measure for measure in CALIBRATED if measure in measures]


def first_pool(outcome: SimulatedPools) -> dict[str, tuple[int, float, int]]:
    """Of the first pool, by measure: pairs of encoders, how many are ordered right, how many separated."""
    found = {}
    for measure in calibrated_among(outcome.measures):
        one = pairs(outcome, measure)
        first = one.pool == 0
        found[measure] = int(first.sum()), float(one.right[first].sum()), int(one.separated[first].sum())
    return found


def as_toml(
    outcomes: Sequence[SimulatedPools], made: Mapping[str, int | str | list[str]], check: SimulatedPools
) -> str:
    """The table as a file, with what it was made from first.

    `check` is a pool of a small catalog, which takes seconds to simulate again: it shows that this version of the
    code still makes what the file holds.
    """
    lines = [
        "# How often each measure orders two encoders as the true HR@5 does, on simulated pools of the studio catalog.",
        "# Made by `lookalike bias --calibration FILE`; not to be edited by hand. `low`: lower bound of `share`.",
        "# In each list one cell for coverage@5 of the less covered encoder of 0-.2, .2-.4, .4-.6, .6-.8, .8-1.",
        "",
        "[made]",
    ]
    lines += [f"{name} = {_toml(value)}" for name, value in made.items()]
    lines += ["", "[check] # one pool of a small catalog: pairs of encoders, ordered right, separated"]
    lines += [f'"{measure}" = {_toml(list(counts))}' for measure, counts in first_pool(check).items()]
    for measure, kinds in calibrated(outcomes).items():
        for kind, states in kinds.items():
            lines += ["", f'[cells."{measure}"."{kind}"]']
            for state, cells in states.items():
                lines.append(f"{state} = [")
                for cell in cells:
                    inside = ", ".join(f"{name} = {_toml(value)}" for name, value in cell.items())
                    lines.append(f"  {{ {inside} }},")
                lines.append("]")
    return "\n".join(lines) + "\n"


def _of_measure(
    outcomes: Sequence[SimulatedPools], measure: str
) -> dict[str, dict[str, list[dict[str, float]]]]:
    found = all_pairs(outcomes, measure)
    return {
        name: {
            state: [_summed(found, _cell(found, kind, place, separated)) for place in range(len(BANDS) - 1)]
            for state, separated in (("separated", True), ("open", False))
        }
        for kind, name in enumerate(KINDS)
    }


def _cell(found: EncoderPairs, kind: int, place: int, separated: bool) -> np.ndarray:
    return np.asarray((found.kind == kind) & (found.band == place) & (found.separated == separated))


def _summed(found: EncoderPairs, some: np.ndarray) -> dict[str, float]:
    """A cell's share, and Wilson's lower bound with as many trials as the pairs of whole pools are worth.

    Pairs of one pool are not independent. The variance of the share over pools, V = sum over pools of (right - share x
    pairs)^2 / pairs^2, says how many independent pairs they amount to: share (1 - share) / V, at most the pairs, and
    the number of pools where every pair is right or every one wrong.
    """
    right, count = found.right[some], int(some.sum())
    if count == 0:
        return {"share": 0.0, "low": 0.0, "pairs": 0, "pools": 0}
    pool, share = found.pool[some], float(right.mean())
    used, place = np.unique(pool, return_inverse=True)
    apart = np.bincount(place, weights=right - share)
    variance = float((apart * apart).sum()) / count**2
    worth = float(len(used) if variance == 0 else min(share * (1 - share) / variance, count))
    low, _ = wilson(share, worth)
    return {"share": round(share, 4), "low": round(low, 4), "pairs": count, "pools": len(used)}


def _toml(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return f'"{value}"' if isinstance(value, str) else f"{value}"
