"""Ground truths: the studio, drawn from a seed, and workspaces whose labels are complete."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from lookalike.api import values
from lookalike.core.checks import fingerprint
from lookalike.core.errors import LabelsError
from lookalike.core.progress import Progress, part
from lookalike.core.types import Basis, Catalog, Embeddings, Rule
from lookalike.rank.distinct import top_lists
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import JudgedPairs
from lookalike.research.bias.pools import TRUTH, GroundTruth
from lookalike.store.workspace import Workspace
from lookalike.studio import Studio, consensus, experts, true_labels, vote
from lookalike.studio.simulated_encoders import observed, observers
from lookalike.workflows.decide.pairs import rank_on_labels
from lookalike.workflows.decide.trained import untrained

DESCRIPTORS = ("color", "hog", "layout", "lbp")
JOINED = ("color+hog", "color+lbp", "hog+lbp", "color+hog+layout", "color+hog+layout+lbp")
OBSERVERS, BLENDED = 11, (("color", 4), ("hog", 5), ("layout", 6), ("color+hog", 8))
"""How many as-if encoders there are, and which descriptor is joined with which of them."""
QUERIES, DEPTH, SPARE, RANDOM_EACH = 400, 10, 4, 8
ONE, TWO = "one expert", "two experts"


def studio_encoders(drawn: Studio, photos: Path, progress: Progress | None = None) -> list[Embeddings]:
    """Descriptors of the photos, their joins, as-if encoders, and joins of the two kinds."""
    catalog = drawn.catalog()
    made: dict[str, np.ndarray] = {}
    for done, name in enumerate(DESCRIPTORS):
        step = part(progress, done, len(DESCRIPTORS))
        made[name] = values.embed(catalog, f"descriptor:{name}", photos=photos, progress=step).vectors
    for name in JOINED:
        made[name] = _beside([made[one] for one in name.split("+")])
    return [Embeddings(name, catalog.image, v) for name, v in (made | _as_if(drawn, made)).items()]


def as_if_encoders(drawn: Studio) -> list[Embeddings]:
    """The as-if encoders alone, which need no photos."""
    image = drawn.catalog().image
    return [Embeddings(name, image, v) for name, v in _as_if(drawn, {}).items()]


def studio_ground_truth(
    drawn: Studio, encoders: Sequence[Embeddings], *, queries: int = QUERIES
) -> GroundTruth:
    """One photo each of up to `queries` items asks; judged are every encoder's top 10 and 8 random items a query."""
    catalog, random = drawn.catalog(), np.random.Generator(np.random.PCG64(drawn.seed))
    item = np.sort(random.choice(drawn.items, min(queries, drawn.items), replace=False))
    rows = item * drawn.photos_per_item
    query, found, drawn_at_random = _pairs(drawn, catalog, encoders, rows, random)
    label = true_labels(drawn, item[query], found)
    names, _ = catalog.item_codes
    basis = Basis(catalog.fingerprint, fingerprint(query, found, label), Rule())
    pairs = JudgedPairs(rows[query], found, label, catalog.image[rows[query]], names[found], basis, ())
    one, two = (vote(drawn, expert, item[query], found) for expert in experts(2, drawn.seed))
    answers = {TRUTH: label, ONE: one, TWO: consensus(one, two)}
    ranks = tuple(judged_ranks(catalog, encoder, pairs) for encoder in encoders)
    return GroundTruth(ranks, answers, drawn_at_random, DEPTH)


def workspace_ground_truth(workspace: Workspace, progress: Progress | None = None) -> GroundTruth:
    """All labels of a workspace, which must be complete for every encoder's top 10; trained encoders stay out of it."""
    found = rank_on_labels(workspace, untrained(workspace), progress=progress)
    if len(found.pairs) == 0:
        raise LabelsError(
            "There are no labels, so there is no truth to compare with.",
            fix="Import complete labels, or use the studio catalog: lookalike bias",
        )
    everywhere = np.ones(len(found.pairs), bool)
    return GroundTruth(tuple(found.ranks.values()), {TRUTH: found.pairs.label}, everywhere, DEPTH)


def _as_if(drawn: Studio, descriptors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    seen = [(one.name, observed(drawn, one)) for one in observers(OBSERVERS, drawn.seed)]
    joins = [
        (f"{seen[place][0]}+{name}", _beside([seen[place][1], descriptors[name]]))
        for name, place in BLENDED
        if name in descriptors
    ]
    return dict(seen + joins)


def _beside(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Vectors side by side, each of length 1."""
    scaled = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in parts]
    return np.concatenate(scaled, axis=1).astype(np.float32)


def _pairs(
    drawn: Studio,
    catalog: Catalog,
    encoders: Sequence[Embeddings],
    rows: np.ndarray,
    random: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(query place, item) of all encoders' top lists and of random items, and which are random."""
    of_item = np.arange(len(catalog)) // drawn.photos_per_item
    tops = [of_item[top_lists(catalog, encoder, rows, DEPTH + SPARE).row] for encoder in encoders]
    listed = np.concatenate(tops, axis=1)
    others = random.integers(0, drawn.items - 1, (len(rows), RANDOM_EACH))
    others += others >= of_item[rows][:, None]  # any item but the query's own
    place = np.arange(len(rows))[:, None] * drawn.items
    key = np.unique(np.concatenate([place + listed, place + others], axis=1))
    query, found = np.divmod(key, drawn.items)
    return query, found, np.isin(key, place + others)
