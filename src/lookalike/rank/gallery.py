"""The gallery laid out for ranking: which column of a score row is which image, and which columns make a unit.

A *unit* is what is ranked: an item at item level, an image at image level. Columns lie in size classes
(see `kernels.best_of_units`), so that the best image of every item is found by wide maxima, and a catalog
with one photo per item needs no maxima at all.
"""

from dataclasses import dataclass

import numpy as np

from lookalike.core.checks import codes
from lookalike.core.errors import CatalogError
from lookalike.core.types import Catalog, Rule
from lookalike.rank.vectors import as_gallery


@dataclass(frozen=True, eq=False)
class Gallery:
    """Prepared candidates. `row` is the catalog row of each column, `unit` its unit.

    `classes` rows are (images per unit, units, first column, first unit); `order` is each unit's place by
    first appearance in the catalog, `unit_of` the inverse; `name` is each unit's item or image id.
    `columns_start` and `columns` list the columns of each item code; `column` is the column of a catalog
    row or -1.
    """

    rule: Rule
    vectors: np.ndarray
    longest: float
    row: np.ndarray
    unit: np.ndarray
    classes: np.ndarray
    order: np.ndarray
    unit_of: np.ndarray
    name: np.ndarray
    item_code: np.ndarray
    columns_start: np.ndarray
    columns: np.ndarray
    column: np.ndarray

    @property
    def units(self) -> int:
        """How many things are ranked."""
        return len(self.order)

    def place(self) -> dict[str, int]:
        """Item or image id -> unit."""
        return {name: unit for unit, name in enumerate(self.name)}

    def hidden(self, query_rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Columns that are no candidates of each query, as (starts, columns). Row -1 hides nothing."""
        own = [self._hidden_of(int(row)) for row in query_rows]
        start = np.zeros(len(own) + 1, np.int64)
        np.cumsum([len(columns) for columns in own], out=start[1:])
        return start, np.concatenate([*own, np.empty(0, np.int64)])

    def candidates(self, hidden_start: np.ndarray, hidden: np.ndarray) -> np.ndarray:
        """How many units each query is ranked against."""
        size = np.bincount(self.unit, minlength=self.units)
        query = np.repeat(np.arange(len(hidden_start) - 1), np.diff(hidden_start))
        pair, times = np.unique(np.stack([query, self.unit[hidden]]), axis=1, return_counts=True)
        gone = pair[0][times == size[pair[1]]]
        return np.asarray(self.units - np.bincount(gone, minlength=len(hidden_start) - 1), dtype=np.int64)

    def _hidden_of(self, row: int) -> np.ndarray:
        if row < 0:
            return np.empty(0, np.int64)
        if self.rule.own_item:
            column = self.column[row]
            return np.array([column] if column >= 0 else [], np.int64)
        item = self.item_code[row]
        return self.columns[self.columns_start[item] : self.columns_start[item + 1]]


def prepare(catalog: Catalog, vectors: np.ndarray, rule: Rule) -> Gallery:
    """Lay out the candidates of a rule. `vectors` are in catalog order."""
    rows = np.flatnonzero(catalog.is_gallery(rule.split))
    if len(rows) == 0:
        where = f"the {rule.split} split" if rule.split else "the catalog"
        raise CatalogError(
            f"There is nothing to find: {where} has no image with role 'gallery' or 'both'.",
            fix="Give some images the role 'gallery' or 'both', or choose another split.",
        )
    item_names, item_code = catalog.item_codes
    names, unit = codes((catalog.item if rule.level == "item" else catalog.image)[rows])
    size = np.bincount(unit)
    new_of_old = np.empty(len(size), np.int64)
    unit_of = np.argsort(size, kind="stable")
    new_of_old[unit_of] = np.arange(len(size))
    unit = new_of_old[unit]
    turn = _turn(unit)
    size_of = size[unit_of][unit]
    by_class = np.lexsort((unit, turn, size_of))
    rows, unit = rows[by_class], unit[by_class]
    ready = as_gallery(vectors[rows], rule.similarity)
    column = np.full(len(catalog), -1, np.int64)
    column[rows] = np.arange(len(rows))
    by_item = np.argsort(item_code[rows], kind="stable")
    start = np.zeros(len(item_names) + 1, np.int64)
    np.cumsum(np.bincount(item_code[rows], minlength=len(item_names)), out=start[1:])
    return Gallery(
        rule=rule,
        vectors=ready.rows,
        longest=float(ready.norm.max()),
        row=rows,
        unit=unit,
        classes=_classes(size[unit_of]),
        order=unit_of,
        unit_of=new_of_old,
        name=names[unit_of],
        item_code=item_code,
        columns_start=start,
        columns=by_item,
        column=column,
    )


def _turn(unit: np.ndarray) -> np.ndarray:
    """Which image of its unit a row is: 0 for the first, 1 for the second, ..."""
    by_unit = np.argsort(unit, kind="stable")
    starts = np.zeros(len(unit), np.int64)
    change = np.flatnonzero(np.diff(unit[by_unit])) + 1
    starts[change] = change
    turn = np.empty(len(unit), np.int64)
    turn[by_unit] = np.arange(len(unit)) - np.maximum.accumulate(starts)
    return turn


def _classes(size: np.ndarray) -> np.ndarray:
    """(images per unit, units, first column, first unit) for units sorted by size."""
    sizes, units = np.unique(size, return_counts=True)
    first_unit = np.concatenate([[0], np.cumsum(units)[:-1]])
    first_column = np.concatenate([[0], np.cumsum(sizes * units)[:-1]])
    return np.stack([sizes, units, first_column, first_unit], axis=1).astype(np.int64)
