"""What a query finds before and after adaptation, as strips of one split's test pairs (ADAPT Figure 4)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lookalike.core.progress import Progress
from lookalike.report.content import Hit, Strip, StripGroup
from lookalike.report.page import render_group
from lookalike.research.adaptation.protocol import SIGMAS, AdaptationProtocol
from lookalike.research.adaptation.repeats import PairedVectors, adapted, prepared, settings_of
from lookalike.research.adaptation.tables import repeats_of
from lookalike.research.papers.computed import ComputedFigure, ComputedRow, ComputedTable
from lookalike.store.workspace import Workspace
from lookalike.workflows.report.strips import Photos

HITS = 5
EXPLANATION = (
    "{}, test pairs of one split. The first photo of a row is the query's pair, with its own rank and score. The best "
    "candidates follow."
)


@dataclass(frozen=True, eq=False)
class BeforeAndAfter:
    """The first encoder on the test pairs of the first split: catalog rows, and cosines before and after."""

    encoder: str
    left: np.ndarray
    right: np.ndarray
    before: np.ndarray
    after: np.ndarray

    def rank(self, cosine: np.ndarray) -> np.ndarray:
        """Zero-based rank of each left image's pair among the right images."""
        return np.asarray((cosine > cosine.diagonal()[:, None]).sum(1))

    @property
    def shown(self) -> list[int]:
        """Two pairs that move up most, one that moves down most, and one drawn at random."""
        moved = self.rank(self.before) - self.rank(self.after)
        order = np.argsort(-moved, kind="stable").tolist()
        drawn = np.random.default_rng(0).permutation(len(moved)).tolist()
        chosen = [*order[:2], order[-1]]
        return [*chosen, next(one for one in drawn if one not in chosen)]


def before_and_after_of(
    workspace: Workspace, protocol: AdaptationProtocol, progress: Progress | None
) -> BeforeAndAfter:
    """Train the head of the first split with sigma 15 for the number of epochs that its resamples chose."""
    pairs, found = repeats_of(workspace, protocol.changed(repeats=1), progress)
    name, (entry,) = next(iter(found.items()))
    vectors = np.asarray(workspace.embeddings(name).vectors, np.float32)
    split = prepared(PairedVectors(name, vectors[pairs.left], vectors[pairs.right]), 0, protocol)
    epochs = entry["adapted"][f"{SIGMAS[-1]:g}"]["epochs"]
    after = adapted(split, settings_of(protocol, 0, SIGMAS[-1]).changed(epochs=epochs))
    test = split.test.left
    cosines = (_cosines(made[split.test.left], made[split.test.right]) for made in (split.vectors, after))
    return BeforeAndAfter(name, pairs.left[test], pairs.right[test], *cosines)


def rank_table(found: BeforeAndAfter, workspace: Workspace) -> ComputedTable:
    """The rank of the pair of each query that is shown, from 1."""
    image = workspace.catalog.image
    ranks = [found.rank(cosine) + 1 for cosine in (found.before, found.after)]
    return ComputedTable(
        columns=("Rank before", "Rank after"),
        decimals=(0, 0),
        rows=tuple(
            ComputedRow(
                (str(image[found.left[at]]), str(image[found.right[at]])),
                tuple(ComputedFigure(float(rank[at])) for rank in ranks),
            )
            for at in found.shown
        ),
        remarks=(f"{found.encoder}, the first of {len(found.left):,} test pairs' splits, sigma 15.",),
    )


def strips_page(found: BeforeAndAfter, workspace: Workspace, title: str) -> str:
    """One HTML file: each query, the image of its pair, and the first candidates before and after."""
    gallery = Photos(workspace.catalog, workspace.photos)
    rows = tuple(strip for at in found.shown for strip in _strips(found, gallery, at))
    return render_group(StripGroup(title, EXPLANATION.format(found.encoder), rows))


def _strips(found: BeforeAndAfter, gallery: Photos, at: int) -> Iterator[Strip]:
    query = gallery.photo(int(found.left[at]))
    for name, cosine in (("before adaptation", found.before[at]), ("after adaptation", found.after[at])):
        order = np.lexsort(
            (np.arange(len(cosine)) != at, -cosine)
        )  # the pair first among equals, as in `rank`
        place = order.tolist().index(at) + 1
        shown = ((at, place), *zip(order[:HITS].tolist(), range(1, HITS + 1), strict=False))
        yield Strip(
            query,
            name,
            tuple(
                Hit(gallery.photo(int(found.right[one])), float(cosine[one]), 1 if one == at else None, rank)
                for one, rank in shown
            ),
            f"its pair, which is at rank {place:,}, then the first {HITS} candidates",
        )


def _cosines(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    units = (one / np.maximum(np.linalg.norm(one, axis=1, keepdims=True), 1e-30) for one in (left, right))
    one, other = units
    return np.asarray(one @ other.T)
