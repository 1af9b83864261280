"""How a few drawn labels do where every answer is known: coverage, errors, and whole queries compared with pairs.

    python studies/sampling.py --journal sampling.jsonl [--data DATA] [--out FOLDER]

Six studios seen by eleven simulated encoders and, with the data pack, the 92 objects seen by four networks and nine
descriptors. DATA is as in `examples/human_judgments.py`. A stopped study goes on from its journal.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from complete_judgments import DESCRIPTORS
from human_judgments import NETWORKS, complete_labels

import lookalike
from lookalike.core.types import Rule
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import judged_pairs
from lookalike.research.bias.pools import TRUTH, GroundTruth
from lookalike.research.sampling.catalogs import JudgedPlaces, K, judged_places, studio_places
from lookalike.research.sampling.cells import run_cells
from lookalike.research.sampling.tables import as_csv, as_text
from lookalike.store.disk import write_file
from lookalike.store.journal import Journal


def main(arguments: list[str]) -> None:
    """Run what is left and print the tables."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument(
        "--journal", type=Path, required=True, help="finished values; a stopped study goes on"
    )
    parser.add_argument("--data", type=Path, help="the data pack, for the 92 objects")
    parser.add_argument("--out", type=Path, help="a folder for the table (CSV)")
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--studios", type=int, default=6)
    parser.add_argument("--first", type=int, default=0, help="seed of the first studio")
    parser.add_argument("--images", type=int, default=2000, help="photos of each studio, two of an item")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    journal, entries = Journal(asked.journal), []
    for found in _catalogs(range(asked.first, asked.first + asked.studios), asked.images, asked.data):

        def progress(done: int, total: int, name: str = found.name) -> None:
            print(f"\r{name}: {done} of {total} values", end="", flush=True, file=sys.stderr)

        entries += run_cells(found, asked.draws, asked.seed, journal, progress)
        print(file=sys.stderr)
    print(as_text(entries))
    if asked.out is not None:
        asked.out.mkdir(parents=True, exist_ok=True)
        write_file(asked.out / "sampling.csv", as_csv(entries).encode())


def _catalogs(studios: range, images: int, data: Path | None) -> Iterator[JudgedPlaces]:
    yield from (studio_places(images, seed) for seed in studios)
    if data is not None:
        yield _objects(data)


def _objects(data: Path) -> JudgedPlaces:
    """The 92 objects: all pairs judged by people."""
    folder, vectors = data / "objects92", data / "embeddings" / "objects92"
    catalog = lookalike.read_catalog(folder / "catalog.csv", images=folder / "images")
    encoders = [lookalike.embed(catalog, f"precomputed:{vectors / name}.npy", name=name) for name in NETWORKS]
    encoders += [
        lookalike.embed(catalog, f"descriptor:{name}", photos=folder / "images") for name in DESCRIPTORS
    ]
    pairs = judged_pairs(catalog, complete_labels(folder / "judgments.csv"), Rule())
    ranks = tuple(judged_ranks(catalog, one, pairs) for one in encoders)
    truth = GroundTruth(ranks, {TRUTH: pairs.label}, np.ones(len(pairs), bool), K)
    return judged_places("objects92", catalog, truth, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
