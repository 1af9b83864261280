"""`demo`: the whole loop on the studio catalog, where the truth is known for every pair."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from lookalike.api import values
from lookalike.core.errors import WorkspaceError
from lookalike.core.progress import Bar
from lookalike.core.text import percent, small_percent
from lookalike.core.types import Scores
from lookalike.discover.statistics import PoolFigures
from lookalike.evaluate.measures.table import DEFAULT
from lookalike.evaluate.significance.summary import Significance, significance
from lookalike.store.settings import FILE, read_settings
from lookalike.store.workspace import Workspace
from lookalike.studio import studio
from lookalike.workflows.decide.evaluate import Evaluation, evaluate
from lookalike.workflows.demo.learning import Learned, learn
from lookalike.workflows.demo.truth import complete_labels, simulated_labels
from lookalike.workflows.label.discover import discover, figures
from lookalike.workflows.report.report import report
from lookalike.workflows.start.embed import embed
from lookalike.workflows.start.init import init
from lookalike.workflows.start.studio import is_studio, write_studio

GENERATORS = ("descriptor:color", "descriptor:hog", "descriptor:lbp")
OUTSIDE = "descriptor:color+hog+layout"
PHOTOS = "photos"
RANDOM_PAIRS = 500

Tell = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Demo:
    """The result of the demo: its workspace, scores on the experts' labels with intervals, the truth, the report.

    `learned` is None where PyTorch or labels are missing.
    """

    workspace: Workspace
    pool: PoolFigures
    evaluation: Evaluation
    sure: Significance
    truth: tuple[Scores, ...]
    agreement: float
    learned: Learned | None
    report: Path


def demo(
    folder: Path,
    now: datetime,
    bar: Bar,
    tell: Tell,
    *,
    images: int = 1000,
    queries: int = 200,
    seed: int = 0,
) -> Demo:
    """Draw a catalog, pool three encoders, let two simulated experts label, measure four encoders, learn, report."""
    _require_own(folder)
    drawn = studio(images, photos_per_item=2, seed=seed)
    with bar("Drawing photos") as progress:
        write_studio(folder / PHOTOS, drawn, replace=True, progress=progress)
    with bar("Checking photos") as progress:
        workspace, _ = init(
            folder / PHOTOS, folder, seed=seed, generated=True, replace=True, progress=progress
        )
    catalog = workspace.catalog
    tell(f"1. A catalog of {len(catalog):,} drawn photos of {len(set(catalog.item)):,} furniture items.")
    for spec in (*GENERATORS, OUTSIDE):
        with bar(f"Embedding {spec}") as progress:
            embed(workspace, spec, progress=progress)
    with bar("Ranking") as progress:
        names = [spec.partition(":")[2] for spec in GENERATORS]
        found_pairs = discover(
            workspace, names, top=5, queries=queries, seed=seed, random=RANDOM_PAIRS, progress=progress
        )
    pool, questions = found_pairs.pool, found_pairs.questions
    pool_size = figures(catalog, pool)
    tell(
        f"2. The pool: {pool_size.pairs:,} pairs that {len(names)} encoders proposed for {pool_size.queries} queries, "
        f"{pool_size.saving_pairs:,.0f} times fewer than all pairs."
    )
    labels, agreement = simulated_labels(drawn, catalog, questions, seed)
    workspace.add_labels(labels, "simulated experts")
    similar = int(labels.label.sum())
    tell(
        f"3. Two simulated experts agree on {percent(agreement, 0)} of the pairs; {len(labels):,} are labelled, "
        f"{similar:,} of them similar. The others have no label."
    )
    rate = values.positive_rate(catalog, pool, found_pairs.random, workspace.labels())
    share = f"at most {small_percent(rate.high)}" if rate.reason else percent(rate.rate)
    tell(
        f"   {len(found_pairs.random):,} of them are random pairs. By these, {share} of all pairs are similar, and "
        f"{percent(rate.pool_rate, 0)} of the pool."
    )
    with bar("Ranking") as progress:
        found = evaluate(workspace, [], DEFAULT, progress=progress)
        truth = tuple(
            values.score(
                catalog,
                [workspace.embeddings(name) for name in workspace.encoders],
                complete_labels(drawn, catalog, pool),
                DEFAULT,
            )
        )
    with bar("Drawing queries") as progress:
        sure = significance(found.scores, progress=progress)
    tell("4. Four encoders are measured, one of which did not feed the pool.")
    learned = learn(workspace, drawn, bar, tell)
    with bar("Writing the report") as progress:
        page = report(
            workspace,
            now,
            truth=truth,
            learned_truth=() if learned is None else learned.truth,
            progress=progress,
        )
    return Demo(workspace, pool_size, found, sure, truth, agreement, learned, page.path)


def _require_own(folder: Path) -> None:
    """The demo replaces an earlier demo, and nothing else."""
    if (folder / FILE).exists():
        if not read_settings(folder).generated:
            raise WorkspaceError(
                f"{folder} is a workspace of your own; the demo will not write into it.",
                fix="Name another folder: lookalike demo --workspace FOLDER",
            )
    elif (
        not is_studio(folder / PHOTOS) and folder.exists() and any(e.name != PHOTOS for e in folder.iterdir())
    ):
        raise WorkspaceError(
            f"{folder} is not empty; the demo does not write into it.",
            fix="Name another folder: lookalike demo --workspace FOLDER",
        )
