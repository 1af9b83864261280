"""`positiveness`: the positiveness of unlabelled pairs, by hops over positive labels."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float32, Shaped, UInt8

from lookalike.core.errors import ArgumentError, LabelsError
from lookalike.core.progress import Progress
from lookalike.core.text import plural
from lookalike.core.types import SPLITS, Catalog, Labels
from lookalike.positive.contradictions import Contradictions, contradictions
from lookalike.positive.distances import Block, Ordered, ordered
from lookalike.positive.extent import GraphExtent, extent
from lookalike.positive.graph import Graph, Neighbours, label_graph
from lookalike.positive.positiveness import Softness, last_hop, weights
from lookalike.positive.soft_pairs import own_pairs, photos, soft_pairs
from lookalike.rank.pairs import Unusable

MAX_PAIRS = 50_000_000
FEW_NEGATIVES = 0.1  # share of the pairs of labelled images


@dataclass(frozen=True, eq=False)
class Positiveness:
    """Pairs of images with a positiveness above 0, each unordered pair once, `image_a` before `image_b` in the catalog.

    `distance` counts hops over positives: 0 for two photos of one item that are joined, 1 for a labelled positive.
    All other pairs have 0, labelled negatives included. `contradictions` are labelled negatives that conflict with
    positives, `unusable` the labels left out.
    """

    image_a: Shaped[np.ndarray, " pairs"]
    image_b: Shaped[np.ndarray, " pairs"]
    positiveness: Float32[np.ndarray, " pairs"]
    distance: UInt8[np.ndarray, " pairs"]
    contradictions: Contradictions
    unusable: tuple[Unusable, ...]

    def __len__(self) -> int:
        return len(self.image_a)


@dataclass(frozen=True, eq=False)
class Outlook:
    """The positiveness that the labels of a split give, before any pair is listed.

    Pairs have up to `limit` hops: L, or fewer if longer chains cannot count. `nodes` are images or items.
    """

    catalog: Catalog
    graph: Graph
    part: Ordered
    photo: Neighbours
    soft: Softness
    limit: int
    extent: GraphExtent
    contradictions: Contradictions
    split: str | None

    @cached_property
    def pairs(self) -> int:
        """Pairs of images with positiveness above 0; photos of joined items among them."""
        return self.extent.pairs + (own_pairs(self.photo) if self.graph.kind == "item" else 0)

    @property
    def about(self) -> str:
        """The number of these pairs in words."""
        return "about " * (not self.extent.is_counted) + plural(self.pairs, "pair")

    @cached_property
    def images(self) -> int:
        """Images of the split."""
        return len(self.photo.node)

    @cached_property
    def labelled(self) -> int:
        """Images of the split with a label (of joined items: with a label on the item)."""
        return int(self.photo.degree[self._has_label].sum())

    @property
    def share(self) -> float:
        """Share of all pairs of the split's images that are made positive."""
        return _share(self.pairs, self.images)

    @cached_property
    def share_labelled(self) -> float:
        """The same share among the images with a label: what batches are drawn from."""
        own = self.photo.degree[self._has_label] if self.graph.kind == "item" else np.empty(0, np.int64)
        return _share(self.extent.pairs + int((own * (own - 1) // 2).sum()), self.labelled)

    @property
    def few_negatives(self) -> bool:
        """Whether almost no pair of images with a label stays negative."""
        return 1 - self.share_labelled < FEW_NEGATIVES

    @property
    def several_photos(self) -> bool:
        """Whether photos of one item are not joined although some item has several in the split."""
        rows = self.photo.node
        return self.graph.kind == "image" and len(np.unique(self.catalog.item_codes[1][rows])) < len(rows)

    @property
    def _has_label(self) -> np.ndarray:
        return np.asarray(self.graph.positive.degree + self.graph.negative.degree > 0, bool)


def outlook(
    catalog: Catalog,
    labels: Labels,
    soft: Softness,
    *,
    nodes: str = "image",
    split: str | None = "train",
    min_positiveness: float = 0.0,
    seed: int = 0,
) -> Outlook:
    """The graph of a split's labels and how many pairs it makes positive. Refuses a split without positives."""
    limit = last_hop(soft, min_positiveness)
    graph = label_graph(catalog, labels, nodes=nodes, split=split)
    _require_positives(catalog, labels, graph, split)
    part, photo = ordered(graph), photos(catalog, graph, split)
    each = np.ones(part.nodes, np.int64) if nodes == "image" else photo.degree[part.name]
    return Outlook(
        catalog,
        graph,
        part,
        photo,
        soft,
        limit,
        extent(part, limit, each, seed=seed),
        contradictions(catalog, labels, graph, soft),
        split,
    )


def listed(found: Outlook, progress: Progress | None = None) -> Iterator[Block]:
    """The pairs of an outlook as a stream of catalog rows."""
    return soft_pairs(found.graph, found.part, found.photo, found.limit, progress=progress)


def positiveness(
    catalog: Catalog,
    labels: Labels,
    *,
    beta: float = 0.7,
    max_distance: int = 7,
    nodes: str = "image",
    split: str | None = "train",
    min_positiveness: float = 0.0,
    max_pairs: int = MAX_PAIRS,
    progress: Progress | None = None,
) -> Positiveness:
    """The positiveness of unlabelled pairs, from the graph of positive labels (soft positives, SPA).

        P(a, b) = y_ab            if the pair is labelled
                  exp(-beta d)    if not, and d <= L; d is the shortest path over positives
                  0               beyond L

    VSD 6.1, Eq. 3; L is `max_distance`. Labels whose two images are in the split count (None: all labels).
    `nodes="item"` joins the photos of an item. See `docs/how-to/training.md`. Raises LabelsError without positives,
    ArgumentError for values out of range and for more than `max_pairs` pairs.

    >>> import lookalike
    >>> catalog = lookalike.read_catalog({"image": ["a", "b", "c"], "split": ["train"] * 3})
    >>> labels = lookalike.read_labels({"query": ["a", "b"], "candidate": ["b", "c"], "label": [1, 1]}, catalog)
    >>> found = lookalike.positiveness(catalog, labels)
    >>> list(zip(found.image_a, found.image_b, found.positiveness.round(3).tolist(), found.distance.tolist()))
    [('a', 'b', 1.0, 1), ('a', 'c', 0.24699999392032623, 2), ('b', 'c', 1.0, 1)]
    """
    found = outlook(
        catalog,
        labels,
        Softness(beta=beta, max_distance=max_distance),
        nodes=nodes,
        split=split,
        min_positiveness=min_positiveness,
    )
    if found.pairs > max_pairs:
        raise ArgumentError(
            f"{found.about} have a positiveness above 0, but max_pairs is {max_pairs:,}.".capitalize(),
            fix="Use a smaller max_distance, a larger min_positiveness or a larger max_pairs. Training needs no list.",
        )
    empty = Block(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8))
    a, b, hops = map(np.concatenate, zip(empty, *listed(found, progress), strict=True))
    table = weights(found.soft)
    return Positiveness(
        catalog.image[a], catalog.image[b], table[hops], hops, found.contradictions, found.graph.unusable
    )


def _share(pairs: int, images: int) -> float:
    """Share of all unordered pairs of some images; NaN where there are none."""
    return min(1.0, pairs / (images * (images - 1) / 2)) if images > 1 else float("nan")


def _require_positives(catalog: Catalog, labels: Labels, graph: Graph, split: str | None) -> None:
    """Without a positive there is no path: say why there is none, and where there are some."""
    if graph.positive.pairs:
        return
    if not len(labels):
        raise LabelsError(
            "There are no labels yet, and positiveness comes from labels.",
            fix="Label the pool (lookalike discover --pairs pairs.csv), then: lookalike labels import pairs.csv",
        )
    inside = "" if split is None else f" of split {split}"
    left_out = "".join(f"\n  {part.count:,} left out: {part.reason}." for part in graph.unusable)
    negative = graph.negative.pairs
    problem = (
        f"None of the usable labels{inside} is positive (they are {negative:,})."
        if negative
        else f"There is no usable label{inside}."
    )
    elsewhere = _with_positives(catalog, labels, graph.kind) if split is not None else ""
    raise LabelsError(
        f"{problem} Paths lead over positives, so every pair has positiveness 0.{left_out}",
        fix=elsewhere or "Label more pairs: lookalike discover --pairs pairs.csv lists those of the pool.",
    )


def _with_positives(catalog: Catalog, labels: Labels, nodes: str) -> str:
    """Which splits have positives, as the way out; "" where none has."""
    count = {s: label_graph(catalog, labels, nodes=nodes, split=s).positive.pairs for s in SPLITS}
    others = [f"--split {split} has {found:,}" for split, found in count.items() if found]
    whole = label_graph(catalog, labels, nodes=nodes, split=None).positive.pairs
    if not whole:
        return ""
    return f"Positives are elsewhere: {', '.join([*others, f'--split all has {whole:,}'])}."
