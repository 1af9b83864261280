"""`report`: everything a workspace knows, as one page."""

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

import numpy as np

from lookalike.audit.audits import Audits
from lookalike.audit.verdict import advice
from lookalike.core.errors import LookalikeError
from lookalike.core.progress import Progress
from lookalike.core.text import plural
from lookalike.core.types import Catalog, Scores
from lookalike.discover.statistics import expert_hours
from lookalike.evaluate.measures.table import DEFAULT
from lookalike.report.content import PoolPart, Report, VerdictPart
from lookalike.report.page import render
from lookalike.store.disk import write_file
from lookalike.store.workspace import REPORTS, Workspace
from lookalike.workflows.decide.audit import audit_and_verdict
from lookalike.workflows.decide.evaluate import Evaluation, evaluate
from lookalike.workflows.decide.trained import left_out, trained, untrained
from lookalike.workflows.label.discover import figures, labelled, positive_rate
from lookalike.workflows.report.facts import encoders, facts
from lookalike.workflows.report.learning import learning_part
from lookalike.workflows.report.measures import measure_table
from lookalike.workflows.report.strips import Photos, strips
from lookalike.workflows.report.verdict import verdict_part
from lookalike.workflows.start.status import next_command, status

SAMPLES = 18
REPLICATES = 500


def report(
    workspace: Workspace,
    now: datetime,
    path: Path | None = None,
    *,
    truth: Sequence[Scores] = (),
    learned_truth: Sequence[Scores] = (),
    progress: Progress | None = None,
) -> Path:
    """Write the report and return where it is.

    `truth` are scores against complete labels, where these are known, `learned_truth` the same on the test split, of
    trained encoders and those they were trained on.
    """
    path = path or workspace.folder / REPORTS / "report.html"
    content = gather(workspace, now, truth=truth, learned_truth=learned_truth, progress=progress)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, render(content).encode("utf-8"))
    return path


def gather(
    workspace: Workspace,
    now: datetime,
    *,
    truth: Sequence[Scores] = (),
    learned_truth: Sequence[Scores] = (),
    progress: Progress | None = None,
) -> Report:
    """The report's content: every part that the workspace has."""
    catalog, settings = workspace.catalog, workspace.settings
    gallery = Photos(workspace)
    pool = workspace.pool()
    found = (
        evaluate(workspace, untrained(workspace), DEFAULT, progress=progress)
        if workspace.encoders and workspace.label_count()
        else None
    )
    taught = trained(workspace)
    remarks = () if found is None else found.notes or left_out(taught)
    audits, shown, settling = (None, None, "") if found is None else _audit(workspace, found, progress)
    return Report(
        title="Studio catalog" if settings.generated else _title(workspace.source),
        subtitle=f"{len(catalog):,} images of {len(set(catalog.item)):,} items",
        created=now.strftime("%d %B %Y"),
        generated=settings.generated,
        facts=facts(workspace),
        encoders=encoders(workspace),
        samples=tuple(gallery.photo(row) for row in sample_rows(catalog, SAMPLES, settings.seed)),
        left_out=_left_out(catalog),
        pool=None if pool is None else _pool_part(workspace),
        measures=None
        if found is None
        else measure_table(catalog, found, truth, remarks=remarks, progress=progress),
        verdict=shown,
        audit=audits,
        strips=strips(workspace, gallery, found),
        learning=None if found is None else learning_part(workspace, gallery, learned_truth),
        conflicts=() if found is None else tuple(f"{u.count:,} labels: {u.reason}." for u in found.unusable),
        notes=_notes(found, gallery.unreadable),
        next_steps=tuple(filter(None, (next_command(status(workspace)), settling))),
    )


def _title(source: Path) -> str:
    """The folder's name, or the table's; a table called catalog is named after its folder."""
    return (
        source.parent.name
        if source.stem.lower() in ("catalog", "metadata") and source.suffix
        else source.stem
    )


def sample_rows(catalog: Catalog, count: int, seed: int) -> list[int]:
    """A few rows from every category in turn, each of another item, seeded."""
    shuffled = np.random.default_rng(seed).permutation(len(catalog))
    turn: Counter[str] = Counter()
    ordered = []
    seen: set[str] = set()
    for row in shuffled:
        if catalog.item[row] not in seen:
            seen.add(catalog.item[row])
            ordered.append((turn[catalog.category[row]], catalog.category[row], int(row)))
            turn[catalog.category[row]] += 1
    return [row for _, _, row in sorted(ordered)[:count]]


def _left_out(catalog: Catalog) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    by_reason: dict[str, list[str]] = {}
    for gone in catalog.left_out:
        by_reason.setdefault(gone.reason.partition(":")[0], []).append(gone.image)
    return tuple((reason, len(images), tuple(images[:5])) for reason, images in by_reason.items())


def _pool_part(workspace: Workspace) -> PoolPart | None:
    pool = workspace.pool()
    if pool is None:
        return None
    told = figures(workspace, pool)
    count, positives = labelled(workspace, pool)
    low, high = expert_hours(told.asked)
    return PoolPart(
        figures=told,
        hours_low=low,
        hours_high=high,
        labelled=count,
        positives=positives,
        rate=positive_rate(workspace, pool),
    )


def _audit(
    workspace: Workspace, found: Evaluation, progress: Progress | None
) -> tuple[Audits | None, VerdictPart | None, str]:
    """The audits, the verdict and the command that would separate encoders; none if no label can be ranked."""
    try:
        outcome = audit_and_verdict(
            workspace, ranked=found.ranked, replicates=REPLICATES, bar=lambda _: nullcontext(progress)
        )
    except LookalikeError:
        return None, None, ""
    pair = advice(outcome.verdict.encoders, outcome.verdict.verdicts)
    return (
        outcome,
        verdict_part(outcome.verdict),
        f"lookalike compare {' '.join(pair)}" if pair else "",
    )


def _notes(found: Evaluation | None, unreadable: list[str]) -> tuple[str, ...]:
    missing = (
        (f"{plural(len(unreadable), 'photo')} of this page cannot be read any more.",) if unreadable else ()
    )
    if found is None:
        return missing
    split = found.rule.split
    against = f"within the {split} split" if split else "against the whole gallery"
    return (
        *missing,
        f"Scores use {found.labels:,} labelled pairs at item level, with cosine similarity, {against}.",
        "A pair without a label is unjudged. It never counts as dissimilar.",
    )
