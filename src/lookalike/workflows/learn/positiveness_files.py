"""`positiveness` to files: every pair of a split, the pairs of a list, and the labels to look at again."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.api.positiveness import Outlook, listed
from lookalike.catalog.readers.text_table import TextTable, as_text_table
from lookalike.core.errors import ArgumentError, LookalikeError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog
from lookalike.positive.contradictions import are_among
from lookalike.positive.distances import Block, hops_between
from lookalike.positive.positiveness import BEYOND, weights
from lookalike.store.formats.soft_files import SoftFile, write_given_pairs

NAMES = (("image_a", "image_b"), ("query", "candidate"))
FIRST = 100_000  # rows of the block from which the size of a file is estimated


@dataclass(frozen=True)
class ListedPairs:
    """What became of the pairs of a list: how many were listed, written, above 0, and outside of the split."""

    pairs: int
    written: int
    positive: int
    outside: int


def estimated_bytes(found: Outlook, path: Path) -> float:
    """About how large the file of all pairs will be, by its first rows."""
    blocks = listed(found)
    try:
        first = next((block for block in blocks if len(block.a)), None)
    finally:
        blocks.close()  # type: ignore[attr-defined]  # it is a generator, and threads wait behind it
    if first is None:
        return 0.0
    few = Block(*(column[:FIRST] for column in first))
    return found.pairs * SoftFile(found.catalog.image, weights(found.soft)).bytes_per_row(few, path)


def write_pairs(found: Outlook, path: Path, progress: Progress | None = None) -> list[int]:
    """Write every pair with positiveness above 0, whole or not at all; how many there are at each distance."""
    return SoftFile(found.catalog.image, weights(found.soft)).write(listed(found, progress), path)


def write_given(found: Outlook, table: Path, path: Path) -> ListedPairs:
    """Write the positiveness of the pairs of a table, in its order, zeros included.

    Pairs that no path of at most L hops joins have an empty distance. With a least positiveness, pairs below it are
    left out. An image outside of the split has no labels there: both cells are empty.
    """
    names, rows = read_pairs(table, found.catalog)
    inside = np.zeros(len(found.catalog), bool)
    inside[found.photo.node] = True
    known = inside[rows[0]] & inside[rows[1]]
    a, b = (found.graph.node[one] for one in rows)
    hops = hops_between(found.graph, a, b, found.soft.max_distance)
    hops[~known] = BEYOND
    weight = weights(found.soft)[hops]
    weight[are_among(found.graph.negative, a, b)] = 0
    weight[~known] = np.nan
    kept = np.flatnonzero((hops <= found.limit) | (found.limit == found.soft.max_distance))
    write_given_pairs(
        [names[0][at] for at in kept],
        [names[1][at] for at in kept],
        [None if np.isnan(weight[at]) else float(str(weight[at])) for at in kept],
        [None if hops[at] == BEYOND else int(hops[at]) for at in kept],
        path,
    )
    return ListedPairs(len(known), len(kept), int((weight[kept] > 0).sum()), int((~known).sum()))


def read_pairs(file: Path, catalog: Catalog) -> tuple[tuple[list[str], list[str]], np.ndarray]:
    """The pairs of a CSV or Parquet file with columns image_a and image_b, or query and candidate; and their rows."""
    table, (one, other) = _table_of_pairs(file)
    names = table.columns[one], table.columns[other]
    rows = np.array([[catalog.row.get(image, -1) for image in column] for column in names], np.int64)
    unknown = np.flatnonzero((rows < 0).any(axis=0))
    if len(unknown):
        first = names[0][unknown[0]] if rows[0, unknown[0]] < 0 else names[1][unknown[0]]
        raise ArgumentError(
            f"{file}, {table.at(unknown.tolist())}: the catalog has no image {first!r}.",
            fix="Use the ids of the catalog's images (lookalike status says where it came from), or delete the rows.",
        )
    return names, rows.reshape(2, -1)


def _table_of_pairs(file: Path) -> tuple[TextTable, tuple[str, str]]:
    """A table and the names of its two columns; the delimiter is the one under which they are there."""
    found: TextTable | None = None
    problem: LookalikeError | None = None
    for names in NAMES:
        try:
            found = as_text_table(file, wanted=names[0])
        except LookalikeError as error:
            problem = error
            continue
        if all(name in found.columns for name in names):
            return found, names
    if found is None and problem is not None:
        raise problem
    has = ", ".join(map(repr, found.columns)) if found is not None else "none"
    raise ArgumentError(
        f"{file} lists no pairs: it has the columns {has}.",
        fix="Give it the columns image_a and image_b, or query and candidate.",
    )
