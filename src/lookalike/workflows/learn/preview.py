"""The preview of a training run: its anchors and pairs, and how many pairs count as similar or dissimilar."""

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from lookalike.catalog.duplicates.count import count_duplicates
from lookalike.catalog.split import crossing_items
from lookalike.core.text import percent, plural
from lookalike.core.types import Catalog
from lookalike.learn.batches import Anchors, epoch_batches, plan_of
from lookalike.learn.request import TrainingRequest
from lookalike.learn.settings import CLASSES
from lookalike.positive.graph import Neighbours
from lookalike.positive.positiveness import relations
from lookalike.rank.pairs import Unusable

if TYPE_CHECKING:
    from lookalike.api.training import Material
    from lookalike.learn.similar_pairs import SimilarPairs

SAMPLE = 8  # batches that are counted
FEW = 0.1  # of a batch's pairs


@dataclass(frozen=True)
class TrainingPreview:
    """What a run learns from. `pairs` are ordered pairs of different images in `sampled` batches of the first epoch.

    similar: labelled similar (or of one item); made: similar by their distance; zero: with P = 0; pushed: the part of
    these that is pushed apart. `joined` is the size of the largest component of anchors that positives connect.
    `resamples` is above 0 where resamples of the pairs choose the number of epochs. `crossing` counts
    items with photos in more than one split, `crossing_duplicates` groups of duplicates. `licence` says what to know of
    the licence of the weights, where it may not allow training on from them. `keep` is the epoch that is kept.
    """

    views: int
    images: int
    anchors: int
    positives: int
    negatives: int
    joined: int
    batches: int
    sampled: int
    pairs: int
    similar: int
    made: int
    zero: int
    pushed: int
    validation: int
    unusable: tuple[Unusable, ...]
    crossing: int = 0
    crossing_duplicates: int = 0
    resamples: int = 0
    learns_from: str = "labelled pairs"
    licence: str = ""
    keep: str = "best"

    @property
    def few_negatives(self) -> bool:
        """Whether so few pairs are pushed apart that all vectors may collapse to one point."""
        return self.pushed < FEW * self.pairs

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes a run doubtful before it begins."""
        found = [self.licence] if self.licence else []
        leak = "in more than one split: measures on the test split include pairs that were used for training."
        if self.crossing:
            found.append(f"{plural(self.crossing, 'item')} with photos {leak}")
        if self.crossing_duplicates:
            found.append(f"{plural(self.crossing_duplicates, 'group')} of duplicates {leak}")
        if self.learns_from != "labelled pairs":
            return tuple(found)
        if not self.negatives:
            found.append("No pair of the training split is labelled dissimilar.")
        if not self.pushed:
            found.append(
                "No pairs are pushed apart: all vectors may become the same, and no epoch may be better."
            )
        elif self.few_negatives:
            found.append(f"Only {self.share(self.pushed)} of the pairs are pushed apart.")
        if self.few_negatives and self.made:
            found.append(
                f"Positives connect {self.joined:,} of {plural(self.anchors, 'anchor')}, so chains reach almost "
                "every pair. Use a smaller --max-distance, or --positives labels."
            )
        return tuple(found)

    def share(self, count: int) -> str:
        """A share of the pairs in percent, not rounded to none or to all."""
        share = count / self.pairs if self.pairs else 0.0
        return "none" if not count else f"{100 * share:.2g}%" if share < 0.01 else percent(share)


def preview(catalog: Catalog, given: "Material", request: TrainingRequest) -> TrainingPreview:
    """Count what a run learns from, in its own first batches."""
    validation = len(given.validation.pairs)
    if request.relates:
        return pairs_preview(catalog, *given.labelled, request, validation)
    images = len(given.training)
    batches = -(-images // request.batch)
    return TrainingPreview(
        views=1 if request.loss in CLASSES else 2,
        images=images,
        anchors=0,
        positives=0,
        negatives=0,
        joined=0,
        batches=batches,
        sampled=0,
        pairs=0,
        similar=0,
        made=0,
        zero=0,
        pushed=0,
        validation=validation,
        unusable=(),
        crossing=crossing_items(catalog.item, catalog.split),
        crossing_duplicates=count_duplicates(catalog).across_splits,
        learns_from=", ".join(CLASSES.get(request.loss, ("photos alone",))),
        keep=request.keep,
    )


def pairs_preview(
    catalog: Catalog, around: Anchors, of_pairs: "SimilarPairs", request: TrainingRequest, validation: int
) -> TrainingPreview:
    """The same for a loss of labelled pairs."""
    counts = np.zeros(5, np.int64)
    if request.in_pairs:
        batches = [of_pairs.left]
        counts += _of_all(of_pairs)
    else:
        batches = epoch_batches(around, plan_of(request), request.soft, request.seed, 0)
        for rows in islice(batches, SAMPLE):
            counts += _counted(around, rows, request)
    pairs, similar, made, zero, pushed = counts.tolist()
    graph = around.graph
    return TrainingPreview(
        views=request.views if request.part == "head" else 2,
        images=len(around.photos.node),
        anchors=len(around),
        positives=graph.positive.pairs,
        negatives=graph.negative.pairs,
        joined=_largest(graph.positive),
        batches=len(batches),
        sampled=min(SAMPLE, len(batches)),
        pairs=pairs,
        similar=similar,
        made=made,
        zero=zero,
        pushed=pushed,
        validation=validation,
        unusable=graph.unusable,
        crossing=crossing_items(catalog.item, catalog.split),
        crossing_duplicates=count_duplicates(catalog).across_splits,
        resamples=request.resamples if request.keep == "bootstrap" else 0,
        keep=request.keep,
    )


def _counted(around: Anchors, rows: np.ndarray, request: TrainingRequest) -> np.ndarray:
    """Ordered pairs of different images of a batch: all, similar, made positive, with P = 0, pushed apart."""
    weight, judged = relations(around.graph, rows, request.soft)
    off = ~np.eye(len(rows), dtype=bool)
    zero = off & (weight == 0)
    kinds = (
        off,
        off & judged & (weight > 0),
        off & ~judged & (weight > 0),
        zero,
        zero & (judged | (request.unjudged == "negative")),
    )
    return np.array([int(kind.sum()) for kind in kinds])


def _of_all(pairs: "SimilarPairs") -> np.ndarray:
    """The same of the matrix of all left and right images; what takes no part counts as similar."""
    apart = pairs.apart()
    similar = len(pairs) + (0 if apart is None else int(apart.sum()))
    others = len(pairs) ** 2 - similar
    return np.array([len(pairs) ** 2, similar, 0, others, others])


def _largest(positive: Neighbours) -> int:
    """How many nodes the largest component of the positives has."""
    nodes = len(positive.start) - 1
    edges = csr_matrix((np.ones(len(positive.node), np.int8), positive.node, positive.start), (nodes, nodes))
    _, component = connected_components(edges, directed=False)
    return int(np.bincount(component).max())
