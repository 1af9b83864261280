"""What a rule ranks, known by name alone: no vectors are needed."""

import numpy as np
from jaxtyping import Bool, Int64, Shaped

from lookalike.core.checks import codes
from lookalike.core.errors import RunError
from lookalike.core.text import quoted
from lookalike.core.types import Catalog, Rule
from lookalike.rank.pairs import units_of

UNKNOWN_SHARE = 0.01


class Units:
    """The units of a rule (items, or at image level images), by name, and which of them are a query's candidates."""

    def __init__(self, catalog: Catalog, rule: Rule) -> None:
        self.catalog, self.rule = catalog, rule
        self.item = catalog.item_codes[1]
        self.names, self.unit = units_of(catalog, rule)
        self.codes = len(self.names)
        self.there = catalog.is_gallery(rule.split)
        self.size = np.bincount(self.unit[self.there], minlength=self.codes)

    def of(
        self, candidate: Shaped[np.ndarray, " rows"], run: str
    ) -> tuple[Int64[np.ndarray, " rows"], Int64[np.ndarray, " rows"]]:
        """The unit each candidate id stands for and the catalog row of the image it names.

        The unit is -1 where the catalog has none (too many of those are refused), the row -1 of items' ids.
        """
        ids, code = codes(candidate)
        unit, row = self._by_name(ids, run)
        gone = {image.image for image in self.catalog.left_out}
        lacking = np.array(
            [at < 0 and name not in gone for at, name in zip(unit, ids, strict=True)], dtype=bool
        )
        unknown = int(np.count_nonzero(lacking[code]))
        if unknown > UNKNOWN_SHARE * len(code):
            raise RunError(
                f"The catalog lacks {unknown:,} of {len(code):,} candidates of the run {run}, for instance "
                f"{quoted(ids[lacking], 3)}.",
                fix=f"Name candidates by image ids{' or item ids' if self.rule.level == 'item' else ''} of this "
                f"catalog; up to {UNKNOWN_SHARE:.0%} that it lacks are passed over.",
            )
        return unit[code], row[code]

    def _by_name(self, ids: np.ndarray, run: str) -> tuple[np.ndarray, np.ndarray]:
        """Ids are all images or all items, whichever more of them are; never guessed where the two differ."""
        row = np.array([self.catalog.row.get(name, -1) for name in ids], np.int64)
        of_image = np.where(row >= 0, self.unit[row], -1)
        if self.rule.level == "image":
            return of_image, row
        place = {item: at for at, item in enumerate(self.names)}
        of_item = np.array([place.get(name, -1) for name in ids], np.int64)
        images, items = np.count_nonzero(of_image >= 0), np.count_nonzero(of_item >= 0)
        if images == items and not np.array_equal(of_image, of_item):
            wrong = ids[np.flatnonzero(of_image != of_item)[0]]
            raise RunError(
                f"The candidates of the run {run} can be read as images and as items, and {wrong!r} is not the same.",
                fix="Name candidates by image ids that are no item ids, or the other way round.",
            )
        return (of_image, row) if images > items else (of_item, np.full(len(ids), -1, np.int64))

    def admits(
        self,
        query_rows: Int64[np.ndarray, " rows"],
        unit: Int64[np.ndarray, " rows"],
        row: Int64[np.ndarray, " rows"],
    ) -> Bool[np.ndarray, " rows"]:
        """Whether units are candidates of queries by the photo of a row, or where that is -1 by any photo."""
        query_item = self.item[query_rows]
        if self.rule.own_item:
            only_itself = (self.unit[query_rows] == unit) & self.there[query_rows] & (self.size[unit] == 1)
            of_photo, of_unit = row != query_rows, ~only_itself
        else:
            of_photo = of_unit = self._item_of_unit()[unit] != query_item
        there = np.where(row >= 0, self.there[row], self.size[unit] > 0)
        return np.asarray(there & np.where(row >= 0, of_photo, of_unit), dtype=bool)

    def candidates(self, query_rows: Int64[np.ndarray, " queries"]) -> Int64[np.ndarray, " queries"]:
        """How many candidates each query has."""
        units = np.count_nonzero(self.size)
        if self.rule.own_item:
            lost = self.there[query_rows] & (self.size[self.unit[query_rows]] == 1)
        else:
            of_item = np.bincount(self._item_of_unit()[self.size > 0], minlength=self.item.max(initial=0) + 1)
            lost = of_item[self.item[query_rows]]
        return np.asarray(units - lost, np.int64)

    def _item_of_unit(self) -> np.ndarray:
        return np.arange(self.codes) if self.rule.level == "item" else self.item
