"""Does a region pay: queries photographed in rooms, with a box or an exact mask, cropped or pooled?

    python studies/regions.py --journal regions.jsonl --weights FOLDER --out FOLDER

Each studio catalog is drawn anew: one shop photo of each item is a candidate, another photo on a plain backdrop and one
in a room are queries. Boxes and masks are the renderer's. Scored is the true HR@5 over all queries with a similar item.
Every encoder sees the whole photo on a border, so the ways differ only in the region. A catalog that is done is not
run again.
"""

import csv
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from itertools import count
from pathlib import Path

import numpy as np
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
from adaptation import NETWORKS
from soft_positives_tables import mean_of
from study import write

import lookalike
from lookalike.catalog.photos.masks import with_mask
from lookalike.core.checks import strings
from lookalike.core.types import Catalog, Embeddings, Labels
from lookalike.store.journal import Entry, Journal
from lookalike.studio import Studio, positives, studio
from lookalike.studio.attributes import Attributes
from lookalike.studio.rendering import scene, scenery
from lookalike.studio.seeded import RandomStream

FIRST, CATALOGS, ITEMS, SIZE = 9_000, 6, 400, 128
SHOP, PLAIN, ROOM = "shop", "plain", "room"
VIEWS = ("whole", "box, crop", "box, pool", "mask, pool")
SIDES = ("whole", "same")  # how the candidates are seen: without regions, or as the queries are
COLUMNS = (
    "encoder",
    "queries",
    "region",
    "candidates",
    "catalogs",
    "HR@5",
    "low",
    "high",
    "gain",
    "gain_low",
    "gain_high",
)


def main(arguments: list[str]) -> None:
    """Run what is left and tell."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--weights", type=Path, required=True, help="the folder of the network's weights")
    parser.add_argument("--out", type=Path, help="a folder for the table")
    parser.add_argument("--catalogs", type=int, default=CATALOGS)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--tell", action="store_true", help="tell of what is done; run nothing")
    asked = parser.parse_args(arguments)
    torch.set_num_threads(1)  # products too small to share
    network = NETWORKS["mobilenetv2"].format(asked.weights) + f"&size={SIZE}"
    specs = {"mobilenetv2": network, "color": "descriptor:color"}
    journal = Journal(asked.journal, repair=not asked.tell)
    for seed in () if asked.tell else range(FIRST, FIRST + asked.catalogs):
        key = f"{seed} {asked.items}"
        if journal.get(key) is None:
            journal.add({"key": key, "items": asked.items, **measured(seed, asked.items, specs)})
            print(f"{key}: {journal.get(key)}", flush=True)
    entries = [entry for entry in journal if entry["items"] == asked.items]
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [COLUMNS, *(row for name in specs for row in told(entries, name))]
    )
    print(text.getvalue())
    print("\n".join(compared(entries, name) for name in specs))
    write(asked, "regions.csv", text.getvalue())


def measured(seed: int, items: int, specs: dict[str, str]) -> Entry:
    """HR@5 of every encoder, kind of query, region and side of the candidates on one catalog."""
    drawn = studio(max(200, items), photos_per_item=1, seed=seed)
    found: Entry = {}
    with tempfile.TemporaryDirectory(prefix="lookalike-study-") as folder:
        catalog, boxes, masks = photographed(drawn, items, seed, Path(folder))
        kinds = {kind: np.flatnonzero(catalog.columns["kind"] == kind) for kind in (SHOP, PLAIN, ROOM)}
        truth = {kind: positive_pairs(drawn, catalog, kinds[kind]) for kind in (PLAIN, ROOM)}
        for name, spec in specs.items():
            pool = f"{spec}{'&' if '?' in spec else '?'}region=pool"
            views = dict(zip(VIEWS, ((spec, None), (spec, boxes), (pool, boxes), (pool, masks)), strict=True))
            seen = {}
            for view, (encoder, region) in views.items():
                part = catalog if region is None else replace(catalog, box=region)
                vectors = lookalike.embed(part, encoder, photos=folder).vectors
                seen[view] = np.asarray(vectors, np.float64)
                seen[view] /= np.linalg.norm(seen[view], axis=1, keepdims=True)
            for kind, labels in truth.items():
                for view in VIEWS:
                    for side in SIDES[: 1 if view == VIEWS[0] else 2]:
                        mixed = seen[view].copy()
                        mixed[kinds[SHOP]] = seen[VIEWS[0] if side == SIDES[0] else view][kinds[SHOP]]
                        made = Embeddings("it", catalog.image, mixed.astype(np.float32))
                        (score,) = lookalike.score(catalog, [made], labels, "HR@5")
                        found[f"{name}; {kind}; {view}; {side}"] = score["HR@5"].value
    return found


def photographed(
    drawn: Studio, items: int, seed: int, folder: Path
) -> tuple[Catalog, np.ndarray, np.ndarray]:
    """Three photos of each item with their masks, as a catalog without regions, and its boxes and masks as text."""
    rows, boxes, masks = list[dict[str, str]](), list[str](), list[str]()
    for item in range(items):
        attributes = Attributes(*(column[item] for column in drawn.of))
        for kind, photo in (
            (SHOP, 0),
            (PLAIN, next_photo(seed, item, False)),
            (ROOM, next_photo(seed, item, True)),
        ):
            name = f"{item:05d}-{kind}.png"
            Image.fromarray(scene.photograph(attributes, seed, item, photo, SIZE)).save(folder / name)
            mask = Image.fromarray(scene.mask(attributes, seed, item, photo, SIZE))
            mask.save(folder / f"mask-{name}")
            boxes.append(",".join(map(str, mask.getbbox())))
            masks.append(with_mask("", "", f"mask-{name}"))
            role = "gallery" if kind == SHOP else "query"
            rows.append({"image": name, "item": drawn.item_name(item), "role": role, "kind": kind})
    with (folder / "catalog.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    return lookalike.read_catalog(folder / "catalog.csv"), strings(boxes), strings(masks)


def next_photo(seed: int, item: int, in_room: bool) -> int:
    """The item's first photo after the shop's that is taken in a room, or on a plain backdrop."""
    return next(
        photo
        for photo in count(1)
        if scenery.staged(photo, RandomStream(seed, item, photo, "stage")) == in_room
    )


def positive_pairs(drawn: Studio, catalog: Catalog, queries: np.ndarray) -> Labels:
    """The true similar items of some images, each by its candidate photo."""
    shop = {
        str(catalog.item[row]): str(catalog.image[row]) for row in np.flatnonzero(catalog.role == "gallery")
    }
    order = {name: item for item, name in enumerate(map(drawn.item_name, range(drawn.items)))}
    pairs = [
        (str(catalog.image[row]), shop[name])
        for row in queries.tolist()
        for other in positives(drawn, order[str(catalog.item[row])]).tolist()
        if (name := drawn.item_name(other)) in shop
    ]
    query, candidate = (strings(side) for side in zip(*pairs, strict=True))
    return Labels.of(query, candidate, np.ones(len(pairs), np.int8))


def told(entries: list[Entry], encoder: str) -> Iterator[list[object]]:
    """The rows of an encoder: the mean over catalogs, and the gain over queries in rooms that are seen whole."""
    names = [name for name in (entries[0] if entries else ()) if name.startswith(f"{encoder};")]
    base = np.array([entry[f"{encoder}; {ROOM}; {VIEWS[0]}; {SIDES[0]}"] for entry in entries])
    for name in names:
        values = np.array([entry[name] for entry in entries])
        mean, gain = mean_of(values), mean_of(values - base)
        figures = (mean.value, mean.low, mean.high, gain.value, gain.low, gain.high)
        yield [*name.split("; "), len(entries), *(f"{one:.4f}" for one in figures)]


def compared(entries: list[Entry], encoder: str) -> str:
    """For room queries with regions on both sides: pooled boxes and masks minus cropped boxes."""
    base, *others = (
        np.array([entry[f"{encoder}; {ROOM}; {view}; {SIDES[1]}"] for entry in entries]) for view in VIEWS[1:]
    )
    gains = (mean_of(values - base) for values in others)
    told = zip(VIEWS[2:], gains, strict=True)
    return "\n".join(
        f"{encoder}, {view} - {VIEWS[1]}: {one.value:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
        for view, one in told
    )


if __name__ == "__main__":
    main(sys.argv[1:])
