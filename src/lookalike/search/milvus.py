"""Search in a Milvus server, for catalogs past one machine. Keys are ours; items and filters stay here."""

import logging
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from jaxtyping import Float32, Int64

from lookalike.core.checks import install, not_installed
from lookalike.core.errors import SearchError, first_line
from lookalike.core.progress import Progress
from lookalike.search.index import NearestKeys

CHUNK, MOST = 2048, 16_384  # rows of one request; the most that Milvus returns
TIMEOUT = 10.0  # seconds
TOKEN = "LOOKALIKE_MILVUS_TOKEN"
LINKS, EXPANSION_ADD = 16, 128


class Milvus:
    """A collection in a Milvus server."""

    name = "milvus"

    def __init__(self, address: str, collection: str, expansion: int) -> None:
        if missing := not_installed(["pymilvus"]):
            raise SearchError(
                f"Search in Milvus needs {missing[0]}, which is not installed.", fix=install("search")
            )
        from pymilvus import MilvusClient

        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # its errors are raised too
        self.address, self.collection, self.expansion = address, collection, expansion
        with self._errors():
            self._client = MilvusClient(address, token=os.environ.get(TOKEN, ""), timeout=TIMEOUT)

    def expand(self, expansion: int) -> None:
        """Set how many candidates a search keeps."""
        self.expansion = expansion

    def create(self, dimension: int) -> None:
        """Create the collection."""
        from pymilvus import DataType

        with self._errors():
            schema = self._client.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field("key", DataType.INT64, is_primary=True)
            schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
            index = self._client.prepare_index_params()
            built = {"M": LINKS, "efConstruction": EXPANSION_ADD}
            index.add_index("vector", index_type="HNSW", metric_type="IP", params=built)
            self._client.create_collection(
                self.collection,
                schema=schema,
                index_params=index,
                consistency_level="Strong",
                timeout=TIMEOUT,
            )

    def drop(self) -> None:
        """Delete the collection."""
        with self._errors():
            self._client.drop_collection(self.collection, timeout=TIMEOUT)

    def nearest(self, queries: Float32[np.ndarray, "queries dimension"], count: int) -> NearestKeys:
        """The keys of the nearest vectors of each query; fewer than asked where Milvus answers fewer."""
        count = min(count, MOST)
        with self._errors():
            found = self._client.search(
                self.collection,
                queries.tolist(),
                limit=count,
                output_fields=["key"],
                search_params={"params": {"ef": max(self.expansion, count)}},
                timeout=TIMEOUT,
            )
        key = np.zeros((len(queries), count), np.int64)
        score = np.full((len(queries), count), np.nan, np.float32)
        for at, hits in enumerate(found):
            key[at, : len(hits)] = [hit["key"] for hit in hits]
            score[at, : len(hits)] = [hit["distance"] for hit in hits]
        return NearestKeys(key, score, math.inf)  # a server's index may round as it likes

    def add(
        self,
        keys: Int64[np.ndarray, " n"],
        vectors: Float32[np.ndarray, "n dimension"],
        progress: Progress | None = None,
    ) -> None:
        """Add vectors of length 1."""
        for first in range(0, len(keys), CHUNK):
            pairs = zip(
                keys[first : first + CHUNK].tolist(), vectors[first : first + CHUNK].tolist(), strict=True
            )
            rows = [{"key": key, "vector": one} for key, one in pairs]
            with self._errors():
                self._client.upsert(self.collection, rows, timeout=TIMEOUT)
            if progress:
                progress(min(first + CHUNK, len(keys)), len(keys))

    def remove(self, keys: Int64[np.ndarray, " n"]) -> None:
        """Remove vectors."""
        for first in range(0, len(keys), CHUNK):
            with self._errors():
                self._client.delete(
                    self.collection, ids=keys[first : first + CHUNK].tolist(), timeout=TIMEOUT
                )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of the server as errors that say what to do."""
        from grpc import RpcError
        from pymilvus.exceptions import MilvusException

        try:
            yield
        except (MilvusException, RpcError, OSError) as error:
            raise SearchError(
                f"Milvus at {self.address} does not answer: {first_line(error)}",
                fix="Check that the server runs, or search with --engine exact.",
                code="milvus",
            ) from error
