"""Do soft positives (SPA) help, and does training help at all? A trial on fresh catalogs, fixed before it was run.

    python studies/soft_positives.py --journal soft.jsonl --out FOLDER [--data DATA] [--workers 2]

Each studio catalog is drawn from a seed of its own, 1000 and up. Four as-if encoders put the top 5 of their query's
split forward, two simulated experts label them, and a head is trained on an encoder that did not feed the pool. Rate
and epoch are chosen by DCS of the validation split's labels, for each method alone. Scored are the test split's true
labels (AUC_mic, HR@5), its pool labels (what a user sees), and photos of another style as queries (wild). With the
data pack, the 92 objects come last.

Primary test: PRIMARY below. A difference whose 90 % interval lies within +-.003 is of no importance (equivalence). All
other comparisons with plain share Holm's correction. SPA counts as a gain only where plain is at least the base.
A stopped study resumes from its journal: the primary comparison is finished first.
"""

import sys
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))
from people import people
from soft_positives_tables import CHOOSER, OBJECTS, Cell, tell
from study import LOSSES

import lookalike
from lookalike.catalog.split import assign_splits
from lookalike.core.checks import strings
from lookalike.core.types import Catalog, Embeddings, Labels
from lookalike.learn.settings import TrainingSettings
from lookalike.research.trials.run import Ground, Trial, WildQueries, run_trials
from lookalike.store.journal import Entry, Journal
from lookalike.studio import Studio, studio, true_labels
from lookalike.studio.simulated_encoders import Observer, observed, observers
from lookalike.workflows.demo.truth import simulated_labels

FIRST, CATALOGS, ITEMS, SPLITS = 1000, 20, 600, 20
GENERATORS, GOOD, TOP = 4, 7, 5
ARMS = ("third", "all", "thinned")
HEADS = {"projection": 256, "residual": 0}
KINDS: dict[str, dict[str, Any]] = {
    "plain": {"positives": "labels"},
    "SPA": {"positives": "soft"},
    "SPA 2": {"positives": "soft", "max_distance": 2},
    "NSPA": {"positives": "full"},
}
ALIKE = {"max_distance": TrainingSettings().max_distance}
RATES, EPOCHS = (3e-4, 1e-3, 3e-3), 30
CHOOSERS = (CHOOSER, "AUC_mic")
MEASURES = ("AUC_mic", "HR@5", "EHR@5", CHOOSER)


PRIMARY = Cell("middling", "residual", "third", "supcon", "SPA")


def stages(*, objects: bool) -> Iterator[list[Cell]]:
    """The cells in the order in which they are run: each list on all catalogs before the next.

    The primary comparison comes first, then the same one elsewhere, then the other losses and kinds.
    """
    places = [(PRIMARY.encoder, PRIMARY.head, PRIMARY.arm), ("middling", "projection", "third")]
    places += [("good", "residual", "third"), ("good", "projection", "third")]
    places += [one for one in product(("middling", "good"), HEADS, ARMS) if one not in places]
    places += [(OBJECTS, head, "all") for head in HEADS] if objects else []
    main = [(PRIMARY.loss, kind) for kind in ("plain", PRIMARY.kind)]
    others = [one for one in product(LOSSES, KINDS) if one not in main]
    for ways, place in product((main, others), places):
        yield [Cell(*place, *way) for way in ways]


def settings_of(cell: Cell, rate: float) -> TrainingSettings:
    """The settings of a cell at a rate."""
    told: dict[str, Any] = {"loss": cell.loss, "rate": rate, "epochs": EPOCHS, "batch": 512}
    return TrainingSettings(measure=CHOOSER, **told, **KINDS[cell.kind])


def trial_of(cell: Cell, split: int, rate: float) -> Trial:
    """The trial of a cell on one catalog, or one split of the objects."""
    return Trial(split, settings_of(cell, rate), HEADS[cell.head], CHOOSERS, MEASURES)


@dataclass(frozen=True, eq=False)
class Fresh:
    """A catalog drawn from a seed: its splits, its generators, and the encoders a head is trained on."""

    drawn: Studio
    catalog: Catalog
    generators: list[Embeddings]
    learners: dict[str, Observer]

    @classmethod
    def of(cls, seed: int, items: int) -> "Fresh":
        """The catalog of a seed, one photo of each item."""
        drawn = studio(items, photos_per_item=1, seed=seed)
        catalog = drawn.catalog()
        catalog = replace(catalog, split=assign_splits(catalog.item, seed=seed))
        each = observers(GOOD + 1, seed)
        fed = [Embeddings(one.name, catalog.image, observed(drawn, one)) for one in each[:GENERATORS]]
        good = each[GOOD]
        middling = replace(good, name="middling", error=0.24, nuisance=0.5)
        return cls(drawn, catalog, fed, {"good": good, "middling": middling})

    def labels(self, arm: str) -> Labels:
        """What two experts agree on, of the pool of a third of the queries or of all of them."""
        queries = len(self.catalog) // 3 if arm == "third" else None
        pool = lookalike.make_pool(
            self.catalog, self.generators, top=TOP, queries=queries, seed=self.drawn.seed, within_splits=True
        )
        labels, _ = simulated_labels(self.drawn, self.catalog, pool, self.drawn.seed)
        return thinned(labels, pairs(self.labels("third")), self.drawn.seed) if arm == "thinned" else labels

    def ground(self, encoder: str, arm: str) -> Ground:
        """What a head on one encoder learns from and is scored on. Of the truth, only the test split's is needed."""
        every = np.arange(len(self.catalog))
        both = observed(self.drawn, self.learners[encoder], every)
        asked = strings(f"wild/{place:04d}.png" for place in every)
        shop, here = self.catalog, np.concatenate([every, every])
        wild = replace(
            shop.take(here),
            image=np.concatenate([shop.image, asked]),
            path=np.concatenate([shop.path, asked]),
            role=np.repeat(np.array(["gallery", "query"], object), len(every)),
        )
        test = np.flatnonzero(shop.split == "test")
        one, other = (side.ravel() for side in np.meshgrid(test, test, indexing="ij"))
        one, other = one[one != other], other[one != other]
        label = true_labels(self.drawn, one, other)
        return Ground(
            f"{encoder}, {arm}, {len(shop)}",
            self.catalog,
            both[: len(every)],
            self.labels(arm),
            Labels.of(shop.image[one], shop.image[other], label),
            WildQueries(wild, both[len(every) :], Labels.of(asked[one], shop.image[other], label)),
        )


def pairs(labels: Labels) -> int:
    """Unordered pairs that have a label."""
    return len({frozenset(pair) for pair in zip(labels.query, labels.candidate, strict=True)})


def thinned(labels: Labels, keep: int, seed: int) -> Labels:
    """The labels of so many unordered pairs, drawn at random."""
    named = [tuple(sorted(pair)) for pair in zip(labels.query, labels.candidate, strict=True)]
    listed = sorted(set(named))
    chosen = np.random.Generator(np.random.PCG64(seed)).permutation(len(listed))[:keep]
    kept = {listed[place] for place in chosen}
    rows = np.array([pair in kept for pair in named])
    return Labels(labels.query[rows], labels.candidate[rows], labels.label[rows])


class Kept:
    """A journal in a worker process: what is done already by key, and what is new."""

    def __init__(self, keys: frozenset[str]) -> None:
        self.keys, self.new = keys, list[Entry]()

    def get(self, key: str) -> Entry | None:
        """Something for a trial that is done."""
        return {} if key in self.keys else None

    def add(self, entry: Entry) -> None:
        """One more."""
        self.new.append(entry)


fresh = cache(Fresh.of)


def ground_of(cell: Cell, seed: int, asked: Namespace) -> Ground:
    """The ground of a cell on one catalog."""
    if cell.encoder == OBJECTS:
        return _objects(asked.data)
    return fresh(seed, asked.items).ground(cell.encoder, cell.arm)


_objects = cache(people)


def work(cells: list[Cell], seed: int, asked: Namespace, journal: Journal | Kept) -> None:
    """Run what is missing of some cells of one encoder and arm on one catalog."""
    torch.set_num_threads(1)  # products too small to share
    trials = [trial_of(cell, seed, rate) for cell in cells for rate in RATES]
    run_trials(ground_of(cells[0], seed, asked), trials, journal)  # type: ignore[arg-type]


def elsewhere(cells: list[Cell], seed: int, asked: Namespace, keys: frozenset[str]) -> list[Entry]:
    """The new entries, made in a process of their own."""
    journal = Kept(keys)
    work(cells, seed, asked, journal)
    return journal.new


def run(asked: Namespace, journal: Journal) -> None:
    """Run what is left, stage by stage."""
    for at, cells in enumerate(list(stages(objects=asked.data is not None))[: asked.stages], 1):
        started = time.monotonic()
        first, count = (0, asked.splits) if cells[0].encoder == OBJECTS else (asked.first, asked.catalogs)
        seeds = range(first, first + count)
        if asked.workers == 1:
            for seed in seeds:
                work(cells, seed, asked, journal)
        else:
            keys = frozenset(entry["key"] for entry in journal)
            with ProcessPoolExecutor(asked.workers, get_context("spawn")) as pool:
                same = ([one] * count for one in (asked, keys))
                for entries in pool.map(elsewhere, [cells] * count, seeds, *same):
                    for entry in entries:
                        journal.add(entry)
        told = f"{', '.join(cells[0][:3])}: {len(cells)} cells, {count} catalogs or splits"
        print(f"Stage {at}: {told}, {time.monotonic() - started:.0f} s", flush=True)


def by_place(journal: Iterable[Entry], items: int) -> dict[tuple[Cell, int], dict[float, Entry]]:
    """Entries by cell and catalog, then by rate."""
    found: dict[tuple[Cell, int], dict[float, Entry]] = {}
    heads = {width: name for name, width in HEADS.items()}
    for entry in journal:
        encoder, arm, size = (
            entry["ground"].split(", ") if "," in entry["ground"] else (OBJECTS, "all", items)
        )
        if int(size) != items:
            continue
        settings = TrainingSettings(**entry["settings"])
        kind = next(name for name, told in KINDS.items() if settings == settings.changed(**ALIKE | told))
        cell = Cell(encoder, heads[entry["projection"]], arm, settings.loss, kind)
        found.setdefault((cell, entry["split"]), {})[settings.rate] = entry
    return found


def main(arguments: list[str]) -> None:
    """Run what is left of the trials and tell."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument(
        "--journal", type=Path, required=True, help="finished trials; a stopped study goes on"
    )
    parser.add_argument("--out", type=Path, help="a folder for the tables")
    parser.add_argument("--data", type=Path, help="the data pack, for the 92 objects")
    parser.add_argument("--first", type=int, default=FIRST, help="seed of the first catalog")
    parser.add_argument("--catalogs", type=int, default=CATALOGS)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--splits", type=int, default=SPLITS, help="of the 92 objects")
    parser.add_argument("--stages", type=int, help="how many of the stages; all by default")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--tell", action="store_true", help="only tell what is finished")
    asked = parser.parse_args(arguments)
    journal = Journal(asked.journal)
    if not asked.tell:
        run(asked, journal)
    tell(by_place(journal, asked.items), PRIMARY, len(RATES), asked.out)


if __name__ == "__main__":
    main(sys.argv[1:])
