"""The verdict as the page shows it: a word per encoder and measure, and what to do with each encoder."""

from dataclasses import dataclass

from lookalike.core.errors import ArgumentError
from lookalike.report.content import VerdictPart, VerdictRow

COLOURS = {
    "trusted": "yes",
    "with care": "care",
    "not to be trusted": "no",
    "cannot tell": "open",
    "unknown": "open",
}  # the word -> its colour; "cannot tell" and "unknown" claim nothing


@dataclass(frozen=True)
class ShownVerdict:
    """One encoder's line; `said` are its sentences by measure, the same sentence once."""

    row: VerdictRow
    said: tuple[tuple[str, str], ...]


def shown_verdict(part: VerdictPart) -> tuple[ShownVerdict, ...]:
    """The verdict ready for the page; refuses rows that do not fit and words that have no colour."""
    return tuple(_row(part, row) for row in part.rows)


def _row(part: VerdictPart, row: VerdictRow) -> ShownVerdict:
    if len(row.cells) != len(part.measures):
        raise ArgumentError(
            f"The verdict on {row.encoder!r} has {len(row.cells)} words for {len(part.measures)} measures.",
            fix="Give every row one VerdictCell per measure.",
        )
    measures: dict[str, list[str]] = {}
    for name, cell in zip(part.measures, row.cells, strict=True):
        if cell.word not in COLOURS:
            raise ArgumentError(f"A verdict says {cell.word!r}.", fix=f"Use one of: {', '.join(COLOURS)}.")
        if cell.sentence:
            measures.setdefault(cell.sentence, []).append(name)
    return ShownVerdict(row, tuple((", ".join(names), said) for said, names in measures.items()))
