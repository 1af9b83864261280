"""Random small catalogs and rankings for hypothesis, and their translation into the package's types.

The only file here that imports src: the oracles beside it do not.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from oracles.matching import Vote
from oracles.ranking import Photo, Rules
from oracles.scoring import Row

from lookalike.core.checks import strings
from lookalike.core.types import Basis, Catalog, Embeddings, JudgedRanks, Labels, Rule

ROLES = ("both", "both", "both", "query", "gallery")
SPLITS = ("train", "train", "validation", "test")


class World(NamedTuple):
    """A catalog, whole-numbered vectors for it, and votes on pairs of its images."""

    photos: list[Photo]
    vectors: list[list[int]]
    votes: list[Vote]


def world(seed: int, items: int, most_photos: int, dimension: int, spread: int, votes: int) -> World:
    """Items with uneven numbers of photos in mixed order, vectors on a small lattice (so with many exact ties)."""
    random = Random(seed)
    names = [f"p{i}" for i in range(items) for _ in range(random.randint(1, most_photos))]
    random.shuffle(names)
    photos = [
        Photo(f"{random.choice('abz')}{row:02d}", name, random.choice(ROLES), random.choice(SPLITS))
        for row, name in enumerate(names)
    ]
    return World(photos, lattice(random, len(photos), dimension, spread), some_votes(random, photos, votes))


def lattice(random: Random, rows: int, dimension: int, spread: int) -> list[list[int]]:
    """Whole-numbered vectors, none of them zero (cosine needs a direction)."""
    vectors = [[random.randint(-spread, spread) for _ in range(dimension)] for _ in range(rows)]
    return [vector if any(vector) else [1, *vector[1:]] for vector in vectors]


def some_votes(random: Random, photos: Sequence[Photo], count: int) -> list[Vote]:
    """Votes on any pairs: unknown images, one image, one item, repeats and contradictions among them."""
    images = [*(photo.image for photo in photos), "unknown"]
    votes = [Vote(random.choice(images), random.choice(images), random.randint(0, 1)) for _ in range(count)]
    mirrored = [
        Vote(vote.candidate, vote.query, random.randint(0, 1)) for vote in votes if random.random() < 0.1
    ]
    return votes + mirrored


worlds = st.builds(
    world,
    seed=st.integers(0, 2**32),
    items=st.integers(1, 7),
    most_photos=st.sampled_from([1, 1, 2, 5]),
    dimension=st.integers(1, 3),
    spread=st.integers(1, 2),
    votes=st.integers(0, 30),
)
rules = st.builds(
    Rules,
    level=st.sampled_from(["item", "image"]),
    similarity=st.sampled_from(["cosine", "dot", "euclidean"]),
    own_item=st.booleans(),
    split=st.sampled_from([None, None, "train", "test"]),
)


def catalog_of(photos: Sequence[Photo]) -> Catalog:
    """The package's catalog."""
    n = len(photos)
    empty, zero = strings([""] * n), np.zeros(n, np.int64)
    return Catalog(
        image=strings(photo.image for photo in photos),
        path=strings(photo.image for photo in photos),
        item=strings(photo.item for photo in photos),
        category=empty,
        role=strings(photo.role for photo in photos),
        split=strings(photo.split for photo in photos),
        position=np.arange(n),
        digest=empty,
        width=zero,
        height=zero,
    )


def embeddings_of(
    catalog: Catalog, vectors: object, name: str = "encoder", dtype: type = np.float32
) -> Embeddings:
    """The package's embeddings."""
    return Embeddings(name, catalog.image, np.asarray(vectors, dtype=dtype))


def labels_of(votes: Sequence[Vote]) -> Labels:
    """The package's labels."""
    return Labels.of(
        [vote.query for vote in votes], [vote.candidate for vote in votes], [vote.label for vote in votes]
    )


def rule_of(rules: Rules) -> Rule:
    """The package's rule."""
    return Rule(rules.level, rules.similarity, rules.own_item, rules.split)


def all_pairs(photos: Sequence[Photo], seed: int = 0) -> list[Vote]:
    """A label for every ordered pair of different items, the same for (a, b) and (b, a) and all their photos."""
    random = Random(seed)
    items = sorted({photo.item for photo in photos})
    label = {frozenset((a, b)): random.randint(0, 1) for a in items for b in items if a != b}
    return [
        Vote(a.image, b.image, label[frozenset((a.item, b.item))])
        for a in photos
        for b in photos
        if a.item != b.item
    ]


# ---- rankings: what measures see, without vectors


class Candidate(NamedTuple):
    """One place of a ranking: its label (None: unjudged), and whether it ties with the one before it."""

    label: int | None
    tied: bool


Ranking = list[Candidate]

candidates = st.builds(Candidate, st.sampled_from([None, None, 0, 1, 1]), st.booleans())
rankings = st.lists(st.lists(candidates, min_size=1, max_size=9), min_size=1, max_size=5)
untied = st.lists(
    st.lists(st.builds(Candidate, st.sampled_from([None, 0, 1]), st.just(False)), min_size=1, max_size=9),
    min_size=1,
    max_size=5,
)


def labelled(ranked: Sequence[Ranking]) -> bool:
    """At least one candidate has a label."""
    return any(candidate.label is not None for ranking in ranked for candidate in ranking)


def groups(ranking: Ranking) -> list[list[int]]:
    """Places that tie, best first."""
    found: list[list[int]] = []
    for place, candidate in enumerate(ranking):
        if candidate.tied and found:
            found[-1].append(place)
        else:
            found.append([place])
    return found


def rows_of(ranked: Sequence[Ranking], scores: Sequence[float] | None = None) -> list[Row]:
    """Labelled places as rows. The score falls by 1/16 from group to group, the same for all queries."""
    rows = []
    for q, ranking in enumerate(ranked):
        above = 0
        for step, group in enumerate(groups(ranking)):
            for place in group:
                label = ranking[place].label
                if label is not None:
                    score = 1 - step / 16 if scores is None else scores[q] - step / 16
                    name = f"q{q}", f"c{place}"
                    rows.append(Row(*name, label, above, len(group) - 1, score, len(ranking)))
            above += len(group)
    return rows


def judged_of(rows: Sequence[Row]) -> JudgedRanks:
    """The package's judged ranks."""
    return JudgedRanks(
        encoder="encoder",
        query=strings(row.query for row in rows),
        candidate=strings(row.candidate for row in rows),
        label=np.array([row.label for row in rows], np.int8),
        above=np.array([row.above for row in rows], np.int64),
        tied=np.array([row.tied for row in rows], np.int64),
        score=np.array([row.score for row in rows], np.float32),
        candidates=np.array([row.candidates for row in rows], np.int64),
        basis=Basis("catalog", "labels", Rule()),
    )


def rows_from(judged: JudgedRanks) -> list[Row]:
    """Back again: the package's judged ranks as the oracles' rows."""
    columns = (
        judged.query,
        judged.candidate,
        judged.label.tolist(),
        judged.above.tolist(),
        judged.tied.tolist(),
        judged.score.tolist(),
        judged.candidates.tolist(),
    )
    return [Row(*values) for values in zip(*columns, strict=True)]
