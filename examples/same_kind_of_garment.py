"""Compare networks and descriptors on 3,781 photos of clothing: does a search return the same kind of garment?

    python examples/same_kind_of_garment.py DATA [DESCRIPTOR ...]

DATA holds clothing/ (catalog.csv: image, category, split, and the photos) and embeddings/clothing/NETWORK.npy. The test
photos search the train photos. A category says what kind of garment a photo shows, not which photos look alike.
Name the descriptors to compare with the networks, or none for all of them: each one reads every photo.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import lookalike
from lookalike.core.types import Catalog, Embeddings
from lookalike.discover.statistics import expert_hours, pool_figures
from lookalike.rank.distinct import top_lists

NETWORKS = ("mobilenetv1_100", "mobilenetv2_100", "mobilenet_edgetpu_075", "squeezenet1_0")
DESCRIPTORS = ("color", "layout", "hog", "lbp", "color+hog+lbp")


def main(data: Path, descriptors: Sequence[str] = DESCRIPTORS) -> None:
    """Print the share of results with the query's category, and the figures of a pool."""
    photos = data / "clothing"
    catalog = lookalike.read_catalog(with_roles(photos / "catalog.csv"), images=photos)
    vectors = data / "embeddings" / "clothing"
    encoders = [lookalike.embed(catalog, f"precomputed:{vectors / name}.npy", name=name) for name in NETWORKS]
    for name in descriptors:
        started = time.perf_counter()
        encoders.append(lookalike.embed(catalog, f"descriptor:{name}", photos=photos))
        print(f"descriptor:{name}: {len(catalog) / (time.perf_counter() - started):.0f} photos a second")
    print(f"\n{'encoder':24}{'top 1':>8}{'top 10':>8}")
    for encoder in encoders:
        first, ten = same_category(catalog, encoder)
        print(f"{encoder.encoder:24}{first:8.3f}{ten:8.3f}")
    generators = [encoder for encoder in encoders if encoder.encoder in (*NETWORKS, "color", "hog", "lbp")]
    pool = lookalike.make_pool(catalog, generators, top=5)
    figures = pool_figures(pool, int(catalog.is_gallery().sum()))
    low, high = expert_hours(figures.asked)
    print(
        f"\nPool: {figures.pairs:,} pairs for {figures.queries} queries, {100 * figures.duplicates:.0f}% duplicates,"
    )
    print(
        f"{low:.0f} to {high:.0f} expert-hours at two votes; {figures.saving_pairs:.0f} times fewer than all pairs"
    )
    print("Overlap in %")
    for name, others in figures.overlap.items():
        shown = (f"{others[other]:8.1f}" if other in others else "       -" for other in figures.generators)
        print(f"  {name:24}" + "".join(shown))


def with_roles(table: Path) -> dict[str, list[str]]:
    """The catalog as shipped, test photos as queries and train photos as gallery."""
    head, *rows = [line.split(",") for line in table.read_text().splitlines()]
    columns = {name: [row[at] for row in rows] for at, name in enumerate(head)}
    role = {"test": "query", "train": "gallery"}
    keep = [at for at, split in enumerate(columns["split"]) if split in role]
    kept = {name: [values[at] for at in keep] for name, values in columns.items()}
    return kept | {"role": [role[split] for split in kept["split"]]}


def same_category(catalog: Catalog, encoder: Embeddings) -> tuple[float, float]:
    """Share of the first result, and of the first ten, that show the query's category."""
    queries = np.flatnonzero(catalog.is_query())
    found = top_lists(catalog, encoder, queries, 10)
    same = catalog.category[found.row] == catalog.category[queries][:, None]
    return float(same[:, 0].mean()), float(same.mean())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or DESCRIPTORS)
