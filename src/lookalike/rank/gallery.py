"""The gallery laid out for ranking: which column of a score row is which image, and which columns make a unit.

A *unit* is what is ranked: an item at item level, an image at image level. Columns lie in size classes
(see `kernels.best_of_units`), so that the best image of every item is found by wide maxima, and a catalog
with one photo per item needs no maxima at all.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int, Int64

from lookalike.core.errors import CatalogError
from lookalike.core.types import Catalog, Rule
from lookalike.rank.engine.source import Source
from lookalike.rank.engine.vectors import Shaped, as_gallery, center_of


@dataclass(frozen=True, eq=False)
class Gallery:
    """Prepared candidates. `row` is the catalog row of each column, `unit` its unit.

    `classes` rows are (images per unit, units, first column, first unit); `order` is each unit's place by
    first appearance in the catalog; `unit_of_code` is the unit of an item code (at image
    level of a catalog row), -1 where the gallery has none.
    `columns_start` and `columns` list the columns of each item code; `column` is the column of a catalog
    row or -1.
    """

    rule: Rule
    vectors: Shaped
    typical: float
    row: Int[np.ndarray, " columns"]
    unit: Int[np.ndarray, " columns"]
    classes: Int64[np.ndarray, "classes 4"]
    order: Int[np.ndarray, " units"]
    unit_of_code: Int[np.ndarray, " codes"]
    item_code: Int[np.ndarray, " images"]
    columns_start: Int[np.ndarray, " items_and_one"]
    columns: Int[np.ndarray, " columns"]
    column: Int[np.ndarray, " images"]

    @property
    def units(self) -> int:
        """How many things are ranked."""
        return len(self.order)

    def hidden(self, query_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns that are no candidates of each query, as (starts, columns). Row -1 hides nothing."""
        known = query_rows >= 0
        if self.rule.own_item:
            count = (known & (self.column[query_rows] >= 0)).astype(np.int64)
            return _starts(count), self.column[query_rows[count > 0]]
        item = self.item_code[query_rows]
        first = self.columns_start[item]
        count = np.where(known, self.columns_start[item + 1] - first, 0)
        start = _starts(count)
        within = np.arange(start[-1]) - np.repeat(start[:-1], count)
        return start, self.columns[np.repeat(first, count) + within]

    def candidates(self, hidden_start: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        """How many units each query is ranked against: those with an image that is not hidden."""
        queries = len(hidden_start) - 1
        query = np.repeat(np.arange(queries), np.diff(hidden_start))
        pair, times = np.unique(query * self.units + self.unit[hidden], return_counts=True)
        gone = pair[times == self.unit_size[pair % self.units]] // self.units
        return np.asarray(self.units - np.bincount(gone, minlength=queries), dtype=np.int64)

    @cached_property
    def unit_size(self) -> np.ndarray:
        """Images per unit."""
        return np.bincount(self.unit, minlength=self.units)


def prepare(
    catalog: Catalog, source: Source, rule: Rule, held: int, rows: Int[np.ndarray, " rows"] | None = None
) -> Gallery:
    """Lay out the candidates of a rule, or some of them; vectors of at most `held` bytes are held in memory."""
    if rows is None:
        rows = np.flatnonzero(catalog.is_gallery(rule.split))
    if len(rows) == 0:
        where = f"the {rule.split} split" if rule.split else "the catalog"
        raise CatalogError(
            f"There is nothing to find: {where} has no image with role 'gallery' or 'both'.",
            fix="Give some images the role 'gallery' or 'both', or choose another split.",
        )
    item_names, item_code = catalog.item_codes
    code = item_code[rows] if rule.level == "item" else rows
    codes = len(item_names) if rule.level == "item" else len(catalog)
    listed, first, size = np.unique(code, return_index=True, return_counts=True)
    by_appearance = np.argsort(first)
    listed, size = listed[by_appearance], size[by_appearance]
    order = np.argsort(size, kind="stable")
    unit_of_code = np.full(codes, -1, np.int64)
    unit_of_code[listed[order]] = np.arange(len(order))
    unit = unit_of_code[code]
    by_class = _by_class(unit, size[order])
    rows, unit = rows[by_class], unit[by_class]
    vectors = as_gallery(source, rows, rule.similarity, center_of(source, rows, rule.similarity), held)
    column = np.full(len(catalog), -1, np.int64)
    column[rows] = np.arange(len(rows))
    return Gallery(
        rule=rule,
        vectors=vectors,
        typical=float(np.median(vectors.norm)),
        row=rows,
        unit=unit,
        classes=_classes(size[order]),
        order=order,
        unit_of_code=unit_of_code,
        item_code=item_code,
        columns_start=_starts(np.bincount(item_code[rows], minlength=len(item_names))),
        columns=np.argsort(item_code[rows], kind="stable"),
        column=column,
    )


def _starts(count: np.ndarray) -> np.ndarray:
    """Where each of several stretches begins, and where the last ends."""
    return np.concatenate([[0], np.cumsum(count)]).astype(np.int64)


def _by_class(unit: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Rows ordered by (images of their unit, first or second or ... image, unit)."""
    if size[-1] == 1:
        return np.argsort(unit, kind="stable")
    return np.lexsort((unit, _turn(unit), size[unit]))


def _turn(unit: np.ndarray) -> np.ndarray:
    """Which image of its unit a row is: 0 for the first, 1 for the second, ..."""
    by_unit = np.argsort(unit, kind="stable")
    turn = np.empty(len(unit), np.int64)
    turn[by_unit] = np.arange(len(unit)) - np.searchsorted(unit[by_unit], unit[by_unit])
    return turn


def _classes(size: np.ndarray) -> np.ndarray:
    """(images per unit, units, first column, first unit) for units sorted by size."""
    sizes, units = np.unique(size, return_counts=True)
    first_unit = np.concatenate([[0], np.cumsum(units)[:-1]])
    first_column = np.concatenate([[0], np.cumsum(sizes * units)[:-1]])
    return np.stack([sizes, units, first_column, first_unit], axis=1).astype(np.int64)
