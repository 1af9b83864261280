"""Is a blend learned from labels better than equal weights, and than the best encoder alone, on other queries?

    python studies/blend.py [catalogs] [first seed]

Fresh studio catalogs of 300 photos, one of each item. 3 in 4 items are for training: the top 5 of every encoder among
them, query by query, until 626 pairs have a label, which is the truth. HR@5 is of the other queries among all items.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

from lookalike.learn.blend import blend_weights
from lookalike.research.bias.ground_truths import studio_encoders
from lookalike.studio import Studio, studio, true_labels

ITEMS, LABELS, K, SIZE = 300, 626, 5, 96
SETS = {
    "three simulated": ("as-if-1", "as-if-2", "as-if-3"),
    "one simulated, two descriptors": ("as-if-4", "color", "hog"),
    "two simulated, four descriptors": ("as-if-5", "as-if-6", "color", "hog", "lbp", "layout"),
    "four descriptors": ("color", "hog", "lbp", "layout"),
}


def main(catalogs: int, first: int) -> None:
    """Print a row for each set of encoders: means over catalogs, gains with their standard errors."""
    found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in SETS}
    for seed in range(first, first + catalogs):
        drawn = studio(ITEMS, photos_per_item=1, seed=seed)
        cosines, truth = cosines_of(drawn), truth_of(drawn)
        order = np.random.default_rng(seed).permutation(drawn.items)
        queries, training = np.split(order, [drawn.items // 4])
        for name, encoders in SETS.items():
            given = np.stack([cosines[encoder] for encoder in encoders])
            pairs = pool(given, training)
            learned = blend_weights(given[:, pairs[:, 0], pairs[:, 1]].T, truth[pairs[:, 0], pairs[:, 1]])
            best = max(hit_rate(one, truth, queries) for one in given)
            mixed = np.tensordot(learned.weights, given, 1)
            found[name].append(
                (best, hit_rate(given.sum(0), truth, queries), hit_rate(mixed, truth, queries))
            )
    print("| encoders | best alone | equal weights | learned | learned - best | learned - equal |")
    print("|---|---|---|---|---|---|")
    for name, rows in found.items():
        best, equal, learned = np.array(rows).T
        gains = (f"{mean_error(learned - other)}" for other in (best, equal))
        print(
            f"| {name} | {best.mean():.3f} | {equal.mean():.3f} | {learned.mean():.3f} | {' | '.join(gains)} |"
        )


def cosines_of(drawn: Studio) -> dict[str, np.ndarray]:
    """The cosines of all pairs of items, by encoder."""
    with tempfile.TemporaryDirectory() as folder:
        for at, path in enumerate(drawn.catalog().path):
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(drawn.draw(at, SIZE)).save(Path(folder) / path)
        made = studio_encoders(drawn, Path(folder))
    units = {one.encoder: one.vectors / np.linalg.norm(one.vectors, axis=1, keepdims=True) for one in made}
    return {name: unit.astype(np.float64) @ unit.T.astype(np.float64) for name, unit in units.items()}


def truth_of(drawn: Studio) -> np.ndarray:
    """1 for each pair of items that is similar in truth, 0 for an item and itself."""
    one, other = np.nonzero(~np.eye(drawn.items, dtype=bool))
    truth = np.zeros((drawn.items, drawn.items), np.int64)
    truth[one, other] = true_labels(drawn, one, other)
    return truth


def pool(cosines: np.ndarray, training: np.ndarray) -> np.ndarray:
    """The pairs that are labelled: (pairs, 2)."""
    pairs: set[tuple[int, int]] = set()
    for query in training:
        for one in cosines:
            for item in top(one[query, training], training, query):
                pairs.add((min(query, item), max(query, item)))
        if len(pairs) >= LABELS:
            break
    return np.array(sorted(pairs))


def hit_rate(cosine: np.ndarray, truth: np.ndarray, queries: np.ndarray) -> float:
    """HR@5: the mean share of similar items in the first five."""
    items = np.arange(len(cosine))
    return float(np.mean([truth[query, top(cosine[query], items, query)] for query in queries]))


def top(score: np.ndarray, items: np.ndarray, query: int) -> np.ndarray:
    """The five items of the highest score, without the query's own."""
    return items[np.argsort(np.where(items == query, np.inf, -score), kind="stable")[:K]]


def mean_error(values: np.ndarray) -> str:
    """A mean and its standard error."""
    return f"{values.mean():+.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*(given + [8, 10][len(given) :]))
