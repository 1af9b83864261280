"""Does adaptation help where the sides of a pair share their look and not their kind, and does sigma 15 beat sigma 1?

    python studies/adaptation.py --journal adaptation.jsonl --weights FOLDER --out FOLDER

Each catalog is drawn anew: 1,000 studio items of as many style families are the left images. The right image of each
is a piece of another kind, with its own outline and proportions, in the same material, colours and ornament. Encoders
are several layers of three small networks in one vector. One split of each catalog (75:25) is one repeat of ADAPT, so
the repeats are independent, unlike splits of one set of pairs. A catalog and network that is done is not run again.
"""

import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
from soft_positives_tables import mean_of, shown
from study import write

import lookalike
from lookalike.research.adaptation.figure import recall_curves
from lookalike.research.adaptation.protocol import AdaptationProtocol
from lookalike.research.adaptation.repeats import PairedVectors, one_repeat
from lookalike.research.adaptation.tables import adaptation_table, curves_of
from lookalike.store.journal import Entry, Journal
from lookalike.studio.attributes import Attributes
from lookalike.studio.items import studio
from lookalike.studio.rendering.scene import photograph

FIRST, CATALOGS, PAIRS, SIZE = 5_000, 20, 1_000, 96
IMAGES_OF_A_PAIR = 28  # of the studio that families of a pair are taken from; a family has 10 to 16 items
TENSORFLOW = "pad_type=same&mean=0.5&std=0.5&crop_mode=border&interpolation=bilinear"
NETWORKS = {
    "mobilenetv1": f"timm:mobilenetv1_100?weights={{}}/mobilenetv1_100.safetensors&{TENSORFLOW}"
    "&layers=blocks.1,blocks.2,blocks.3,blocks.4",
    "mobilenetv2": f"timm:mobilenetv2_100?weights={{}}/mobilenetv2_100.safetensors&{TENSORFLOW}"
    "&layers=blocks.1,blocks.2,blocks.4,blocks.6",
    "squeezenet": "torchvision:squeezenet1_0?weights={}/squeezenet1_0.safetensors&size=227&crop_mode=border"
    "&mean=123/255,117/255,104/255&std=1/255&layers=features.4,features.7,features.10,features.12",
}


def main(arguments: list[str]) -> None:
    """Run what is left and print the tables."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True, help="the folder of the networks' weights")
    parser.add_argument("--out", type=Path, help="a folder for the table and the figure")
    parser.add_argument("--catalogs", type=int, default=CATALOGS)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--resamples", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=AdaptationProtocol().epochs)
    parser.add_argument("--tell", action="store_true", help="print the results so far; run nothing")
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)  # products too small to share
    protocol = AdaptationProtocol(resamples=asked.resamples, epochs=asked.epochs)
    journal = Journal(asked.journal, repair=not asked.tell)
    found: dict[str, list[Entry]] = {name: [] for name in NETWORKS}
    for seed in range(FIRST, FIRST + asked.catalogs):
        keys = {name: f"{seed} {asked.pairs} {asked.epochs} {asked.resamples} {name}" for name in NETWORKS}
        missing = [name for name in NETWORKS if journal.get(keys[name]) is None]
        if missing and not asked.tell:
            started = time.monotonic()
            for vectors in embedded(seed, asked.pairs, missing, asked.weights):
                journal.add({"key": keys[vectors.encoder], **one_repeat(vectors, seed, protocol)})
            print(f"catalog {seed}: {time.monotonic() - started:.0f} s", flush=True)
        entries = {name: journal.get(key) for name, key in keys.items()}
        if all(entries.values()):
            for name, entry in entries.items():
                found[name].append(entry)
    if not all(found.values()):
        print("No catalog is done.")
        return
    text = told(found, asked.pairs)
    print(text)
    write(asked, "adaptation.md", text + "\n")
    title = f"Pairs of one look and two kinds: {len(found['squeezenet'])} catalogs of {asked.pairs:,} pairs"
    write(asked, "adaptation.svg", recall_curves(found, title))


def embedded(seed: int, pairs: int, names: Sequence[str], weights: Path) -> Iterator[PairedVectors]:
    """The vectors of a new catalog by each network."""
    with tempfile.TemporaryDirectory(prefix="lookalike-study-") as folder:
        draw(seed, pairs, Path(folder))
        catalog = lookalike.read_catalog(Path(folder))
        left = np.flatnonzero([path.startswith("left") for path in catalog.path])
        right = np.flatnonzero([path.startswith("right") for path in catalog.path])
        for name in names:
            made = lookalike.embed(catalog, NETWORKS[name].format(weights), photos=folder).vectors
            yield PairedVectors(name, *(np.asarray(made[rows], np.float32) for rows in (left, right)))


def draw(seed: int, pairs: int, folder: Path) -> None:
    """Photos of left and right items, which share material, texture, colours, ornament and carving."""
    of = studio(max(200, IMAGES_OF_A_PAIR * pairs), seed=seed).of
    random = np.random.default_rng(seed)
    _, first = np.unique(of.family, return_index=True)
    chosen = random.permutation(first)[:pairs]
    if len(chosen) < pairs:
        raise ValueError(f"{len(chosen)} families are too few for {pairs} pairs.")
    for side in ("left", "right"):
        (folder / side).mkdir()
    for at, item in enumerate(chosen.tolist()):
        other = int(random.choice(np.flatnonzero(of.kind != of.kind[item])))
        left, shape = (Attributes(*(column[one] for column in of)) for one in (item, other))
        right = left._replace(kind=shape.kind, silhouette=shape.silhouette, proportion=shape.proportion)
        for number, (side, attributes) in enumerate((("left", left), ("right", right))):
            photo = photograph(attributes, seed, 2 * at + number, 0, SIZE)
            Image.fromarray(photo).save(folder / side / f"{at:04d}.png")


def told(found: dict[str, list[Entry]], pairs: int) -> str:
    """The table, and differences over the catalogs with their 95% intervals."""
    table = adaptation_table(found)
    lines = [f"| network | {' | '.join(table.columns)} |", "|---" * (len(table.columns) + 1) + "|"]
    for row in table.rows:
        cells = (
            "" if one is None else one.printed(places)
            for one, places in zip(row.figures, table.decimals, strict=True)
        )
        lines.append(f"| {row.names[0]} | {' | '.join(cells)} |")
    rows = [
        "",
        "| network | sigma 15 - sigma 1 | sigma 15 - concatenated | sigma 1 - concatenated | epochs, sigma 15 |",
    ]
    rows.append("|---" * 5 + "|")
    for name, entries in found.items():
        before, one, fifteen = (
            curves_of(entries, *which)[:, 0]
            for which in (("concatenated",), ("chosen", 1.0), ("chosen", 15.0))
        )
        gains = [shown(mean_of(gain)) for gain in (fifteen - one, fifteen - before, one - before)]
        epochs = [entry["adapted"]["15"]["epochs"] for entry in entries]
        rows.append(f"| {name} | {' | '.join(gains)} | {min(epochs)} to {max(epochs)} |")
    test = next(iter(found.values()))[0]["pairs"][1]
    chance = 1 - (1 - 1 / test) ** 2
    catalogs = len(next(iter(found.values())))
    head = f"{catalogs} catalogs of {pairs:,} pairs, {test:,} of them tested; chance: {chance:.4f}."
    return "\n".join([head, "", *lines, *rows])


if __name__ == "__main__":
    main(sys.argv[1:])
