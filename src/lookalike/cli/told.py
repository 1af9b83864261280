"""All that one call of `lookalike evaluate` has to say."""

from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.core.types import Rule
from lookalike.evaluate.significance import Significance
from lookalike.recipes.evaluate import Evaluation, Group

BRIEF = ("EHR@5", "AUC_mac")  # what is printed by a column where no measure is named


@dataclass(frozen=True, eq=False)
class Told:
    """All of one call; `sure` is None where no query was drawn, `per` where no column was named.

    `brief`: two measures are printed, not all.
    """

    found: Evaluation
    rule: Rule
    sure: Significance | None
    per: str | None
    groups: Sequence[Group]
    brief: bool = False

    @property
    def measures(self) -> list[tuple[str, str]]:
        """Names as asked for, and the measures' own."""
        return list(self.found.printed.items())

    @property
    def shown(self) -> list[tuple[str, str]]:
        """Those that people are shown."""
        return [(asked, name) for asked, name in self.measures if asked in BRIEF or not self.brief]
