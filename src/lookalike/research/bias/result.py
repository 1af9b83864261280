"""What `bias` reports of simulated pools, as plain values."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.research.bias.calibrate import CalibrationCheck
from lookalike.research.bias.simulation import Bias


@dataclass(frozen=True)
class BiasFigure:
    """One figure of one measure with its 95 % interval, over `n` encoders or pairs on `pools` pools."""

    measure: str
    figure: str
    where: str
    value: float
    low: float
    high: float
    n: int
    pools: int


@dataclass(frozen=True)
class BiasResult:
    """All figures, and the words of the shipped calibration against what was true; `true_hr5` by encoder."""

    made: dict[str, int | str | list[str]]
    pools: int
    true_hr5: dict[str, float]
    figures: tuple[BiasFigure, ...]
    words: tuple[CalibrationCheck, ...]
    trained_left_out: tuple[str, ...]
    written: tuple[str, ...]


def bias_result(found: Bias, left_out: Sequence[str], written: Sequence[Path]) -> BiasResult:
    """The result of a simulation, the trained encoders it left out, and the files written."""
    return BiasResult(
        made=found.made,
        pools=found.pools,
        true_hr5={name: value for name, (value, _) in found.truth.items()},
        figures=tuple(
            BiasFigure(cell.measure, cell.figure, cell.where, **vars(cell.estimate)) for cell in found.cells
        ),
        words=found.held,
        trained_left_out=tuple(left_out),
        written=tuple(str(path) for path in written),
    )
