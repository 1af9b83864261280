"""What the search page shows beside results: the catalog, labels of a few seconds ago, the values to filter by."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from lookalike.core.filters import column_of
from lookalike.core.types import Catalog, Rule
from lookalike.rank.pairs import judged_pairs
from lookalike.search.results import judged_items
from lookalike.store.sql.rows import read_catalog
from lookalike.store.workspace import Workspace

CATALOG_MS = 60_000  # how old the catalog of a page may be
LABELS_MS = 3_000  # how old its labels may be
FEWEST_VALUES, MOST_VALUES = 2, 60  # values of a column that a page offers to filter by
FACETS = ("category", "split", "role")

Facets = Mapping[str, Mapping[str, int]]
"""The number of images of each value, by column."""


@dataclass
class Searching:
    """The catalog of a workspace and its labels, read again in the background. Threads share it."""

    workspace: Workspace
    clock: Callable[[], int]
    known: tuple[Catalog, Facets] | None = None
    read_at: int = 0
    labels: tuple[object, int, dict[tuple[str, str], int]] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def catalog(self) -> tuple[Catalog, Facets]:
        """The catalog, and its columns that have a few values, with these, most frequent first."""
        with self.lock:
            if self.known is None:
                self._renew()
            elif self.clock() - self.read_at >= CATALOG_MS:
                self.read_at = self.clock()
                threading.Thread(target=self._renew, name="catalog", daemon=True).start()
            assert self.known is not None  # noqa: S101 - read above
            return self.known

    def judged(self) -> dict[tuple[str, str], int]:
        """(query image, item) -> label."""
        catalog, now = self.catalog()[0], self.clock()
        with self.lock:
            if self.labels is None or self.labels[0] is not catalog or now - self.labels[1] >= LABELS_MS:
                found = judged_items(judged_pairs(catalog, self.workspace.labels(), Rule()))
                self.labels = catalog, now, found
            return self.labels[2]

    def _renew(self) -> None:
        found = self.workspace.database.fetch(read_catalog)
        self.known, self.read_at = (found, facets(found)), self.clock()


def facets(catalog: Catalog) -> Facets:
    """The columns of a catalog that have a few values, with the number of images of each."""
    found = {}
    for name in dict.fromkeys((*FACETS, *catalog.columns)):
        values = column_of(catalog, name)
        if len(set(islice(values, 10 * MOST_VALUES))) > MOST_VALUES:
            continue
        counts = {value: times for value, times in Counter(values.tolist()).most_common() if value}
        if FEWEST_VALUES <= len(counts) <= MOST_VALUES:
            found[name] = counts
    return found
