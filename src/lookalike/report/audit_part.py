"""The audits as the page shows them: two tables, figures, and a sentence for each in plain words."""

import math
from dataclasses import dataclass

from lookalike.audit.audits import Audits
from lookalike.audit.correlate import Correlation
from lookalike.audit.leave_one_out import Spread
from lookalike.report.audit_figures import Line, coverage_figure, dcs_curves, score_figure
from lookalike.report.formats import plural


@dataclass(frozen=True)
class AuditCell:
    """A value with what stands under it in small."""

    text: str
    under: str
    hover: str


@dataclass(frozen=True)
class AuditRow:
    """One line of an audit's table."""

    name: str
    kind: str
    cells: tuple[AuditCell, ...]


@dataclass(frozen=True)
class Panel:
    """One figure with its heading."""

    title: str
    figure: str


@dataclass(frozen=True)
class ShownAudit:
    """Everything of the page's part on trust. `columns` are the generators left out, then HR@K's."""

    columns: tuple[str, ...]
    order: tuple[AuditRow, ...]
    measures: tuple[str, ...]
    spread: tuple[AuditRow, ...]
    scores: tuple[Panel, ...]
    coverage: tuple[Panel, ...]
    curves: tuple[Panel, ...]
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
        order.append(AuditRow(measure, "", (*cells, against)))
    spread = tuple(
        AuditRow(
            name,
            "generator" if name in found.generators else "not a generator",
            tuple(_spread(audit.spread(measure, name)) for measure in audit.measures),
        )
        for name in audit.encoders
    )
    counts = [one.queries for one in full.covered if one.queries]
    return ShownAudit(
        tuple(f"without {name}" for name in found.generators),
        tuple(order),
        audit.measures,
        spread,
        tuple(Panel(measure, _scores(found, measure)) for measure in audit.measures),
        _coverage(found),
        tuple(Panel(title, dcs_curves(label, title)) for label, title in CURVES),
        f"{max(counts):,}" if counts else "",
        full.k,
        found.replicates,
    )


CURVES = ((1, "Credit of a pair labelled similar"), (0, "Credit of a pair labelled dissimilar"))


def _cell(one: Correlation) -> AuditCell:
    if math.isnan(one.value):
        return AuditCell("undefined", "", one.reason)
    span = f"{one.low:.2f} to {one.high:.2f}" if math.isfinite(one.low) else plural(one.n, "encoder")
    p = f"p = {one.p:.3f} ({one.test})" if one.test else ""
    return AuditCell(f"{one.value:.2f}", span, f"{plural(one.n, 'encoder')}, {p}")


def _spread(one: Spread) -> AuditCell:
    if math.isnan(one.mean):
        return AuditCell("undefined", "", "; ".join(one.reasons))
    sd = f"± {one.sd:.3f}" if math.isfinite(one.sd) else ""
    few = f"{one.n} of {len(one.without)} label sets" if one.n < len(one.without) else ""
    return AuditCell(f"{one.mean:.3f} {sd}".strip(), few, "; ".join(one.reasons))


def _scores(found: Audits, measure: str) -> str:
    audit = found.leave_one_out
    lines = []
    for name in audit.encoders:
        one, fed = audit.spread(measure, name), name in found.generators
        rings = (1 + found.generators.index(name),) if fed else ()
        lines.append(Line(name, (one.full, *one.without), not fed, rings))
    ticks = ("all labels", *(f"no {name}" for name in found.generators))
    return score_figure(lines, ticks, f"{measure} by the generator whose labels are left out")


def _coverage(found: Audits) -> tuple[Panel, ...]:
    """One panel for each measure with a value of single queries, all on one axis."""
    sweep = found.coverage_sweep
    ticks = tuple(f"{level:.1f}" for level in sweep.levels)
    lines = []
    for measure in sweep.measures:
        cells = [sweep.cell(level, measure).over_queries.spearman for level in sweep.levels]
        if any(math.isfinite(one.value) for one in cells):
            y, low, high = (tuple(getattr(one, part) for one in cells) for part in ("value", "low", "high"))
            lines.append(Line(measure, y, low=low, high=high))
    least = min((y for line in lines for y in (*line.y, *line.low) if math.isfinite(y)), default=0.0)
    axis = min(0.0, math.floor(4 * least) / 4)
    return tuple(
        Panel(line.name, coverage_figure(line, ticks, f"{line.name} against HR@{sweep.k} by coverage", axis))
        for line in lines
    )
