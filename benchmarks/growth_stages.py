"""The stages that `growth.py` measures: commands on studio photos, and functions on vectors alone.

`made(stage, folder, size)` prepares a stage at a size and returns its work and the file or folder that grows.
Sizes of images are parts of one random order of the studio's items, so a smaller catalog is a part of a larger one.
"""

import contextlib
import csv
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from duplicates import world as signatures_of
from scale import world
from search import BATCH, catalog_of, features

from lookalike.catalog.duplicates.groups import find_duplicates
from lookalike.catalog.split import assign_splits
from lookalike.cli.app import run
from lookalike.core.checks import strings
from lookalike.core.types import Catalog, Embeddings, Labels
from lookalike.positive.graph import label_graph
from lookalike.rank.distinct import top_lists
from lookalike.rank.engine.machine import Machine
from lookalike.rank.engine.vectors import unit_rows
from lookalike.rank.judged import judged_ranks
from lookalike.search.approximate import Approximate
from lookalike.search.distinct import Distinct
from lookalike.search.exact import Exact
from lookalike.search.index import Indexed
from lookalike.store.settings import WorkspaceSettings
from lookalike.store.vectors.indexes import image_keys
from lookalike.store.workspace import Workspace
from lookalike.studio import Studio, studio, true_labels
from lookalike.workflows.start.studio import write_studio

SIDE, DIMENSION, QUERIES, TOP, SEARCHES, EXPANSION = 64, 128, 1_000, 5, 10_000, 64
CHUNK, LABELS_PER_IMAGE = 500_000, 4
STREAMED = Machine(held=0, device="numpy")  # vectors stay on disk at all sizes, as those of large catalogs do
SMALL = 200  # images or vectors of the work that is done once before measuring


class Work(NamedTuple):
    """What is measured, and the file or folder that it writes."""

    work: Callable[[], object]
    written: Path


def made(stage: str, folder: Path, size: int, copy: str = "") -> Work:
    """A stage that is ready to run. A command on a `copy` leaves the workspace as it is."""
    if stage in VECTORS:
        return VECTORS[stage](folder, size)
    shop = folder / f"images-{size}{copy}"
    if stage == "labels import":
        answer(studio_of(folder), shop)
    return Work(partial(command, IMAGES[stage](folder, shop, min(QUERIES, size))), shop / "workspace")


def command(arguments: list[str]) -> None:
    """Run a command of Lookalike in this process, silently."""
    with contextlib.redirect_stdout(io.StringIO()):
        status = run(arguments)
    if status:
        raise SystemExit(f"lookalike {' '.join(arguments)} failed.")


def on(shop: Path, *words: str) -> list[str]:
    """A command on the workspace of a catalog."""
    return [*words, "--workspace", str(shop / "workspace")]


IMAGES: dict[str, Callable[[Path, Path, int], list[str]]] = {
    "init": lambda folder, shop, queries: on(
        shop, "init", str(shop / "table.csv"), "--images", str(folder / "photos"), "--overwrite"
    ),
    "embed": lambda folder, shop, queries: on(shop, "embed", "descriptor:color", "--replace"),
    "discover": lambda folder, shop, queries: on(
        shop, "discover", "--queries", str(queries), "--top", str(TOP),
        "--pairs", str(shop / "pairs.csv"), "--overwrite", "--force",
    ),
    "labels import": lambda folder, shop, queries: on(shop, "labels", "import", str(shop / "labels.csv"), "--replace"),
    "evaluate": lambda folder, shop, queries: on(shop, "evaluate"),
    "report": lambda folder, shop, queries: on(shop, "report", "--force"),
    "status": lambda folder, shop, queries: on(shop, "status"),
    "index": lambda folder, shop, queries: on(shop, "index", "color"),
}  # fmt: skip


def draw(folder: Path, images: int) -> None:
    """The photos of the largest catalog; those that exist are not drawn again."""
    write_studio(folder / "photos", studio(images), size=SIDE)
    (folder / "photos.txt").write_text(str(images))


def studio_of(folder: Path) -> Studio:
    """The studio whose photos are drawn."""
    return studio(int((folder / "photos.txt").read_text()))


def write_table(folder: Path, size: int) -> None:
    """The table of a catalog: photos of the first items of one random order."""
    drawn, shop = studio_of(folder), folder / f"images-{size}"
    shop.mkdir(exist_ok=True)
    order, per = np.random.default_rng(0).permutation(drawn.items), drawn.photos_per_item
    with (shop / "table.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("image", "path", "item", "category"))
        for item in order[: -(-size // per)].tolist():
            name = drawn.item_name(item)
            for row in range(item * per, min(item * per + per, len(drawn))):
                image = drawn.image_name(row)
                table.writerow((image, image, name, name.partition("/")[0]))


def answer(drawn: Studio, shop: Path) -> None:
    """Label the pairs of the pool as the studio's ground truth says."""
    with (shop / "pairs.csv").open(newline="") as file:
        pairs = [(row["query"], row["candidate"]) for row in csv.DictReader(file)]
    one, other = (np.array([item_of(pair[side]) for pair in pairs]) for side in (0, 1))
    with (shop / "labels.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("query", "candidate", "label"))
        table.writerows(
            (*pair, label) for pair, label in zip(pairs, true_labels(drawn, one, other).tolist(), strict=True)
        )


def item_of(image: str) -> int:
    """The number of the item of a studio photo.

    >>> item_of("chair/chair-000123/2.png")
    123
    """
    return int(image.split("/")[1].rpartition("-")[2])


def write_vectors(folder: Path, vectors: int) -> None:
    """Clustered vectors, as many as the largest size, in one file."""
    file = folder / "vectors.npy"
    if file.exists() and len(np.load(file, mmap_mode="r")) >= vectors:
        return
    unfinished = file.with_suffix(".unfinished")
    with unfinished.open("wb") as out:
        header = {"descr": "<f4", "fortran_order": False, "shape": (vectors, DIMENSION)}
        np.lib.format.write_array_header_1_0(out, header)
        for first in range(0, vectors, CHUNK):
            features(min(CHUNK, vectors - first), 1 + first, DIMENSION).tofile(out)
    unfinished.replace(file)


def ranks(folder: Path, size: int) -> Work:
    """Judged ranks of labelled pairs: 25 labels for each query, items of seven photos."""
    catalog, embeddings, labels = world(folder / "vectors.npy", size, min(QUERIES, size))
    return Work(lambda: judged_ranks(catalog, embeddings, labels, machine=STREAMED), folder / "none")


def lists(folder: Path, size: int) -> Work:
    """Lists of the most similar distinct items."""
    catalog, embeddings, _ = world(folder / "vectors.npy", size, 10)
    rows = np.sort(np.random.default_rng(1).choice(size, min(QUERIES, size), replace=False))
    return Work(lambda: top_lists(catalog, embeddings, rows, TOP, machine=STREAMED), folder / "none")


def graph_file(folder: Path, size: int) -> Path:
    """The file of an index."""
    return folder / f"index-{size}.usearch"


def index(folder: Path, size: int) -> Work:
    """A graph of neighbours by USearch, and its file."""
    catalog, file = catalog_of(size), graph_file(folder, size)
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")[:size]

    def work() -> None:
        graph = Approximate.empty(DIMENSION)
        graph.add(image_keys(catalog), unit_rows(vectors, DIMENSION))
        graph.save(file)

    file.unlink(missing_ok=True)
    return Work(work, file)


def search(folder: Path, size: int) -> Work:
    """Lists of ten distinct items by the index, a batch at a time."""
    if not graph_file(folder, size).exists():
        index(folder, size).work()
    catalog = catalog_of(size)
    vectors = np.load(folder / "vectors.npy", mmap_mode="r")[:size]
    keys, exact = image_keys(catalog), Exact.of(catalog, Embeddings("e", catalog.image, vectors))
    graph = Approximate.load(graph_file(folder, size), DIMENSION, EXPANSION)
    engine, distinct = Indexed.of(graph, keys, keys, exact), Distinct(exact)
    asked = np.sort(np.random.default_rng(2).choice(size, SEARCHES))

    def work() -> None:
        for first in range(0, SEARCHES, BATCH):
            rows = asked[first : first + BATCH]
            distinct.lists(engine, vectors[rows], rows, 10)

    return Work(work, folder / "none")


def near_duplicates(folder: Path, size: int) -> Work:
    """The search for near duplicates among signatures that exist."""
    signatures, _ = signatures_of(size)
    digest = strings(range(size))
    return Work(lambda: find_duplicates(digest, signatures), folder / "none")


def splits(folder: Path, size: int) -> Work:
    """The draw of train, validation and test."""
    item = bare_catalog(size).item
    return Work(lambda: assign_splits(item, seed=0), folder / "none")


def graph_of_labels(folder: Path, size: int) -> Work:
    """The graph of labels: four labels for each image, three of four similar."""
    catalog, random = bare_catalog(size), np.random.default_rng(0)
    one, other = random.integers(0, size, (2, LABELS_PER_IMAGE * size))
    labels = Labels(
        catalog.image[one], catalog.image[other], (random.random(len(one)) < 0.75).astype(np.int8)
    )
    return Work(lambda: label_graph(catalog, labels, split=None), folder / "none")


def catalog_written(folder: Path, size: int) -> Work:
    """A new workspace with a catalog, without photos and vectors."""
    catalog, place = bare_catalog(size), folder / f"catalog-{size}"
    settings = WorkspaceSettings(source="photos", photos="")
    return Work(lambda: Workspace.create(place, catalog, settings, replace=True), place)


def catalog_read(folder: Path, size: int) -> Work:
    """The catalog as commands read it, with its rows by name."""
    place = folder / f"catalog-{size}"
    if not place.exists():
        catalog_written(folder, size).work()
    return Work(lambda: Workspace(place).catalog.row, folder / "none")


def bare_catalog(size: int) -> Catalog:
    """Names of items and photos as in a folder, two photos for each item."""
    image = strings(f"c{row // 2 % 20}/item{row // 2:08d}/{row % 2}.jpg" for row in range(size))
    item = strings(f"item{row // 2:08d}" for row in range(size))
    blank, zero = np.full(size, "", object), np.full(size, 640)
    return Catalog(
        image, image, item, strings(f"c{row // 2 % 20}" for row in range(size)), np.full(size, "both", object),
        np.full(size, "train", object), np.arange(size), blank, zero, zero,
    )  # fmt: skip


VECTORS: dict[str, Callable[[Path, int], Work]] = {
    "ranks": ranks,
    "top lists": lists,
    "search index": index,
    "searches": search,
    "near duplicates": near_duplicates,
    "splits": splits,
    "label graph": graph_of_labels,
    "catalog written": catalog_written,
    "catalog read": catalog_read,
}
