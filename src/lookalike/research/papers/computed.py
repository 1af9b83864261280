"""Our side of a table: unrounded figures in the layout of the paper's."""

import math
from dataclasses import dataclass

PERCENT = 100.0
UNDEFINED = "nan"  # as the papers print it


@dataclass(frozen=True)
class ComputedFigure:
    """One number, with its standard deviation where the paper prints one. NaN is undefined, for a `reason`.

    For files alone, since the papers print none of it beside a figure: over how many it is (`n`), its p-value and
    the ends of its 95% interval (NaN: none was made).
    """

    value: float
    spread: float | None = None
    n: int | None = None
    p: float = math.nan
    low: float = math.nan
    high: float = math.nan
    reason: str = ""

    def printed(self, decimals: int) -> str:
        """As a table prints it.

        >>> ComputedFigure(78.9712, 1.2249).printed(2), ComputedFigure(float("nan")).printed(1)
        ('78.97 ± 1.22', 'nan')
        """
        if not math.isfinite(self.value):
            return UNDEFINED
        spread = "" if self.spread is None else f" ± {_rounded(self.spread, decimals)}"
        return _rounded(self.value, decimals) + spread


@dataclass(frozen=True)
class ComputedRow:
    """One row of ours: its names, and one figure per column; None where there is nothing to measure."""

    names: tuple[str, ...]
    figures: tuple[ComputedFigure | None, ...]


@dataclass(frozen=True)
class ComputedTable:
    """Ours in a paper's layout, in the paper's units. `decimals` per column are for print only.

    `remarks` say what was measured on what, over how many, and what was left out.
    """

    columns: tuple[str, ...]
    decimals: tuple[int, ...]
    rows: tuple[ComputedRow, ...]
    remarks: tuple[str, ...] = ()


def _rounded(value: float, decimals: int) -> str:
    return f"{value:,.{decimals}f}" if math.isfinite(value) else UNDEFINED
