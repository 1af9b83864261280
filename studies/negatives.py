"""Does HR order encoders like ROC-AUC with sampled negatives (EDS 6.4)? Simulated encoders on studio catalogs.

    python studies/negatives.py [--studios 6] [--images 2000] [--queries 300]

Four of eleven encoders feed the pool (top 6, true labels). Spearman of HR@5 with ROC-AUC over all encoders, and over
those outside the pool, at level paper (EDS's own evaluation). Anno. has the labelled negatives, Neg as many sampled
from ranks 100 to 500 of the generators.
"""

import sys
from argparse import ArgumentParser

import numpy as np

import lookalike
from lookalike.audit.correlation import correlate
from lookalike.core.types import Labels, Rule
from lookalike.research.bias.ground_truths import as_if_encoders
from lookalike.studio import studio, true_labels

GENERATORS, TOP = 4, 6


def main(arguments: list[str]) -> None:
    """Print the mean and range of each correlation over studios."""
    parser = ArgumentParser(description=__doc__)
    for name, value in (("studios", 6), ("images", 2000), ("queries", 300)):
        parser.add_argument(f"--{name}", type=int, default=value)
    asked = parser.parse_args(arguments)
    found = np.array([of_studio(asked.images, asked.queries, seed) for seed in range(asked.studios)])
    for at, who in enumerate(("all encoders", "outside the pool")):
        for measure, name in enumerate(("micro Anno.", "micro Neg", "macro Anno.", "macro Neg")):
            column = found[:, at, measure]
            print(f"{who:18}{name:12}{column.mean():6.2f} ({column.min():.2f} to {column.max():.2f})")


def of_studio(images: int, queries: int, seed: int) -> list[list[float]]:
    """Spearman of HR@5 with the four areas, over all encoders and over those outside the pool."""
    drawn, random = studio(images, seed=seed), np.random.default_rng(seed)
    catalog, encoders = drawn.catalog(), as_if_encoders(drawn)
    fed = sorted(random.choice(len(encoders), GENERATORS, replace=False).tolist())
    chosen = np.sort(random.choice(drawn.items, queries, replace=False)) * drawn.photos_per_item
    pool = lookalike.make_pool(
        catalog, [encoders[at] for at in fed], top=TOP, queries=[catalog.image[row] for row in chosen]
    )
    rows = [
        np.array([catalog.row[one] for one in side]) // drawn.photos_per_item
        for side in (pool.query, pool.candidate)
    ]
    labels = Labels.of(pool.query, pool.candidate, true_labels(drawn, *rows))
    n = max(1, round(float(np.sum(labels.label == 0)) / queries))
    areas = [
        f"AUC_{average}{negatives}"
        for average in ("mic", "mac")
        for negatives in ("", f"(n={n},negatives=sampled)")
    ]
    scores = lookalike.score(
        catalog,
        encoders,
        labels,
        ",".join(["HR@5", *areas]),
        rule=Rule(level="paper"),
        baselines=[encoders[at] for at in fed],
    )
    values = np.array([[one[name].value for name in ("HR@5", *areas)] for one in scores])
    outside = [at for at in range(len(encoders)) if at not in fed]
    return [
        [correlate(part[:, 0], part[:, 1 + at]).spearman.value for at in range(len(areas))]
        for part in (values, values[outside])
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
