"""The studio catalog: learn from the noisy labels of a pool, score on the complete truth.

    python studies/studio.py --journal studio.jsonl --out FOLDER [--data DATA]

Three descriptors put pairs forward, two simulated experts label them, and what they do not agree on stays
unlabelled. A head is trained on the vectors of a descriptor and, where the data pack is there, of SqueezeNet.
"""

import sys
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from people import people
from study import WAYS, journal_of, options, run, tell, trials

import lookalike
from lookalike.core.types import Labels, Pool
from lookalike.research.trials.run import Ground
from lookalike.store.disk import write_file
from lookalike.studio import Studio, studio
from lookalike.workflows.demo.truth import complete_labels, simulated_labels
from lookalike.workflows.start.studio import write_studio

GENERATORS = ("color", "hog", "layout")
DESCRIPTOR, NETWORK = "color", "squeezenet1_0"
_FITTED = "&size=227&mean=123/255,117/255,104/255&std=1/255"


def studio_options(about: str) -> ArgumentParser:
    """The options of the studies on the studio."""
    parser = options(about)
    parser.set_defaults(epochs=20, rate=1e-3)
    parser.add_argument("--images", type=int, default=400, help="how many items, one photo each")
    parser.add_argument("--catalog-seed", type=int, default=0)
    parser.add_argument("--data", type=Path, help="the data pack, for the network's weights")
    parser.add_argument("--photos", type=Path, help="a folder that keeps the photos and their vectors")
    return parser


def main(arguments: list[str]) -> None:
    """Run what is left of the trials and tell."""
    asked = studio_options(__doc__).parse_args(arguments)
    found = grounds(asked.images, asked.catalog_seed, asked.data, asked.photos)
    tell(run(found, trials(WAYS, asked), journal_of(asked)), asked, "studio")


def ground_of(asked: Namespace, parser: ArgumentParser) -> Ground:
    """The ground of a study that runs on one: the studio seen by the descriptor, or the 92 objects."""
    if asked.on == "studio":
        return grounds(asked.images, asked.catalog_seed, None, asked.photos)[DESCRIPTOR]
    if asked.data is None:
        parser.error("people needs --data DATA")
    return people(asked.data)


def grounds(images: int, seed: int, data: Path | None, photos: Path | None) -> dict[str, Ground]:
    """A ground for each encoder. Without the data pack the network is left out, and that is said."""
    drawn = studio(images, photos_per_item=1, seed=seed)
    weights = None if data is None else data / "weights" / f"{NETWORK}.safetensors"
    if weights is None or not weights.exists():
        print(f"Without {NETWORK}: {weights or 'no --data was given'}{' is not there' if weights else ''}.")
        weights = None
    with tempfile.TemporaryDirectory(prefix="lookalike-study-") as folder:
        vectors = _vectors(drawn, photos or Path(folder), weights)
    catalog = drawn.catalog()
    pool = lookalike.make_pool(
        catalog, [lookalike.Embeddings(name, catalog.image, vectors[name]) for name in GENERATORS], top=5
    )
    labels, truth = labels_of(drawn, pool, seed)
    encoders = {DESCRIPTOR: _beside([vectors[name] for name in DESCRIPTOR.split("+")])}
    if weights is not None:
        encoders[NETWORK] = vectors[NETWORK]
    return {name: Ground(f"studio {name}", catalog, made, labels, truth) for name, made in encoders.items()}


def labels_of(drawn: Studio, pool: Pool, seed: int) -> tuple[Labels, Labels]:
    """What two experts settle to on the pool's pairs, and the truth of all pairs."""
    catalog = drawn.catalog()
    labels, agreed = simulated_labels(drawn, catalog, pool, seed)
    truth = complete_labels(drawn, catalog, pool)
    print(
        f"{len(pool):,} pairs in the pool, {len(labels):,} labelled ({100 * agreed:.0f} % agreed on), "
        f"{100 * labels.label.mean():.0f} % of them similar; of all pairs {100 * truth.label.mean():.1f} %"
    )
    return labels, truth


def _vectors(drawn: Studio, folder: Path, weights: Path | None) -> dict[str, np.ndarray]:
    """Vectors of the generators, and of the network where there are weights; kept beside the photos."""
    specs = {name: f"descriptor:{name}" for name in GENERATORS}
    if weights is not None:
        specs[NETWORK] = f"torchvision:{NETWORK}?weights={weights}{_FITTED}"
    kept = {name: folder / f"{name}-{len(drawn)}-{drawn.seed}.npy" for name in specs}
    missing = [name for name, file in kept.items() if not file.exists()]
    if missing:
        write_studio(folder / "photos", drawn)
    for name in missing:
        made = lookalike.embed(drawn.catalog(), specs[name], photos=folder / "photos")
        write_file(kept[name], _as_bytes(made.vectors))
    return {name: np.load(file) for name, file in kept.items()}


def _as_bytes(vectors: np.ndarray) -> bytes:
    from io import BytesIO

    file = BytesIO()
    np.save(file, vectors)
    return file.getvalue()


def _beside(parts: list[np.ndarray]) -> np.ndarray:
    """Vectors side by side, each of length 1."""
    scaled = [part / np.linalg.norm(part, axis=1, keepdims=True) for part in parts]
    return np.concatenate(scaled, axis=1).astype(np.float32)


if __name__ == "__main__":
    main(sys.argv[1:])
