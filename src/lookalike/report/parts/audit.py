"""The audits as the page shows them: two tables, figures, and a sentence for each in plain words."""

import math
from dataclasses import dataclass

from lookalike.audit.audits import Audits
from lookalike.audit.correlation import Correlation
from lookalike.audit.leave_one_out import Spread
from lookalike.core.text import bracketed, plural
from lookalike.report.figures.audit import ScoreLine, coverage_figure, score_figure
from lookalike.report.figures.credit import credit_curves
from lookalike.report.parts.cells import ShownCell, ShownColumn, ShownRow, kind


@dataclass(frozen=True)
class AuditFigure:
    """One figure with its heading."""

    title: str
    figure: str


@dataclass(frozen=True)
class ShownAudit:
    """Everything of the page's part on trust. `columns` are the generators left out, then HR@K."""

    columns: tuple[ShownColumn, ...]
    order: tuple[ShownRow, ...]
    measures: tuple[ShownColumn, ...]
    spread: tuple[ShownRow, ...]
    scores: tuple[AuditFigure, ...]
    coverage: tuple[AuditFigure, ...]
    curves: tuple[AuditFigure, ...]
    covered: str
    k: int
    replicates: int


def shown_audit(found: Audits) -> ShownAudit:
    """The audits ready for the page."""
    audit, full = found.leave_one_out, found.full_coverage
    order = []
    for measure in audit.measures:
        cells = [_cell(audit.agreement(measure, name).correlations.spearman) for name in found.generators]
        against = _cell(full.agreement(measure, "").correlations.spearman)
        order.append(ShownRow(measure, "", (*cells, against)))
    spread = tuple(
        ShownRow(
            name,
            kind(name in found.generators),
            tuple(_spread(audit.spread(measure, name)) for measure in audit.measures),
        )
        for name in audit.encoders
    )
    counts = [one.queries for one in full.covered if one.queries]
    return ShownAudit(
        (
            *(ShownColumn(f"without {name}") for name in found.generators),
            ShownColumn(f"compared with HR@{full.k}"),
        ),
        tuple(order),
        tuple(map(ShownColumn, audit.measures)),
        spread,
        tuple(AuditFigure(measure, _scores(found, measure)) for measure in audit.measures),
        _coverage(found),
        tuple(AuditFigure(title, credit_curves(ALPHAS, [("", label)], title)) for label, title in CURVES),
        f"{max(counts):,}" if counts else "",
        full.k,
        found.replicates,
    )


ALPHAS = (1.0, 5.0, 10.0, 50.0)
CURVES = ((1, "Credit of a pair labelled similar"), (0, "Credit of a pair labelled dissimilar"))


def _cell(one: Correlation) -> ShownCell:
    if math.isnan(one.value):
        return ShownCell("undefined", hover=one.reason)
    encoders, p = plural(one.n, "encoder"), f"p = {one.p:.3f} ({one.test})" if one.test else ""
    span = bracketed(one.low, one.high, 2)
    return ShownCell(f"{one.value:.2f}", span, f"{encoders}, {p}", count="" if span else encoders)


def _spread(one: Spread) -> ShownCell:
    if math.isnan(one.mean):
        return ShownCell("undefined", hover="; ".join(one.reasons))
    sd = f"± {one.sd:.3f}" if math.isfinite(one.sd) else ""
    few = f"{one.n} of {len(one.without)} label sets" if one.n < len(one.without) else ""
    return ShownCell(f"{one.mean:.3f} {sd}".strip(), hover="; ".join(one.reasons), count=few)


def _scores(found: Audits, measure: str) -> str:
    audit = found.leave_one_out
    lines = []
    for name in audit.encoders:
        one, fed = audit.spread(measure, name), name in found.generators
        rings = (1 + found.generators.index(name),) if fed else ()
        lines.append(ScoreLine(name, (one.full, *one.without), not fed, rings))
    ticks = ("all labels", *(f"no {name}" for name in found.generators))
    return score_figure(lines, ticks, f"{measure} by the generator whose labels are left out")


def _coverage(found: Audits) -> tuple[AuditFigure, ...]:
    """One panel for each measure with a value of single queries, all on one axis."""
    sweep = found.coverage_sweep
    ticks = tuple(f"{level:.1f}" for level in sweep.levels)
    lines = []
    for measure in sweep.measures:
        cells = [sweep.cell(level, measure).over_queries.spearman for level in sweep.levels]
        if any(math.isfinite(one.value) for one in cells):
            y, low, high = (tuple(getattr(one, part) for one in cells) for part in ("value", "low", "high"))
            lines.append(ScoreLine(measure, y, low=low, high=high))
    least = min((y for line in lines for y in (*line.y, *line.low) if math.isfinite(y)), default=0.0)
    axis = min(0.0, math.floor(4 * least) / 4)
    return tuple(
        AuditFigure(
            line.name, coverage_figure(line, ticks, f"{line.name} against HR@{sweep.k} by coverage", axis)
        )
        for line in lines
    )
