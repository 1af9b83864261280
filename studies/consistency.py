"""Is a consistent measure a valid one? Leave-one-out consistency, and correlation with complete labels (VSD 7.2.1).

    python studies/consistency.py [--studios 6] [--pools 12] [--images 2000]

A pool has the top 5 of four of eleven simulated encoders, with true labels. Consistency: Spearman of the scores of all
encoders on all labels with those without one generator's, mean over generators and pools. Validity: Spearman of the
scores on all labels with the true HR@5.
"""

import sys
from argparse import ArgumentParser

import numpy as np

from lookalike.audit.correlation import correlate
from lookalike.evaluate.measures.table import parse
from lookalike.research.bias.ground_truths import as_if_encoders, studio_ground_truth
from lookalike.research.bias.pools import GroundTruth
from lookalike.studio import studio

MEASURES = ("DCS", "EHR@5", "AUC_mic", "AUC_mac", "BPREF")
GENERATORS, TOP = 4, 5


def main(arguments: list[str]) -> None:
    """Print one line per studio and measure, then the mean over studios."""
    parser = ArgumentParser(description=__doc__)
    for name, value in (("studios", 6), ("pools", 12), ("images", 2000)):
        parser.add_argument(f"--{name}", type=int, default=value)
    asked = parser.parse_args(arguments)
    found = []
    for seed in range(asked.studios):
        drawn = studio(asked.images, seed=seed)
        found.append(of_pools(studio_ground_truth(drawn, as_if_encoders(drawn)), asked.pools, seed))
    print(f"{'measure':10}{'consistency':>24}{'with the truth':>24}")
    for at, measure in enumerate(MEASURES):
        cells = [
            f"{one.mean():.2f} ({one.min():.2f} to {one.max():.2f})" for one in np.array(found)[:, :, at].T
        ]
        print(f"{measure:10}{cells[0]:>24}{cells[1]:>24}")


def of_pools(truth: GroundTruth, pools: int, seed: int) -> np.ndarray:
    """Mean consistency and mean validity of every measure over some pools: (2, measures)."""
    random, true = np.random.default_rng(seed), truth.hits(5).mean(axis=1)
    rows = []
    for _ in range(pools):
        generators = random.choice(len(truth.ranks), GENERATORS, replace=False)
        surfaced = truth.place[generators] < TOP
        labelled = surfaced.any(axis=0)
        every = scores(truth, labelled)
        without = [scores(truth, labelled & ~own) for own in surfaced]
        rows.append(
            [
                [np.mean([spearman(a, b[at]) for b in without]), spearman(a, true)]
                for at, a in enumerate(every)
            ]
        )
    return np.array(rows).mean(axis=0).T


def scores(truth: GroundTruth, labelled: np.ndarray) -> np.ndarray:
    """Every measure of every encoder on some of the labels: (measures, encoders)."""
    judged = [one.only(labelled) for one in truth.ranks]
    return np.array([[parse(measure)(one).value for one in judged] for measure in MEASURES])


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's correlation over encoders."""
    return correlate(a, b).spearman.value


if __name__ == "__main__":
    main(sys.argv[1:])
