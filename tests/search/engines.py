"""A catalog with uneven items and duplicates, engines over it, and engines that break promises."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from milvus_server import a_name, shared_milvus
from oracles import ranking
from oracles.worlds import catalog_of, embeddings_of

from lookalike.core.types import Catalog, Embeddings
from lookalike.rank.engine.machine import Machine
from lookalike.search.engine import Engine, Nearest
from lookalike.search.exact import Exact
from lookalike.search.index import Indexed
from lookalike.store.vectors.indexes import image_keys

CPU = Machine(device="numpy")


@dataclass(frozen=True)
class Careless:
    """An engine that repeats its best image, and returns fewer than requested."""

    exact_engine: Exact
    name: str = "careless"
    exact: bool = False

    def __len__(self) -> int:
        return len(self.exact_engine)

    def nearest(self, queries: np.ndarray, count: int) -> Nearest:
        found = self.exact_engine.nearest(queries, count)
        row, score = found.row.copy(), found.score.copy()
        row[:, 1:3], score[:, 1:3] = row[:, :1], score[:, :1]
        row[:, len(row[0]) // 2 :], score[:, len(row[0]) // 2 :] = -1, np.nan
        return Nearest(row, score, np.inf)


def careless(exact: Exact, *_: object) -> Engine:
    return Careless(exact)


def exact_itself(exact: Exact, *_: object) -> Engine:
    return exact


def usearch(exact: Exact, held: np.ndarray, keys: np.ndarray, folder) -> Engine:
    pytest.importorskip("usearch", reason="needs usearch: pip install '.[search]'")
    from lookalike.search.approximate import Approximate

    index = Approximate.empty(exact.source.dimension)
    index.expand(256)
    index.add(keys[held], exact_vectors(exact, held))
    return Indexed.of(index, keys[held], keys, exact)


def milvus(exact: Exact, held: np.ndarray, keys: np.ndarray, folder) -> Engine:
    address = shared_milvus()
    from lookalike.search.milvus import Milvus

    index = Milvus(address, a_name(), 256)
    index.create(exact.source.dimension)
    index.add(keys[held], exact_vectors(exact, held))
    return Indexed.of(index, keys[held], keys, exact)


def exact_vectors(exact: Exact, rows: np.ndarray) -> np.ndarray:
    vectors = exact.source.held[rows]
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


ENGINES: list[Callable[..., Engine]] = [exact_itself, careless, usearch, milvus]


def shop(rows: int = 1_200, dimension: int = 16, seed: int = 0) -> tuple[Catalog, Embeddings]:
    """Clustered vectors; items of 1 to 5 photos; some photos twice; some photos that are only queries."""
    random = np.random.default_rng(seed)
    item = np.sort(random.integers(0, rows // 3, rows))
    roles = random.choice(["both", "both", "both", "gallery", "query"], rows)
    photos = [
        ranking.Photo(f"i{n:05}", f"p{one}", role, "train")
        for n, (one, role) in enumerate(zip(item.tolist(), roles.tolist(), strict=True))
    ]
    centers = random.standard_normal((rows // 30, dimension))
    vectors = centers[random.integers(0, len(centers), rows)] + 0.4 * random.standard_normal(
        (rows, dimension)
    )
    duplicate = np.full(rows, -1)
    duplicate[::40], duplicate[7::40] = (
        np.arange(0, rows, 40),
        np.arange(0, rows, 40)[: len(duplicate[7::40])],
    )
    vectors[7::40] = vectors[::40][: len(vectors[7::40])]
    catalog = replace(
        catalog_of(photos),
        duplicate=duplicate,
        columns={
            "color": random.choice(np.array(["red", "green", "rare"], object), rows, p=[0.6, 0.39, 0.01])
        },
    )
    return catalog, embeddings_of(catalog, vectors.astype(np.float32))


def keys_of(catalog: Catalog) -> np.ndarray:
    return image_keys(catalog)
