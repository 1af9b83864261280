"""Does the verdict on training hold? What 100 drawn labels say of heads whose true HR@5 is known, on fresh catalogs.

    python studies/training_verdicts.py --out FOLDER

The catalogs, labels and encoders are those of `soft_positives.py`; a third of the queries is labelled, and heads are
trained with SupCon as in its cells, at a rate of 1e-3. The drawn pairs are answered by the truth.
"""

import sys
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))
from soft_positives import CATALOGS, FIRST, HEADS, ITEMS, fresh
from study import write

import lookalike
from lookalike.audit.training_verdict import TrainingVerdict
from lookalike.core.types import Labels, Rule
from lookalike.research.trials.run import Ground

EPOCHS, RATE = 30, 1e-3


def main(arguments: list[str]) -> None:
    """Train, ask and tell."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="a folder for the table")
    parser.add_argument("--catalogs", type=int, default=CATALOGS)
    parser.add_argument("--items", type=int, default=ITEMS)
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)  # products too small to share
    heads = "| encoder | head | catalogs | true difference | words | wrong words | bounds that hold | half-width |"
    rows = [heads, "|---" * 8 + "|"]
    for encoder in ("middling", "good"):
        for head in HEADS:
            told = [
                verdict(fresh(seed, asked.items).ground(encoder, "third"), head, seed)
                for seed in seeds(asked.catalogs)
            ]
            words = Counter(found.word for _, found in told)
            held = np.mean([found.low <= true + 1e-9 and true - 1e-9 <= found.high for true, found in told])
            wide = np.mean([(found.high - found.low) / 2 for _, found in told])
            said = ", ".join(f"{word} {count}" for word, count in words.most_common())
            wrong = sum(is_wrong(found, one) for one, found in told)
            true = np.mean([one for one, _ in told])
            figures = f"{true:+.3f} | {said} | {wrong} | {100 * held:.0f} % | {wide:.3f}"
            rows.append(f"| {encoder} | {head} | {len(told)} | {figures} |")
            print(rows[-1], flush=True)
    write(asked, "training-verdicts.md", "\n".join(rows) + "\n")


def seeds(catalogs: int) -> range:
    """The catalogs of `soft_positives.py`."""
    return range(FIRST, FIRST + catalogs)


def is_wrong(found: TrainingVerdict, true: float) -> bool:
    """Whether the truth contradicts the word."""
    holds = {"won": true > 0, "lost": true < 0, "not worse": true > -found.margin}
    return not holds.get(found.word, True)


def verdict(ground: Ground, head: str, seed: int) -> tuple[float, TrainingVerdict]:
    """The true HR@5 of trained minus base on the test split, and what the labels of drawn pairs say."""
    base = lookalike.embeddings(ground.catalog, "base", ground.features)
    width = {"projection": HEADS[head]} if HEADS[head] else {"head": "residual"}
    better = lookalike.finetune(
        ground.catalog,
        base,
        ground.labels,
        positives="labels",
        epochs=EPOCHS,
        rate=RATE,
        batch=512,
        seed=seed,
        **width,
    )
    before, after = lookalike.score(
        ground.catalog, [base, better], ground.truth, "HR@5", rule=Rule(split="test")
    )
    answers = Labels(ground.truth.query, ground.truth.candidate, ground.truth.label)
    found = lookalike.training_verdict(better, ground.catalog, answers)
    return after["HR@5"].value - before["HR@5"].value, found


if __name__ == "__main__":
    main(sys.argv[1:])
