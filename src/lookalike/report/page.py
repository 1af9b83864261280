"""`render`: a report as one HTML page that needs no network, no script and no other file."""

import math
import re
from collections.abc import Iterator
from functools import cache
from itertools import groupby

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from lookalike.audit.leave_one_out import NOT_VALIDITY
from lookalike.core import text
from lookalike.core.errors import ArgumentError
from lookalike.report.content import Report, ReportPhoto, Strip, StripGroup
from lookalike.report.figures.measures import heat_map
from lookalike.report.parts import explanations
from lookalike.report.parts.audit import shown_audit
from lookalike.report.parts.cards import cards
from lookalike.report.parts.cells import kind
from lookalike.report.parts.decision import shown_decision
from lookalike.report.parts.drawn import COLUMNS as DRAWN_COLUMNS
from lookalike.report.parts.drawn import shown_drawn
from lookalike.report.parts.exposure import shown_exposure
from lookalike.report.parts.findings import shown_findings, shown_groups
from lookalike.report.parts.learning import shown_learning, strips_of
from lookalike.report.parts.summary import summary
from lookalike.report.parts.table import confidence, shown_table
from lookalike.report.parts.verdict import COLOURS, shown_verdict
from lookalike.report.pictures import album

LIMIT_BYTES = 5_000_000
VERDICTS = {1: "similar", 0: "dissimilar", None: "unjudged"}


def render(report: Report) -> str:
    """The whole page.

    Raises ArgumentError where the page would be larger than `LIMIT_BYTES`, a thumbnail is not a JPEG file, a
    label is none of 1, 0 and None, a row does not fit its table or the overlap its generators.
    """
    table = report.measures
    decision = shown_decision(report.verdict, table, report.trained) if report.verdict else None
    page = (
        environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            album=album(photos(report)),
            decision=decision,
            summary=summary(report, is_decided=decision is not None),
            table=shown_table(table, table.measures) if table else None,
            truth=shown_table(table.truth, table.measures, cautious=False) if table and table.truth else None,
            findings=shown_findings(table) if table else (),
            confidence=confidence(table.settings) if table else "",
            groups=shown_groups(table.groups) if table and table.groups else None,
            cards=cards(table) if table else (),
            verdict=shown_verdict(report.verdict) if report.verdict else None,
            audit=shown_audit(report.audit) if report.audit else None,
            exposure=shown_exposure(report.exposure) if report.exposure else None,
            drawn=shown_drawn(report.drawn, report.learning),
            drawn_columns=DRAWN_COLUMNS,
            overlap=_overlap(report),
            lessons=shown_learning(report.learning) if report.learning else (),
            learned_level=confidence(report.learning.settings) if report.learning else "",
            has_labels=table is not None or (report.pool is not None and report.pool.labelled > 0),
        )
    )
    require_small(page)
    return page


def render_group(group: StripGroup) -> str:
    """A page of one group of strips."""
    page = environment().get_template("group.html.j2").render(group=group, album=album(_photos_of(group)))
    require_small(page)
    return page


def require_small(page: str) -> None:
    """Refuse a page that is too large to send around."""
    size = len(page.encode())
    if size > LIMIT_BYTES:
        raise ArgumentError(
            f"The report is {size / 1e6:.1f} MB; it must be {LIMIT_BYTES / 1e6:.0f} MB or less.",
            fix="Show fewer results and samples, or make the thumbnails smaller.",
        )


def photos(report: Report) -> Iterator[ReportPhoto]:
    """Every photo the page shows, in order; some come several times."""
    yield from report.samples
    first = (report.decisive,) if report.decisive else ()
    for group in (*first, *report.strips, *strips_of(report.learning)):
        yield from _photos_of(group)
    for pair in (pair for pairs in report.pairs for pair in pairs.pairs):
        yield from (pair.first, pair.second)
    if report.exposure is not None:
        yield from (*report.exposure.never, *(photo for photo, _ in report.exposure.most))


def _photos_of(group: StripGroup) -> Iterator[ReportPhoto]:
    for strip in group.rows:
        yield strip.query
        yield from (hit.photo for hit in strip.hits)


def by_query(group: StripGroup) -> list[tuple[ReportPhoto, list[Strip]]]:
    """Neighbouring rows with one query image, gathered under that query."""
    gathered = groupby(group.rows, key=lambda strip: strip.query.image)
    rows = [list(strips) for _, strips in gathered]
    return [(strips[0].query, strips) for strips in rows]


def breakable(name: str) -> list[str]:
    """A name in the parts between which a line may break.

    >>> breakable("descriptor:color+hog"), breakable("DCS(alpha=10)")
    (['descriptor:', 'color', '+hog'], ['DCS', '(alpha=10)'])
    """
    return re.split(r"(?<=[:/])(?=.)|(?<=.)(?=[(+?@])", name)


def verdict(label: int | None) -> str:
    """The word for a label; a missing label is unjudged, which is never a negative."""
    if label not in VERDICTS:
        raise ArgumentError(
            f"A hit has the label {label!r}.", fix="Use 1 (similar), 0 (dissimilar) or None (unjudged)."
        )
    return VERDICTS[label]


@cache
def environment() -> Environment:
    """The templates, with everything escaped that is not a figure of ours."""
    made = Environment(
        loader=PackageLoader("lookalike.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_plain,
    )
    made.filters.update(
        as_count=text.count,
        percent=text.percent,
        small_percent=text.small_percent,
        rough=text.rough,
        value=text.value,
        breakable=breakable,
        kind=kind,
        colour=COLOURS.__getitem__,
        by_query=by_query,
        verdict=verdict,
    )
    made.globals.update(
        interval=text.rough_interval,
        plural=text.plural,
        infinity=math.inf,
        words=explanations,
        not_validity=NOT_VALIDITY,
    )
    return made


def _plain(shown: object) -> object:
    """Text from outside as one safe line; markup made by the templates stays as it is."""
    return text.printable(shown) if type(shown) is str else shown


def _overlap(report: Report) -> str:
    pool = report.pool
    if pool is None or not pool.figures.generators:
        return ""
    names, known = pool.figures.generators, pool.figures.overlap
    overlap = np.array([[known[one].get(other, math.nan) for other in names] for one in names])
    return heat_map(names, overlap, "Overlap of the generators' candidates in %")
