"""Does training a whole network help, and by which method: labels, soft positives, photos alone, or classes?

    python studies/networks.py --journal networks.jsonl --weights FOLDER --folder FOLDER --out FOLDER

On a GPU, at the size of VSD-Furniture:

    python studies/networks.py ... --device cuda --images 10458 --queries 3494 --size 128 --batch 256 --epochs 30 \
        --networks mobilenetv2 mobilenetv1 squeezenet --methods Pre SupCon SupCon_SPA SupCon_NSPA Con Con_SPA Con_NSPA \
        TRPL TRPL_SPA TRPL_NSPA SimCLR

Each studio catalog has two photos of each item. The networks, colours and edges fill a pool within the splits, and two
simulated experts label it. Every method trains the whole network with the same settings; labels of the validation
split choose the epoch, except for classes, which keep the last (EDS trains them before there are labels). The scores
are those of the test split: on the complete truth for the shop's photos and for photos of another style (wild), and on
the labels of the pool. Finished methods are not repeated.
"""

import csv
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import numpy as np
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
from adaptation import NETWORKS
from soft_positives_tables import mean_of
from study import write

import lookalike
from lookalike.catalog.read import catalog_from
from lookalike.core.types import Catalog, Embeddings, Labels, Rule
from lookalike.research.learning.cells import Cell, train_cell
from lookalike.research.learning.methods import PRETRAINED, method
from lookalike.store.journal import Entry, Journal
from lookalike.store.workspace import Workspace
from lookalike.studio import Studio, studio
from lookalike.studio.wild import wild_photo
from lookalike.workflows.demo.truth import simulated_labels, true_pairs
from lookalike.workflows.label.discover import discover
from lookalike.workflows.start.embed import embed
from lookalike.workflows.start.init import init
from lookalike.workflows.start.studio import write_studio

FIRST, CATALOGS, IMAGES, SIZE = 11_000, 3, 500, 96
DESCRIPTORS = ("descriptor:color", "descriptor:hog")
METHODS = (
    *(PRETRAINED, "SupCon", "SupCon_SPA", "Con", "Con_SPA", "TRPL", "TRPL_SPA"),
    *("SimCLR", "DINO", "ID", "CAT", "ID+C"),
)
TRUTH, WILD, LABELS = "truth", "wild", "labels"
MEASURES = {
    TRUTH: ("HR@5", "AUC_mac", "DCS(alpha=10)"),
    WILD: ("HR@5", "AUC_mac", "DCS(alpha=10)"),
    LABELS: ("EHR@5", "AUC_mac", "DCS(alpha=10)"),
}
COLUMNS = (
    "network",
    "method",
    "scored on",
    "measure",
    "catalogs",
    "value",
    "gain",
    "low",
    "high",
    "p",
    "won",
)


def main(arguments: list[str]) -> None:
    """Run what is left and print the table."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="where the workspaces are kept")
    parser.add_argument("--weights", type=Path, required=True, help="the folder of the network's weights")
    parser.add_argument("--out", type=Path, help="a folder for the table")
    parser.add_argument("--catalogs", type=int, default=CATALOGS)
    parser.add_argument("--images", type=int, default=IMAGES)
    parser.add_argument("--size", type=int, default=SIZE, help="pixels a side")
    parser.add_argument("--queries", type=int, help="of the pool (all images)")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--networks", nargs="+", choices=tuple(NETWORKS), default=["mobilenetv2"])
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--tell", action="store_true", help="print the results so far; run nothing")
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)  # products too small to share
    journal = Journal(asked.journal, repair=not asked.tell)
    for seed in () if asked.tell else range(FIRST, FIRST + asked.catalogs):
        run(seed, asked, journal)
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows_of(list(journal))])
    print(text.getvalue())
    write(asked, "networks.csv", text.getvalue())


def run(seed: int, asked: Namespace, journal: Journal) -> None:
    """The methods that are left on one catalog."""
    common = f"{asked.images} {asked.size} {asked.epochs} {asked.batch}"
    every = {f"{seed} {name} {net} {common}": (name, net) for net in asked.networks for name in asked.methods}
    left = {key: place for key, place in every.items() if journal.get(key) is None}
    if not left:
        return
    drawn, folder = studio(asked.images, photos_per_item=2, seed=seed), asked.folder / str(seed)
    workspace = opened(folder, drawn, seed, asked)
    tested = Tested(workspace, drawn, asked.size)
    settings = {"part": "network", "epochs": asked.epochs, "batch": asked.batch}
    for key, (name, network) in left.items():
        started = time.process_time()
        cell = Cell(network, method(name), settings)
        found = train_cell(workspace, cell, device=asked.device)
        entry: Entry = {"key": key, "network": network, "method": name, "remark": found.remark}
        if found.outcome is not None:
            entry |= {"best": found.outcome.best, "epochs": found.outcome.epochs}
        if not found.reason:
            entry["values"] = tested.values(cell.name)
        journal.add(entry | {"seconds": round(time.process_time() - started)})
        print(journal.get(key), flush=True)
    workspace.database.close()


def opened(folder: Path, drawn: Studio, seed: int, asked: Namespace) -> Workspace:
    """The labelled workspace of a catalog."""
    if (folder / "lookalike.toml").exists():
        workspace = Workspace(folder)
        if workspace.label_count():
            return workspace
        workspace.database.close()
    write_studio(folder / "photos", drawn, size=asked.size)
    workspace, _ = init(folder / "photos", folder, seed=seed, generated=True, replace=True)
    for name in asked.networks:
        spec = NETWORKS[name].partition("&layers=")[0].format(asked.weights.absolute())
        embed(workspace, f"{spec.replace('&size=227', '')}&size={asked.size}", name=name)
    for spec in DESCRIPTORS:
        embed(workspace, spec)
    questions = discover(workspace, top=5, queries=asked.queries, splits="within").questions
    labels, _ = simulated_labels(drawn, workspace.catalog, questions, seed)
    workspace.add_labels(labels, "simulated experts")
    return workspace


class Tested:
    """The test split with a photo of another style of each item: the scores of any encoder of the workspace."""

    def __init__(self, workspace: Workspace, drawn: Studio, size: int) -> None:
        self.workspace, self.labels = workspace, workspace.labels()
        inside = workspace.catalog.take(np.flatnonzero(workspace.catalog.split == "test"))
        names, first = np.unique(inside.item, return_index=True)
        place = {drawn.image_name(row): row for row in range(len(drawn))}
        random, folder = np.random.default_rng(drawn.seed), workspace.folder / "photos"
        (folder / WILD).mkdir(exist_ok=True)
        wild = [f"{WILD}/{number}.png" for number in range(len(names))]
        for path, row in zip(wild, first.tolist(), strict=True):
            photo = drawn.draw(place[inside.path[row]], size)
            Image.fromarray(wild_photo(photo, random)).save(folder / path)
        columns = {
            "image": [*inside.image, *wild],
            "path": [*inside.path, *wild],
            "item": [*inside.item, *names],
            "role": ["both"] * len(inside) + ["query"] * len(wild),
        }
        self.catalog, self.photos = catalog_from(columns, images=folder).catalog, folder
        is_wild = self.catalog.role == "query"
        self.truth = true_pairs(drawn, self.catalog, np.flatnonzero(~is_wild))
        self.wild = true_pairs(drawn, self.catalog, np.flatnonzero(is_wild))

    def values(self, encoder: str) -> dict[str, dict[str, float]]:
        """All scores of an encoder."""
        spec = self.workspace.manifest(encoder).spec
        if spec.startswith("checkpoint:"):
            spec = f"checkpoint:{self.workspace.folder.absolute()}/models/{encoder}"
        here = self.workspace.embeddings(encoder)
        made = lookalike.embed(self.catalog, spec, photos=self.photos)
        found = {on: _scores(self.catalog, made, known, MEASURES[on]) for on, known in self.known.items()}
        rule = Rule(split="test")
        return found | {LABELS: _scores(self.workspace.catalog, here, self.labels, MEASURES[LABELS], rule)}

    @property
    def known(self) -> dict[str, Labels]:
        """The complete truth of both kinds of queries."""
        return {TRUTH: self.truth, WILD: self.wild}


def _scores(
    catalog: Catalog, made: Embeddings, labels: Labels, measures: Sequence[str], rule: Rule | None = None
) -> dict[str, float]:
    (found,) = lookalike.score(catalog, [made], labels, measures, rule=rule or Rule())
    return {name: found[name].value for name in measures}


def rows_of(entries: Sequence[Entry]) -> list[list[object]]:
    """Each method, what it is scored on and each measure: the mean over catalogs, and the gain over the network."""
    by_place = {
        (one["key"].split()[0], one["network"], one["method"]): one["values"]
        for one in entries
        if "values" in one
    }
    found = list[list[object]]()
    for network, name in dict.fromkeys((one["network"], one["method"]) for one in entries):
        seeds = [
            seed
            for seed, *place in by_place
            if place == [network, name] and (seed, network, PRETRAINED) in by_place
        ]
        for on, measures in MEASURES.items() if seeds else ():
            for measure in measures:
                after, before = (
                    np.array([by_place[seed, network, way][on][measure] for seed in seeds])
                    for way in (name, PRETRAINED)
                )
                row: list[object] = [network, name, on, measure, len(seeds), f"{after.mean():.4f}"]
                if name != PRETRAINED and len(seeds) > 1:
                    gain = mean_of(after - before)
                    numbers = (gain.value, gain.low, gain.high, gain.p)
                    row += [*(f"{one:.4f}" for one in numbers), int((after > before).sum())]
                found.append([*row, *[""] * (len(COLUMNS) - len(row))])
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
