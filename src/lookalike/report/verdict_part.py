"""The verdict as the page shows it: a word per encoder and measure, and what to do with each encoder."""

from dataclasses import dataclass

from lookalike.core.errors import ArgumentError
from lookalike.report.content import VerdictCell, VerdictPart, VerdictRow

WORDS = {
    "trusted": "yes",
    "with care": "care",
    "not to be trusted": "no",
    "cannot tell": "open",
    "unknown": "open",
}  # the word -> its colour; "cannot tell" and "unknown" claim nothing


@dataclass(frozen=True)
class Chip:
    """One word in its colour, and under it how often the measure is right."""

    word: str
    colour: str
    right: str
    sentence: str


@dataclass(frozen=True)
class ShownVerdict:
    """One encoder's line. `said` are its sentences by measure, the same sentence once."""

    encoder: str
    kind: str
    coverage: str
    chips: tuple[Chip, ...]
    said: tuple[tuple[str, str], ...]
    because: tuple[str, ...]
    advice: str


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
        if cell.sentence:
            measures.setdefault(cell.sentence, []).append(name)
    return ShownVerdict(
        row.encoder,
        "generator" if row.fed else "not a generator",
        row.coverage,
        tuple(map(_chip, row.cells)),
        tuple((", ".join(names), sentence) for sentence, names in measures.items()),
        row.because,
        row.advice,
    )


def _chip(cell: VerdictCell) -> Chip:
    if cell.word not in WORDS:
        raise ArgumentError(f"A verdict says {cell.word!r}.", fix=f"Use one of: {', '.join(WORDS)}.")
    return Chip(cell.word, WORDS[cell.word], cell.right, cell.sentence)
