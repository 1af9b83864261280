"""Embedding against what its parts allow: the decoder's own time plus the network's own time, in one run.

On a processor the two share the cores, so the limit is photos / (decoding + network); on a card they run at the same
time, so it is the slower one. Descriptors are all decoding: the limit there is one core's speed times the cores.
`python benchmarks/embed.py [repeats] [photos]`; photos are drawn, 640 pixels, JPEG.
"""

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import timm
import torch
from PIL import Image

from lookalike.catalog.read import catalog_from
from lookalike.core.cores import cores
from lookalike.core.parallel import in_order
from lookalike.core.types import Catalog
from lookalike.encode.encoder import Encoder
from lookalike.encode.inputs.preprocessing import Preprocessing
from lookalike.encode.inputs.workers import AHEAD, CHUNK, Chunk, make_ready, workers
from lookalike.encode.network import Network
from lookalike.encode.open import open_encoder
from lookalike.encode.run import InMemory, encode_catalog
from lookalike.encode.spec import parse

NETWORKS = ("mobilenetv2_100", "resnet50")
ON_CARD = ("vit_base_patch14_dinov2",)
DESCRIPTORS = ("descriptor:color+hog", "descriptor:lbp")


def main(repeats: int, photos: int) -> None:
    """Print a table for every encoder."""
    card = torch.cuda.is_available()
    where = torch.cuda.get_device_name() if card else "no card"
    print(
        f"{cores()} cores, {where}, {photos:,} JPEGs of 640 pixels, medians of {repeats} rounds; photos a second"
    )
    print(
        f"{'encoder':28} {'decoder':>8} {'network':>8} {'limit':>8} {'embed':>8} {'share':>6} {'MB above':>9}"
    )
    with tempfile.TemporaryDirectory() as folder:
        catalog, root = drawn(Path(folder), photos)
        for name in (*NETWORKS, *(ON_CARD if card else ())):
            network = partial(random_network, name)
            row(name, network, catalog, root, repeats)
        for text in DESCRIPTORS:
            row(text, partial(open_encoder, parse(text)), catalog, root, repeats)


def row(name: str, opened: Callable[[], Encoder], catalog: Catalog, root: Path, repeats: int) -> None:
    """Measure one encoder: its parts alone and the whole, in turn."""
    encoder = opened()
    alone = isinstance(encoder, Network)
    rounds = []
    whole(encoder, catalog, root)  # workers started, kernels compiled, files in memory
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(repeats):
        decoding = decoder(encoder, catalog, root) if alone else one_core(encoder, catalog, root) / cores()
        encoding = network_alone(encoder, len(catalog)) if alone else 0.0
        spent = whole(encoder, catalog, root)
        limit = max(decoding, encoding) if encoder.threads == 1 and alone else decoding + encoding
        rounds.append((decoding, encoding, limit, spent, limit / spent))
    above = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    decoding, encoding, limit, spent, share = (
        statistics.median(column) for column in zip(*rounds, strict=True)
    )
    speeds = [len(catalog) / part if part else float("nan") for part in (decoding, encoding, limit, spent)]
    print(f"{name:28} " + " ".join(f"{speed:8.1f}" for speed in speeds) + f" {share:6.2f} {above:9.0f}")


def decoder(encoder: Encoder, catalog: Catalog, root: Path) -> float:
    """Seconds for the workers to make all photos ready, with nothing behind them."""
    begun = time.perf_counter()
    with workers(cores(), len(catalog)) as pool:
        work = partial(make_ready, str(root), encoder.prepare, encoder.size_hint)
        for _ in in_order(pool, work, chunks(catalog), AHEAD * cores()):
            pass
    return time.perf_counter() - begun


def one_core(encoder: Encoder, catalog: Catalog, root: Path) -> float:
    """Seconds for all photos on one core, from a fourth of them."""
    some = list(chunks(catalog))[::4]
    begun = time.perf_counter()
    for chunk in some:
        make_ready(str(root), encoder.prepare, encoder.size_hint, chunk)
    return (time.perf_counter() - begun) * len(catalog) / sum(len(chunk.rows) for chunk in some)


def network_alone(encoder: Encoder, photos: int) -> float:
    """Seconds for the bare network to take so many photos that are ready, from a fourth of them."""
    height, width = encoder.preprocessing.size  # type: ignore[attr-defined]
    batch = np.random.default_rng(0).integers(0, 255, (encoder.batch, height, width, 3), dtype=np.uint8)
    batches = max(2 * encoder.threads, photos // encoder.batch // 4)
    with ThreadPoolExecutor(encoder.threads) as pool:
        list(pool.map(encoder.vectors, [batch] * encoder.threads))
        begun = time.perf_counter()
        list(pool.map(encoder.vectors, [batch] * batches))
    return (time.perf_counter() - begun) * photos / (batches * encoder.batch)


def whole(encoder: Encoder, catalog: Catalog, root: Path) -> float:
    """Seconds for the embedding run."""
    begun = time.perf_counter()
    encode_catalog(catalog, root, encoder, InMemory())
    return time.perf_counter() - begun


def chunks(catalog: Catalog) -> list[Chunk]:
    """All photos in the pieces that workers take."""
    pieces = (slice(first, first + CHUNK) for first in range(0, len(catalog), CHUNK))
    rows = np.arange(len(catalog))
    columns = (catalog.path, catalog.digest, catalog.box)
    return [Chunk(tuple(rows[p].tolist()), *(tuple(column[p]) for column in columns)) for p in pieces]


def random_network(name: str) -> Network:
    """A network of the real size with random weights: time does not depend on them."""
    module = timm.create_model(
        name, pretrained=False, num_classes=0, **({"img_size": 224} if "vit" in name else {})
    )
    return Network.of(parse(f"timm:{name}"), module, Preprocessing((224, 224), resize=256))


def drawn(folder: Path, photos: int) -> tuple[Catalog, Path]:
    """Photos that decode like photos: smooth noise with some detail."""
    random = np.random.default_rng(0)
    for n in range(photos):
        coarse = Image.fromarray(random.integers(0, 255, (20, 15, 3), dtype=np.uint8)).resize((480, 640), 3)
        fine = random.integers(-12, 12, (640, 480, 3))
        pixels = (np.asarray(coarse) + fine).clip(0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{n:06d}.jpg", quality=88)
    return catalog_from(folder).catalog, folder


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, int(sys.argv[2]) if len(sys.argv) > 2 else 512)
