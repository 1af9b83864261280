"""The design by which a pair was drawn, as columns of a label file or as text of a history."""

import json
import math
from collections.abc import Sequence
from typing import NamedTuple


class DesignOfPair(NamedTuple):
    """The sample that drew a pair, the pair's stratum, its inclusion probability, and the seed."""

    sample: str
    stratum: int
    probability: float
    seed: int

    @property
    def text(self) -> str:
        """One line of JSON."""
        return json.dumps(self._asdict(), ensure_ascii=False)


DESIGN = DesignOfPair._fields
NO_DESIGN = "the design is not a sample, a stratum, a probability above 0 and up to 1, and a seed"


def design_from(cells: Sequence[str]) -> DesignOfPair | None:
    """The design in the cells of four columns. Raises ValueError for cells that are none.

    >>> design_from(["a sample", "1", "0.25", "7"])
    DesignOfPair(sample='a sample', stratum=1, probability=0.25, seed=7)
    >>> design_from(["", "", "", ""])
    """
    if not any(cells):
        return None
    sample, stratum, probability, seed = cells
    whole = (int(text.removesuffix(".0")) for text in (stratum, seed))
    found = DesignOfPair(sample, next(whole), float(probability), next(whole))
    if not (sample and 0 < found.probability <= 1 and math.isfinite(found.probability) and found.seed >= 0):
        raise ValueError(NO_DESIGN)
    return found


def design_from_text(text: str) -> DesignOfPair:
    """The design in one line of JSON. Raises ValueError for a line that is none."""
    found = json.loads(text)
    made = design_from([str(found.get(name, "")) for name in DESIGN]) if isinstance(found, dict) else None
    if made is None:
        raise ValueError(NO_DESIGN)
    return made
