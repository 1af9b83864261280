"""Wrong labels (VSD appendix G): 0, 5, 10 and 20 % of the labels that train and choose are turned round.

    python studies/flips.py studio --journal studio.jsonl --out FOLDER [--data DATA]
    python studies/flips.py people --journal people.jsonl --out FOLDER --data DATA

SupCon, plain, SPA and NSPA. Every split turns others round; scores are on the truth. With the journal of the main study
the trials without a flip are there already. `--hops 2` asks what shorter paths do.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))
from studio import ground_of, studio_options
from study import WAYS, journal_of, tell_series, trials

from lookalike.core.checks import codes, strings
from lookalike.core.types import Labels
from lookalike.learn.settings import TrainingSettings
from lookalike.research.trials.run import run_trials

SHARES = (0.0, 0.05, 0.1, 0.2)
SUPCON = tuple(way for way in WAYS if way.loss == "supcon")


def main(arguments: list[str]) -> None:
    """Run what is left of the trials and tell."""
    parser = studio_options(__doc__)
    parser.add_argument("on", choices=("studio", "people"))
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES)
    parser.add_argument("--hops", type=int, default=7, help="L of SPA and NSPA")
    asked = parser.parse_args(arguments)
    ground = ground_of(asked, parser)
    torch.set_num_threads(1)  # products too small to share
    journal, listed = journal_of(asked), trials(within(asked.hops), asked)
    found: dict[float, list] = {share: [] for share in asked.shares}
    for split in range(asked.seed, asked.seed + asked.splits):
        ways = [trial for trial in listed if trial.split == split]
        for share in asked.shares:
            wrong = replace(ground, labels=flipped(ground.labels, share, split))
            found[share] += run_trials(wrong, ways, journal)
        print(f"\r{split - asked.seed + 1} of {asked.splits} splits", end="", flush=True)
    print()
    tell_series("share of labels flipped", found, asked, f"flips-{asked.on}")


def within(hops: int) -> list[TrainingSettings]:
    """Plain, SPA and NSPA with paths of so many hops at most."""
    return [way.changed(max_distance=hops) for way in SUPCON]


def flipped(labels: Labels, share: float, seed: int) -> Labels:
    """The labels with a share of the unordered pairs turned round, those of both directions alike."""
    ends = zip(labels.query, labels.candidate, strict=True)
    _, code = codes(strings(json.dumps(sorted(pair)) for pair in ends))
    turned = np.random.default_rng(seed).random(int(code.max(initial=-1)) + 1) < share
    return replace(labels, label=np.where(turned[code], 1 - labels.label, labels.label).astype(np.int8))


if __name__ == "__main__":
    main(sys.argv[1:])
