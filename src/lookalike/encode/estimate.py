"""The expected time and disk space of an embedding run, from a few of its photos."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.core.types import Catalog
from lookalike.encode.encoder import Encoder
from lookalike.encode.inputs.workers import Chunk, make_ready

SAMPLE = 8
TOO_LONG = 4.0  # seconds: a batch that takes longer is measured on one photo
WORTH_MEASURING = 200  # fewer photos are encoded sooner than measured


@dataclass(frozen=True)
class Estimate:
    """Photos to compute and to copy, seconds (NaN if not measured), bytes on disk.

    `base` names the encoder whose vectors a head is applied to. No photo is read then.
    """

    compute: int
    known: int
    seconds: float
    bytes: int
    base: str = ""


def estimate(catalog: Catalog, root: Path, encoder: Encoder, rows: np.ndarray, workers: int) -> Estimate:
    """Try a few of the photos to compute (`rows`): seconds = photos x (decoding / workers + encoding).

    On a GPU both run at the same time, so the slower one counts. On a CPU they share the cores.
    """
    size = len(catalog) * (4 * encoder.dimension + 16)
    known = len(catalog) - len(rows)
    if len(rows) < WORTH_MEASURING:
        return Estimate(len(rows), known, float("nan"), size)
    sample = rows[np.linspace(0, len(rows) - 1, SAMPLE).astype(np.int64)]
    chunk = Chunk(tuple(sample.tolist()), tuple(catalog.path[sample]), tuple(catalog.digest[sample]))
    begun = time.perf_counter()
    ready = make_ready(str(root), encoder.prepare, encoder.size_hint, chunk)
    decoding = (time.perf_counter() - begun) / SAMPLE / workers
    if not ready.rows:
        return Estimate(len(rows), known, float("nan"), size)
    encoding = _seconds_per_photo(encoder, ready.photos)
    each = max(decoding, encoding) if encoder.threads == 1 else decoding + encoding
    return Estimate(len(rows), known, len(rows) * each, size)


def _seconds_per_photo(encoder: Encoder, photos: np.ndarray) -> float:
    """Seconds to encode one photo while all threads work. The first round warms up."""
    begun = time.perf_counter()
    encoder.vectors(photos[:1])
    alone = time.perf_counter() - begun
    if alone * encoder.batch > TOO_LONG:
        return alone / encoder.threads
    batch = np.concatenate([photos] * (encoder.batch // len(photos) + 1))[: encoder.batch]
    with ThreadPoolExecutor(encoder.threads) as pool:
        for _ in range(2):
            begun = time.perf_counter()
            list(pool.map(encoder.vectors, [batch] * encoder.threads))
    return (time.perf_counter() - begun) / (len(batch) * encoder.threads)
