"""`report`: everything a workspace knows, as one page."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from lookalike.audit.audits import Audits
from lookalike.audit.verdict import advice
from lookalike.catalog import thumbnail
from lookalike.core.errors import LookalikeError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Rule, Scores
from lookalike.discover.figures import expert_hours
from lookalike.evaluate.measures import DEFAULT
from lookalike.evaluate.significance import Settings
from lookalike.rank.distinct import top_lists
from lookalike.rank.pairs import judged_pairs
from lookalike.recipes.audit import audit
from lookalike.recipes.discover import figures, labelled, positive_rate
from lookalike.recipes.evaluate import Evaluation, evaluate
from lookalike.recipes.report_facts import encoders, facts
from lookalike.recipes.report_measures import measure_table
from lookalike.recipes.report_verdict import verdict_part
from lookalike.recipes.status import next_command, status
from lookalike.recipes.verdict import verdict
from lookalike.report.content import Hit, Photo, PoolPart, Report, Strip, StripGroup, VerdictPart
from lookalike.report.page import render
from lookalike.search.exact import judged_items, results
from lookalike.store.disk import write_file
from lookalike.store.workspace import REPORTS, Workspace

THUMBNAIL, SAMPLES, STRIPS, HITS, ENCODERS = 120, 18, 3, 5, 4
REPLICATES = 500


def report(
    workspace: Workspace,
    now: datetime,
    path: Path | None = None,
    *,
    truth: Sequence[Scores] = (),
    progress: Progress | None = None,
) -> Path:
    """Write the report and return where it is. `truth` are scores against complete labels, where these are known."""
    path = path or workspace.folder / REPORTS / "report.html"
    content = gather(workspace, now, truth=truth, progress=progress)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, render(content).encode("utf-8"))
    return path


def gather(
    workspace: Workspace, now: datetime, *, truth: Sequence[Scores] = (), progress: Progress | None = None
) -> Report:
    """The report's content: every part that the workspace has."""
    catalog, settings = workspace.catalog, workspace.settings
    gallery = _Photos(workspace)
    pool = workspace.pool()
    found = (
        evaluate(workspace, [], DEFAULT, progress=progress)
        if workspace.encoders and workspace.label_count()
        else None
    )
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
        measures=None if found is None else measure_table(catalog, found, truth, progress=progress),
        verdict=shown,
        audit=audits,
        strips=_strips(workspace, gallery, found),
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


class _Photos:
    """Thumbnails of the workspace's photos, each made once."""

    def __init__(self, workspace: Workspace) -> None:
        self.catalog, self.root = workspace.catalog, workspace.photos
        self.made: dict[int, Photo] = {}
        self.unreadable: list[str] = []

    def photo(self, row: int) -> Photo:
        """One image as a page shows it; without a picture where there is none to be read."""
        if row not in self.made:
            catalog = self.catalog
            picture = b""
            if self.root is not None:
                try:
                    picture = thumbnail(self.root / catalog.path[row], THUMBNAIL)
                except LookalikeError:
                    self.unreadable.append(catalog.image[row])
            self.made[row] = Photo(catalog.image[row], catalog.item[row], catalog.category[row], picture)
        return self.made[row]


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
    """The audits, the verdict and what would settle it, from ranks that are there; none if no label has one."""
    ranks = {one.encoder: one for one in found.judged}
    try:
        audits = audit(workspace, replicates=REPLICATES, ranks=ranks, progress=progress)
    except LookalikeError:
        return None, None, ""
    judged = verdict(workspace, found.judged, audits, Settings(REPLICATES))
    pair = advice(judged.encoders, judged.verdicts)
    return audits, verdict_part(judged), f"lookalike settle {' '.join(pair)}" if pair else ""


def _strips(workspace: Workspace, gallery: _Photos, found: Evaluation | None) -> tuple[StripGroup, ...]:
    """Best, worst and random queries, each with what every encoder finds for it."""
    encoders = workspace.encoders[:ENCODERS]
    if not encoders:
        return ()
    if found is None:
        rows = np.random.default_rng(workspace.settings.seed).permutation(
            np.flatnonzero(workspace.catalog.is_query())
        )
        chosen = {"Random queries": (rows[:STRIPS].tolist(), "Drawn at random; nothing is labelled yet.")}
    else:
        encoders = [one.encoder for one in found.scores][:ENCODERS]
        chosen = _chosen(workspace, found)
    strips = _strips_of(workspace, gallery, encoders, [row for rows, _ in chosen.values() for row in rows])
    return tuple(
        StripGroup(title, why, tuple(strip for row in rows for strip in strips[row]))
        for title, (rows, why) in chosen.items()
        if rows
    )


def _chosen(workspace: Workspace, found: Evaluation) -> dict[str, tuple[list[int], str]]:
    """Catalog rows of the best, worst and random labelled queries, by what all encoders show at the top."""
    hits, labelled = (
        np.mean([one[name].numerator for one in found.scores], axis=0) for name in ("HR@5", "coverage@5")
    )
    rows = np.array([workspace.catalog.row[query] for query in found.scores[0]["HR@5"].query], np.int64)
    best = rows[np.lexsort((rows, -hits))][:STRIPS].tolist()
    worst = [row for row in rows[np.lexsort((rows, hits, -(labelled - hits)))] if row not in best][:STRIPS]
    rest = [row for row in rows.tolist() if row not in {*worst, *best}]
    drawn = np.random.default_rng(workspace.settings.seed).permutation(len(rest))[:STRIPS]
    return {
        "Best queries": (best, "The most results known to be similar in the first 5, over all encoders."),
        "Worst queries": (
            worst,
            "The most results known to be dissimilar in the first 5, over all encoders.",
        ),
        "Random queries": ([rest[i] for i in drawn], "Drawn at random from the labelled queries."),
    }


def _strips_of(
    workspace: Workspace, gallery: _Photos, encoders: list[str], rows: list[int]
) -> dict[int, list[Strip]]:
    """For each query row, one strip per encoder."""
    catalog = workspace.catalog
    judged = judged_items(judged_pairs(catalog, workspace.labels(), Rule()))
    strips: dict[int, list[Strip]] = {row: [] for row in rows}
    for encoder in encoders:
        lists = top_lists(catalog, workspace.embeddings(encoder), np.array(rows, np.int64), HITS)
        for at, row in enumerate(rows):
            found = results(catalog, lists, at, catalog.image[row], judged)
            hits = tuple(Hit(gallery.photo(catalog.row[one.image]), one.score, one.label) for one in found)
            strips[row].append(Strip(gallery.photo(row), encoder, hits, _note([one.label for one in found])))
    return strips


def _note(labels: list[int | None]) -> str:
    known = [label for label in labels if label is not None]
    return f"{sum(known)} similar, {len(known) - sum(known)} dissimilar, {len(labels) - len(known)} unjudged"


def _notes(found: Evaluation | None, unreadable: list[str]) -> tuple[str, ...]:
    missing = (f"{len(unreadable):,} photos of this page can no longer be read.",) if unreadable else ()
    if found is None:
        return missing
    return (
        *missing,
        f"Scores are over {found.labels:,} labelled pairs at item level, by cosine, against the whole gallery.",
        "A pair without a label is unjudged. It is never counted as dissimilar.",
    )
