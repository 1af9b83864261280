"""Why soft positives help or not: of the training pairs at distance 2, 3, ..., how many are similar in truth?

    python studies/distances.py --out FOLDER [--data DATA]

On the studio, and with the data pack on the 92 objects. Pairs are unordered, of the training split, and pooled over
the splits.
"""

import sys
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from flips import flipped
from people import people
from studio import DESCRIPTOR, grounds
from study import write

from lookalike.positive.positiveness import hops_among, relations
from lookalike.research.trials.run import Divided, Ground

FARTHEST = 7
KINDS = (
    "labelled similar",
    *(f"distance {d}" for d in range(2, FARTHEST + 1)),
    "farther or apart",
    "labelled dissimilar",
)


def main(arguments: list[str]) -> None:
    """Count and tell."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--photos", type=Path)
    parser.add_argument("--images", type=int, default=400)
    parser.add_argument("--catalog-seed", type=int, default=0)
    parser.add_argument(
        "--flipped", type=float, default=0.0, help="share of labels turned round, as flips.py does"
    )
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    listed = [grounds(asked.images, asked.catalog_seed, None, asked.photos)[DESCRIPTOR]]
    if asked.data is not None:
        listed.append(people(asked.data))
    lines = ["ground,kind,pairs_a_split,similar_share"]
    for ground in listed:
        splits = range(asked.seed, asked.seed + asked.splits)
        counted = sum(counts(Divided(wrong(ground, asked.flipped, split), split)) for split in splits)
        print(f"\n{ground.name}\n\n| training pairs | in a split | similar in truth | the paper's weight |")
        print("|---|---|---|---|")
        for place, (name, (similar, pairs)) in enumerate(zip(KINDS, counted, strict=True)):
            weight = (
                f"{np.exp(-0.7 * (place + 1)):.3f}" if 1 <= place < FARTHEST else ("1" if place == 0 else "0")
            )
            share = f"{100 * similar / pairs:.1f} %" if pairs else "undefined"
            print(f"| {name} | {pairs / asked.splits:,.1f} | {share} | {weight} |")
            lines.append(
                f"{ground.name},{name},{pairs / asked.splits:.6g},{similar / pairs if pairs else np.nan:.6g}"
            )
    write(asked, "distances.csv", "\n".join([*lines, ""]))


def wrong(ground: Ground, share: float, seed: int) -> Ground:
    """The ground with a share of its labels turned round."""
    return replace(ground, labels=flipped(ground.labels, share, seed)) if share else ground


def counts(divided: Divided) -> np.ndarray:
    """(kinds, 2): pairs similar in truth, and all pairs, of each kind of `KINDS`."""
    rows = np.flatnonzero(divided.catalog.split == "train")
    node = divided.graph.node[rows]
    hops = hops_among(divided.graph, node, FARTHEST).astype(np.int64)
    known = relations(divided.graph, rows, None)
    above = np.triu(np.ones((len(rows), len(rows)), bool), 1)
    kind = np.where(hops <= FARTHEST, hops - 1, FARTHEST)
    kind[known.judged] = np.where(known.weight[known.judged] > 0, 0, FARTHEST + 1)
    similar = _truth(divided.ground, rows)
    return np.array(
        [[np.sum(similar & above & (kind == k)), np.sum(above & (kind == k))] for k in range(len(KINDS))]
    )


def _truth(ground: Ground, rows: np.ndarray) -> np.ndarray:
    """Which pairs of some rows are similar in truth."""
    place = {image: at for at, image in enumerate(ground.catalog.image[rows])}
    found = np.zeros((len(rows), len(rows)), bool)
    truth = ground.truth
    for one, other, label in zip(truth.query, truth.candidate, truth.label, strict=True):
        if label and one in place and other in place:
            found[place[one], place[other]] = found[place[other], place[one]] = True
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
