"""The verdict as the report's part: a word for every encoder and measure, why, and what HR@K is likely to be."""

from math import isnan

from lookalike.audit.verdict import Judgement, Verdict
from lookalike.core.text import listed, percent
from lookalike.report.content import VerdictCell, VerdictPart, VerdictRow


def verdict_part(found: Judgement) -> VerdictPart | None:
    """None where no two encoders can be compared, or nobody recorded who fed the pool."""
    measures = tuple(dict.fromkeys(one.measure for one in found.verdicts))
    if not measures or found.generators is None:
        return None
    first = tuple(sorted(measures, key=lambda name: "corrected" not in name))
    return VerdictPart(
        first, tuple(_row(found, encoder, first) for encoder in found.encoders), found.headline
    )


def _row(found: Judgement, encoder: str, measures: tuple[str, ...]) -> VerdictRow:
    by_measure = {one.measure: one for one in found.of(encoder)}
    coverage = found.coverage[encoder]
    because = next((one.because for one in by_measure.values()), ())
    return VerdictRow(
        encoder=encoder,
        fed=encoder in (found.generators or ()),
        coverage="" if isnan(coverage) else f"{percent(coverage, 0)} of its first {found.k} labelled",
        cells=tuple(_cell(by_measure.get(name)) for name in measures),
        because=because[1:],  # the first says what the line's head says already
        advice=found.correction(encoder, decimals=2),
    )


def _cell(one: Verdict | None) -> VerdictCell:
    if one is None:
        return VerdictCell("unknown", "", "")
    right = "" if isnan(one.right) else f"right {100 * one.right:.0f} in 100"
    about: tuple[str, ...] = ()
    if one.else_word not in ("", one.word):
        about = (
            f"Compared with {listed(one.against)}: {one.word}. Compared with the others: {one.else_word}.",
        )
        right += f"; else {one.else_word}"
    return VerdictCell(one.word, right, " ".join((*about, *one.of_measure)))
