"""Batches that hold positives and labelled negatives for their anchors, balanced over queries, repeatable by seed."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from lookalike.core.errors import LabelsError
from lookalike.learn.settings import TrainingSettings
from lookalike.positive.graph import Graph, Neighbours, by_node
from lookalike.positive.positiveness import Softness

NONE = -1
TRIES = 8  # walks for one soft positive: two thirds of them come back to the anchor or a neighbour


@dataclass(frozen=True)
class BatchPlan:
    """How many images a batch has at most, and what an anchor brings along: positives, soft ones, labelled negatives.

    An anchor stays with what it brings, so a batch has more where one anchor alone brings more than `size`.
    """

    size: int = 256
    positives: int = 2
    soft: int = 1
    negatives: int = 2


def plan_of(settings: TrainingSettings) -> BatchPlan:
    """How a batch is filled under some settings; without soft positives nothing is fetched from farther off."""
    return BatchPlan(size=settings.batch, soft=BatchPlan.soft if settings.soft else 0)


@dataclass(frozen=True, eq=False)
class Anchors:
    """The nodes that batches are built around: those with a positive; and the photos that stand for every node."""

    graph: Graph
    node: Int64[np.ndarray, " anchors"]
    photos: Neighbours

    def __len__(self) -> int:
        return len(self.node)


def anchors(graph: Graph, rows: Int64[np.ndarray, " images"]) -> Anchors:
    """The anchors among some catalog rows (those of the training split)."""
    photos = by_node(graph.node[rows], rows, graph.nodes)
    found = np.flatnonzero((graph.positive.degree > 0) & (photos.degree > 0))
    if not len(found):
        left_out = "".join(f"\n  {gone.count:,} left out: {gone.reason}." for gone in graph.unusable)
        raise LabelsError(
            f"No pair of the training split is labelled similar, so there is nothing to learn from.{left_out}",
            fix="Label more pairs of its images; `lookalike labels stats` counts them.",
        )
    return Anchors(graph, found, photos)


def epoch_batches(
    around: Anchors, plan: BatchPlan, soft: Softness | None, seed: int, epoch: int
) -> list[Int64[np.ndarray, " batch"]]:
    """Catalog rows of each batch of an epoch; a function of its arguments, so that a killed run finds its place again.

    Every anchor comes once an epoch, however many labels it has, with `positives` of its labelled positives,
    `negatives` of its labelled negatives, and `soft` unlabelled nodes 2 to L hops away, found by random walks (where
    there are any, and a few walks meet one). A batch holds a row once. If all fits into `size` there is one batch.
    """
    draw = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, epoch))))
    center = draw.permutation(around.node)
    drawn = [
        center[:, None],
        _several(around.graph.positive, center, plan.positives, draw),
        _several(around.graph.negative, center, plan.negatives, draw),
    ]
    if soft is not None and soft.max_distance > 1:
        drawn.append(farther(around.graph, center, plan.soft, soft.max_distance, draw))
    rows = _photos(around.photos, np.concatenate(drawn, axis=1), draw)
    there = rows[rows != NONE]
    parts = [rows] if len(np.unique(there)) <= plan.size else _parts(rows, plan.size)
    return [np.unique(part[part != NONE]) for part in parts]


def _parts(
    rows: Int64[np.ndarray, "anchors drawn"], size: int
) -> list[Int64[np.ndarray, "some_anchors drawn"]]:
    """Anchors in as few parts as filling them in turn takes, and with the lowest limit that takes no more."""
    brought = [set(one) - {NONE} for one in rows.tolist()]
    cuts, held = _filled(brought, size)
    limits = range(min(held // (len(cuts) + 1), size), size)
    at = bisect_left(limits, True, key=lambda limit: len(_filled(brought, limit)[0]) <= len(cuts))
    return np.split(rows, _filled(brought, limits[at])[0] if at < len(limits) else cuts)


def _filled(brought: list[set[int]], size: int) -> tuple[list[int], int]:
    """Where new parts begin if each takes up to `size` distinct rows (more only of one anchor), and rows in all."""
    cuts, held, total = [], set[int](), 0
    for at, rows in enumerate(brought):
        if held and len(held) + len(rows - held) > size:
            cuts.append(at)
            total += len(held)
            held = set()
        held |= rows
    return cuts, total + len(held)


def _several(
    of: Neighbours, center: np.ndarray, count: int, draw: np.random.Generator
) -> Int64[np.ndarray, "anchors count"]:
    """Up to `count` different neighbours of each center, each as likely as another; NONE where there are fewer."""
    degree = of.degree[center][:, None]
    first = np.floor(draw.random((len(center), 1)) * degree).astype(np.int64)
    step = np.arange(count)
    at = of.start[center][:, None] + (first + step) % np.maximum(degree, 1)
    there = step < degree
    return np.where(there, _at(of.node, at), NONE)


def farther(
    graph: Graph, center: np.ndarray, count: int, longest: int, draw: np.random.Generator
) -> Int64[np.ndarray, "anchors count"]:
    """Where random walks of 2 to `longest` steps over positives end: 2 or more hops away, and not labelled.

    A walk that ends on its center or on what it has a label with is walked again, `TRIES` times in all; then NONE.
    Whatever comes of the first walks, `draw` is left in the same state.
    """
    found = np.full((len(center), count), NONE, np.int64)
    labelled = np.sort(np.concatenate([_codes(graph.positive), _codes(graph.negative)]))
    for dice in (draw, *draw.spawn(TRIES - 1)):
        missing = np.nonzero(found == NONE)
        start = center[missing[0]]
        end = _walked(graph.positive, start, longest, dice)
        code = start * graph.nodes + end
        near = (end == start) | (_at(labelled, np.searchsorted(labelled, code)) == code)
        found[missing] = np.where(near, NONE, end)
    return found


def _walked(
    of: Neighbours, start: Int64[np.ndarray, " walks"], longest: int, draw: np.random.Generator
) -> Int64[np.ndarray, " walks"]:
    """The ends of random walks; every start has a neighbour."""
    at, length = start, draw.integers(2, longest + 1, start.shape)
    for step in range(longest):
        place = of.start[at] + np.floor(draw.random(at.shape) * of.degree[at]).astype(np.int64)
        at = np.where(step < length, _at(of.node, place), at)
    return np.asarray(at, np.int64)


def _codes(of: Neighbours) -> Int64[np.ndarray, " ends"]:
    """One number for each ordered pair."""
    nodes = len(of.degree)
    return np.asarray(np.repeat(np.arange(nodes), of.degree) * nodes + of.node, np.int64)


def _photos(
    of: Neighbours, node: np.ndarray, draw: np.random.Generator
) -> Int64[np.ndarray, "anchors drawn"]:
    """One photo of each node, as a catalog row; NONE stays, and so does a node without a photo here."""
    known = np.maximum(node, 0)
    degree = of.degree[known]
    place = of.start[known] + np.floor(draw.random(node.shape) * degree).astype(np.int64)
    return np.where((node == NONE) | (degree == 0), NONE, _at(of.node, place))


def _at(values: np.ndarray, place: np.ndarray) -> Int64[np.ndarray, "..."]:
    """Values at places, of which some beyond the end are asked for and not used."""
    if not len(values):
        return np.full(place.shape, NONE, np.int64)
    return values[np.minimum(place, len(values) - 1)].astype(np.int64)
