"""Which head loses less: true HR@5 of the trained encoder minus the base, on fresh catalogs, at the default settings.

    python studies/heads.py --journal heads.jsonl --out FOLDER

The catalogs and encoders are those of `soft_positives.py`, and the descriptor `color` of the photos. A projection head
begins at random, a residual head as the encoder itself. All else is as `lookalike finetune` has it.
"""

import sys
import tempfile
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))
from soft_positives import CHOOSERS, Fresh, fresh
from soft_positives_tables import SHOWN, heading, mean_of, shown
from study import write

import lookalike
from lookalike.learn.settings import PROJECTION, TrainingSettings
from lookalike.research.trials.run import PRETRAINED, TRUTH, Ground, Trial, run_trials
from lookalike.research.trials.summary import View
from lookalike.store.journal import Entry, Journal
from lookalike.workflows.start.studio import write_studio

FIRST, CATALOGS, ITEMS = 900, 6, 600
HEADS = {"projection": PROJECTION, "residual": 0}
MEASURES = ("HR@5", "AUC_mic", "EHR@5", "DCS(alpha=10)")


def main(arguments: list[str]) -> None:
    """Run what is left of the trials and tell."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--out", type=Path, help="a folder for the table")
    parser.add_argument("--catalogs", type=int, default=CATALOGS)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--epochs", type=int, default=TrainingSettings().epochs)
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)  # products too small to share
    journal = Journal(asked.journal)
    found: dict[tuple[str, str], list[Entry]] = {}
    for seed in range(FIRST, FIRST + asked.catalogs):
        settings = TrainingSettings(epochs=asked.epochs, measure="DCS(alpha=10)")
        trials = [Trial(seed, settings, width, CHOOSERS, MEASURES) for width in HEADS.values()]
        for encoder, ground in grounds(fresh(seed, asked.items)).items():
            for head, entry in zip(HEADS, run_trials(ground, trials, journal), strict=True):
                found.setdefault((encoder, head), []).append(entry)
    heads = ("encoder", "head", "catalogs", "base", *map(heading, SHOWN))
    rows = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for (encoder, head), entries in found.items():
        base = np.mean([entry["values"][PRETRAINED][TRUTH]["HR@5"] for entry in entries])
        gains = [mean_of(np.array([gain(entry, view) for entry in entries])) for view in SHOWN]
        cells = [encoder, head, str(len(entries)), f"{base:.3f}", *map(shown, gains)]
        rows.append(f"| {' | '.join(cells)} |")
    print("\n".join(rows))
    write(asked, "heads.md", "\n".join(rows) + "\n")


def gain(entry: Entry, view: View) -> float:
    """Trained minus base."""
    values = entry["values"]
    before, after = (
        values[by].get(view.on, {}).get(view.measure, np.nan) for by in (PRETRAINED, view.chosen_by)
    )
    return float(after - before)


def grounds(of: Fresh) -> dict[str, Ground]:
    """The encoders of a catalog, trained on the labels of a third of the queries."""
    made = {name: of.ground(name, "third") for name in of.learners}
    with tempfile.TemporaryDirectory(prefix="lookalike-study-") as folder:
        write_studio(Path(folder), of.drawn)
        color = lookalike.embed(of.drawn.catalog(), "descriptor:color", photos=Path(folder))
    features = np.asarray(color.vectors, np.float32)
    return made | {"color": replace(made["good"], name="color", features=features, wild=None)}


if __name__ == "__main__":
    main(sys.argv[1:])
