"""`demo`: the whole loop on the studio catalog, where the truth is known for every pair."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from lookalike.catalog.studio import Studio, consensus, experts, studio, true_labels, vote
from lookalike.core.checks import codes
from lookalike.core.errors import WorkspaceError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Labels, Pool, Scores
from lookalike.discover.figures import PoolFigures
from lookalike.discover.pool import unordered_pairs
from lookalike.discover.questions import Questions
from lookalike.evaluate.measures import DEFAULT
from lookalike.evaluate.significance import DEFAULT_SETTINGS, Significance
from lookalike.recipes import values
from lookalike.recipes.discover import discover, figures, positive_rate
from lookalike.recipes.embed import embed
from lookalike.recipes.evaluate import Evaluation, certainty, evaluate
from lookalike.recipes.init import init
from lookalike.recipes.report import report
from lookalike.recipes.studio import is_studio, write_studio
from lookalike.store.settings import FILE, read_settings
from lookalike.store.workspace import Workspace

GENERATORS = ("descriptor:color", "descriptor:hog", "descriptor:lbp")
NEWCOMER = "descriptor:color+hog+layout"
PHOTOS = "photos"
RANDOM_PAIRS = 500

Bar = Callable[[str], AbstractContextManager[Progress | None]]
Tell = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demo made: its workspace, scores on the experts' labels and how sure they are, the truth, the report."""

    workspace: Workspace
    pool: PoolFigures
    evaluation: Evaluation
    sure: Significance
    truth: tuple[Scores, ...]
    agreement: float
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
    """Draw a catalog, pool three encoders, let two simulated experts label, measure four encoders, report."""
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
    for spec in (*GENERATORS, NEWCOMER):
        with bar(f"Embedding {spec}") as progress:
            embed(workspace, spec, progress=progress)
    with bar("Ranking") as progress:
        names = [spec.partition(":")[2] for spec in GENERATORS]
        found_pairs = discover(
            workspace, names, top=5, queries=queries, seed=seed, random=RANDOM_PAIRS, progress=progress
        )
    pool, questions = found_pairs.pool, found_pairs.questions
    told = figures(workspace, pool)
    tell(
        f"2. The pool: {told.pairs:,} pairs that {len(names)} encoders put forward for {told.queries} queries, "
        f"{told.saving_pairs:,.0f} times fewer than all pairs."
    )
    labels, agreement = simulated_labels(drawn, catalog, questions, seed)
    workspace.add_labels(labels, "simulated experts")
    similar = int(labels.label.sum())
    tell(
        f"3. Two simulated experts agree on {100 * agreement:.0f} % of the pairs; {len(labels):,} are labelled, "
        f"{similar:,} of them similar. The others are left open."
    )
    rate = positive_rate(workspace, pool)
    tell(
        f"   {len(found_pairs.random):,} of them were drawn at random: by these about {100 * rate.rate:.1f} % "
        f"of all pairs are similar, in the pool {100 * rate.pool_rate:.0f} %."
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
        sure = certainty(found, DEFAULT_SETTINGS, progress=progress)
    tell("4. Four encoders are measured, one of which did not feed the pool.")
    with bar("Writing the report") as progress:
        path = report(workspace, now, truth=truth, progress=progress)
    return Demo(workspace, told, found, sure, truth, agreement, path)


def simulated_labels(
    drawn: Studio, catalog: Catalog, questions: Questions, seed: int
) -> tuple[Labels, float]:
    """Two experts judge each unordered pair once; where they agree, that is the label of both directions.

    Returns the labels and the share of pairs they agree on.
    """
    asked = unordered_pairs(questions)
    _, first = np.unique(asked, return_index=True)
    a, b = (_item_places(drawn, catalog, images[first]) for images in (questions.query, questions.candidate))
    one, two = experts(2, seed)
    settled = consensus(vote(drawn, one, a, b), vote(drawn, two, a, b))
    label = settled[asked]
    use = label >= 0
    labels = Labels.of(questions.query[use], questions.candidate[use], label[use])
    return labels, float(np.mean(settled >= 0))


def complete_labels(drawn: Studio, catalog: Catalog, pool: Pool) -> Labels:
    """The true label of every pair of a pool's query and another item."""
    names, code = catalog.item_codes
    _, first = np.unique(code, return_index=True)
    place = _item_places(drawn, catalog, catalog.image[first])
    rows = np.array([catalog.row[query] for query in pool.queries], np.int64)
    query, item = np.divmod(np.arange(len(rows) * len(names)), len(names))
    other = code[rows[query]] != item
    query, item = query[other], item[other]
    label = true_labels(drawn, place[code[rows[query]]], place[item])
    return Labels.of(catalog.image[rows[query]], catalog.image[first[item]], label)


def _item_places(drawn: Studio, catalog: Catalog, images: np.ndarray) -> np.ndarray:
    """The studio's item numbers of images, by item name."""
    names, _ = codes(drawn.catalog().item)
    place = {name: i for i, name in enumerate(names)}
    return np.array([place[catalog.item[catalog.row[image]]] for image in images], np.int64)


def _require_own(folder: Path) -> None:
    """The demo replaces an earlier demo, and nothing else."""
    if (folder / FILE).exists():
        if not read_settings(folder).generated:
            raise WorkspaceError(
                f"{folder} is a workspace of your own; the demo will not write into it.",
                fix="Name another folder: lookalike demo --output FOLDER",
            )
    elif (
        not is_studio(folder / PHOTOS) and folder.exists() and any(e.name != PHOTOS for e in folder.iterdir())
    ):
        raise WorkspaceError(
            f"{folder} is not empty; the demo will not write into it.",
            fix="Name another folder: lookalike demo --output FOLDER",
        )
