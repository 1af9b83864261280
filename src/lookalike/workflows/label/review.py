"""Labels that conflict by transitivity: A ~ B and B ~ C, but not A ~ C. A list for a lead to review.

Similarity is not always transitive (a chair can be between two styles), so a triangle is not an error, but errors are
more likely there. Labels in many triangles come first.
"""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from jaxtyping import Int64

from lookalike.core.checks import at_least
from lookalike.core.types import Catalog, Labels
from lookalike.positive.contradictions import are_among, ends
from lookalike.positive.graph import Graph, label_graph
from lookalike.rank.pairs import Unusable
from lookalike.store.labelling.statistics import question_ids
from lookalike.store.workspace import Workspace

LIMIT = 100
MIDDLES = 5  # images between the two that are named
AT_ONCE = 1 << 22  # wedges that are checked at once
Nodes = Int64[np.ndarray, " pairs"]


@dataclass(frozen=True)
class Suspect:
    """A label that is part of `triangles` triangles. A lead can reopen its `question`, None if it never had one.

    `through` are the first few third images: for a negative, those similar to both of its images; for a positive,
    those similar to one of its images and dissimilar from the other.
    """

    query: str
    candidate: str
    label: int
    triangles: int
    through: tuple[str, ...]
    question: int | None = None


@dataclass(frozen=True)
class Review:
    """Suspect labels up to the limit, most triangles first; the number of each kind, and of all triangles.

    `unusable` are labels that were left out, above all contradictory ones, which need a review themselves.
    """

    suspects: tuple[Suspect, ...]
    negatives: int
    positives: int
    triangles: int
    unusable: tuple[Unusable, ...]


@dataclass(frozen=True, eq=False)
class Triangles:
    """Each triangle once, as nodes of the graph: `a` and `c` are dissimilar, `b` is similar to both."""

    a: Nodes
    b: Nodes
    c: Nodes

    def __len__(self) -> int:
        return len(self.a)


def review(workspace: Workspace, *, labels: Labels | None = None, limit: int = LIMIT) -> Review:
    """The suspect labels of a workspace, with the questions to reopen."""
    catalog = workspace.catalog
    graph = label_graph(catalog, workspace.labels() if labels is None else labels, split=None)
    found = suspects(catalog, graph, limit)
    with workspace.database.read() as connection:
        questions = question_ids(connection, ((one.query, one.candidate) for one in found.suspects))
    known = tuple(replace(one, question=questions.get((one.query, one.candidate))) for one in found.suspects)
    return replace(found, suspects=known)


def suspects(catalog: Catalog, graph: Graph, limit: int = LIMIT) -> Review:
    """The labels of a graph of images that are in a triangle, those in most triangles first.

    Labels in equally many triangles are in catalog order, negatives first. A pair has no direction here.
    """
    at_least(limit, 1, "limit")
    found = triangles(graph)
    negative, against_negative = _counted(graph, found.a, found.c)
    positive, against_positive = _counted(
        graph,
        np.concatenate([np.minimum(found.a, found.b), np.minimum(found.b, found.c)]),
        np.concatenate([np.maximum(found.a, found.b), np.maximum(found.b, found.c)]),
    )
    label = np.repeat([0, 1], [len(negative), len(positive)])
    pair = np.concatenate([negative, positive])
    count = np.concatenate([against_negative, against_positive])
    first = np.argsort(-count, kind="stable")[:limit]
    listed = tuple(
        _suspect(catalog, graph, found, int(pair[at]), int(label[at]), int(count[at])) for at in first
    )
    return Review(listed, len(negative), len(positive), len(found), graph.unusable)


def triangles(graph: Graph) -> Triangles:
    """All triangles of two positives and a negative.

    For each negative, the neighbours of the image that has fewer are looked up among those of the other image, so the
    work is the sum over negatives of the smaller degree.
    """
    a, c = ends(graph.negative)
    degree = graph.positive.degree
    fewer = np.where(degree[a] <= degree[c], a, c)
    other = a + c - fewer
    parts = []
    for rows in _portions(degree[fewer]):
        pair = np.repeat(np.arange(rows.start, rows.stop), degree[fewer[rows.start : rows.stop]])
        place = np.arange(len(pair)) - np.searchsorted(pair, pair)
        middle = graph.positive.node[graph.positive.start[fewer[pair]] + place].astype(np.int64)
        both = are_among(graph.positive, middle, other[pair])
        parts.append((pair[both], middle[both]))
    pair, middle = (np.concatenate([part[i] for part in parts]) if parts else a[:0] for i in (0, 1))
    return Triangles(a[pair], middle, c[pair])


def _portions(sizes: Nodes) -> list[range]:
    """Runs of rows whose sizes together stay near the limit."""
    if len(sizes) == 0:
        return []
    before = np.cumsum(sizes) - sizes
    cuts = np.flatnonzero(np.diff(before // AT_ONCE)) + 1
    edges = [0, *cuts.tolist(), len(sizes)]
    return [range(first, last) for first, last in pairwise(edges)]


def _counted(graph: Graph, low: Nodes, high: Nodes) -> tuple[Nodes, Nodes]:
    """Distinct pairs as one number each, and how often each is there."""
    pair, count = np.unique(low * graph.nodes + high, return_counts=True)
    return pair.astype(np.int64), count.astype(np.int64)


def _suspect(catalog: Catalog, graph: Graph, found: Triangles, pair: int, label: int, count: int) -> Suspect:
    one, other = divmod(pair, graph.nodes)
    of_negative = (found.a == one) & (found.c == other)
    through = found.b[of_negative] if label == 0 else _third(found, one, other)
    names = tuple(str(catalog.image[node]) for node in np.unique(through)[:MIDDLES])
    return Suspect(str(catalog.image[one]), str(catalog.image[other]), label, count, names)


def _third(found: Triangles, one: int, other: int) -> Nodes:
    """The third image of the triangles whose positive sides include this pair."""
    third = [found.a[:0]]
    for near, far in ((found.a, found.c), (found.c, found.a)):
        for end, middle in ((one, other), (other, one)):
            third.append(far[(near == end) & (found.b == middle)])
    return np.concatenate(third)
