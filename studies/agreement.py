"""What agreement, repeats and gold pairs say of labels, where the truth is known: four simulated experts.

    python studies/agreement.py [--images 2000] [--seed 0] [--repeats 200] [--gold 500]

Each pair of a demanding pool gets two blind votes, of two of the experts in turn; 200 pairs of each come back twice.
"""

import sys
from argparse import ArgumentParser
from collections import Counter
from itertools import combinations

import numpy as np

from lookalike.annotate.agreement.by_group import agreement, by_annotator, by_two
from lookalike.annotate.agreement.consistency import consistency
from lookalike.annotate.agreement.figure import Figure, share
from lookalike.annotate.agreement.label_errors import (
    consensus_error,
    error_of_one,
    error_of_slips,
    wrong_together,
)
from lookalike.annotate.agreement.patterns import pattern, vote_table
from lookalike.studio import experts, studio, vote
from lookalike.studio.claims import demanding_pool

WORDS = ("dissimilar", "similar")
TURNS = 3


def main(arguments: list[str]) -> None:
    """Print agreement, self-consistency, and foreseen errors beside the true ones."""
    parser = ArgumentParser(description=__doc__)
    for name, value in (("images", 2000), ("seed", 0), ("repeats", 200), ("gold", 500)):
        parser.add_argument(f"--{name}", type=int, default=value)
    asked = parser.parse_args(arguments)
    drawn = studio(asked.images, seed=asked.seed)
    a, b, truth = demanding_pool(drawn, seed=asked.seed)
    people = experts(4, drawn.seed)
    said = [np.stack([vote(drawn, one, a, b, time=time) for time in range(TURNS)]) for one in people]
    random = np.random.default_rng(asked.seed)
    twos = list(combinations(range(len(people)), 2))
    who = np.array([twos[at % len(twos)] for at in range(len(a))])
    first = np.array([[said[one][0, at], said[other][0, at]] for at, (one, other) in enumerate(who)])
    counted = Counter(
        pattern({int(x) + 1: WORDS[y] for x, y in zip(*row, strict=True)})
        for row in zip(who, first, strict=True)
    )
    votes = vote_table(("", name, pairs) for name, pairs in sorted(counted.items()))
    print(
        f"{len(a):,} pairs, two votes each of {len(people)} experts; {100 * truth.mean():.0f} % truly similar"
    )
    _agreement(votes)
    flips = _repeats(said, who, asked.repeats, random)
    _errors(first, truth, flips, asked.gold, random)


def _agreement(votes) -> None:
    for name, found in agreement(votes.counts).figures.items():
        print(f"  {name:14} {_said(found)}")
    for (one, other), made in by_two(votes).items():
        print(f"  experts {one} and {other}: Cohen's kappa {_said(made['cohen'])} on {made.shared:,} pairs")
    for one, made in by_annotator(votes).items():
        print(f"  expert {one} with the others: {_said(made['percent'])} the same")


def _repeats(said, who, repeats: int, random) -> list[float]:
    flips = []
    for at, votes in enumerate(said):
        own = np.flatnonzero((who == at).any(axis=1))
        shown = random.choice(own, min(repeats, len(own)), replace=False)
        found = consistency(Counter(tuple(WORDS[y] for y in votes[:, pair]) for pair in shown))
        print(f"  expert {at + 1} again: {_said(found.own)} the same, all three times {_said(found.same)}")
        flips.append(found.flips.value)
    return flips


def _errors(first, truth, flips, gold: int, random) -> None:
    same = first[:, 0] == first[:, 1]
    agreed, wrong = float(same.mean()), float((first[same, 0] != truth[same]).mean())
    known = random.choice(len(truth), min(gold, len(truth)), replace=False)
    right = share(int((first[known] == truth[known, None]).sum()), 2 * len(known))
    one, slip = error_of_one(agreed), error_of_slips(float(np.mean(flips)))
    print(f"error of one vote: {100 * (first != truth[:, None]).mean():.1f} % in truth")
    print(
        f"  {100 * one:.1f} % from agreement, {100 * slip:.1f} % from repeats, {_said(_wrong(right))} from gold pairs"
    )
    print(f"wrong labels of two equal votes: {100 * wrong:.2f} % in truth")
    print(f"  {100 * consensus_error(one, 2).wrong:.2f} % from agreement, errors taken as independent")
    print(f"  {100 * consensus_error(slip, 2).wrong:.2f} % from repeats, likewise")
    print(f"  {_said(wrong_together(right, agreed))} from {len(known)} gold pairs, without that assumption")


def _wrong(right: Figure) -> Figure:
    return Figure(1 - right.value, 1 - right.high, 1 - right.low, right.count)


def _said(found: Figure) -> str:
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


if __name__ == "__main__":
    main(sys.argv[1:])
