"""Exposure@K: how often each item is shown in the top K of any query, and which items nobody is shown (SPEC 17).

A list is what people see: exactly K distinct items, ties in catalog order, each duplicate photo once. So a place is
whole: it is never split between tied candidates, as `evaluate.measures.hit_rate.membership` splits it for measures.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

import numpy as np
from jaxtyping import Float64, Int64, Shaped

from lookalike.core.text import count, percent, plural, value
from lookalike.core.types import Catalog

MOST_GROUPS, FEWEST_ITEMS = 12, 20
"""The most groups of a column that is reported, and the fewest items of a group that says how columns differ."""
LISTED = 100
HEADS = ("never shown", "by chance", "times shown", "at most", "Gini")  # of `Exposure.cells`
SEVERAL = "several"  # the group of an item whose photos differ in a column


@dataclass(frozen=True)
class GroupExposure:
    """The items of one group: how many, how often one is shown on average, and the share that is never shown."""

    group: str
    items: int
    mean: float
    never: float

    @property
    def cells(self) -> tuple[str, str, str]:
        """Items, times shown on average, and share never shown, as they are written."""
        return count(self.items), value(self.mean, 1), percent(self.never)


@dataclass(frozen=True)
class ColumnExposure:
    """The groups of one column, most shown first. `difference` is between the means of its first and last group.

    Groups of fewer than `FEWEST_ITEMS` items have no part in the difference; it is NaN below two other groups.
    """

    column: str
    groups: tuple[GroupExposure, ...]
    difference: float

    def ends(self, most: int) -> tuple[GroupExposure, ...]:
        """All groups, or of more than `most` the first and the last ones."""
        half = most // 2
        return self.groups if len(self.groups) <= most else (*self.groups[:half], *self.groups[-half:])


@dataclass(frozen=True)
class ShownItem:
    """An item and in how many queries' top K it is."""

    item: str
    times: int


@dataclass(frozen=True)
class Exposure:
    """Exposure@K of one encoder: `queries` lists were counted, of `all_queries`.

    `never` is the share of the `items` in no list, `by_chance` what it would be if every list were drawn at random, and
    `mean` how often an item is shown on average. `columns` are those with 2 to 12 groups, the largest difference first.
    `most_shown` and `never_shown` list up to 100 items each, the latter spread evenly over the catalog.
    """

    encoder: str
    k: int
    queries: int
    all_queries: int
    items: int
    mean: float
    never: float
    by_chance: float
    gini: float
    columns: tuple[ColumnExposure, ...]
    most_shown: tuple[ShownItem, ...]
    never_shown: tuple[str, ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """The values of `HEADS` as they are written."""
        most = self.most_shown[0].times if self.most_shown else 0
        shares = percent(self.never), percent(self.by_chance)
        return *shares, value(self.mean, 1), count(most), value(self.gini, 2)

    @property
    def lists(self) -> str:
        """Which lists were counted."""
        sample = "all" if self.queries == self.all_queries else f"a random sample of {self.queries:,} of"
        return f"the first {self.k} results of {sample} {plural(self.all_queries, 'query image')}"


def exposure(
    catalog: Catalog,
    encoder: str,
    rows: Int64[np.ndarray, "queries places"],
    k: int,
    *,
    all_queries: int,
) -> Exposure:
    """Exposure@K of the items of the gallery from top K lists, as catalog rows (-1: no candidate left).

    times_i = number of queries whose list has item i; never = share of items with times_i = 0; by_chance =
    (1 - K / n)^queries for n items. Means and shares are NaN without an item.
    """
    items, times = item_times(catalog, rows)
    most = [at for at in np.argsort(-times, kind="stable")[:LISTED].tolist() if times[at]]
    unseen = np.flatnonzero(times == 0)
    spread = unseen[np.linspace(0, len(unseen) - 1, min(LISTED, len(unseen))).astype(np.int64)]
    n, queries = len(items), len(rows)
    return Exposure(
        encoder=encoder,
        k=k,
        queries=queries,
        all_queries=all_queries,
        items=n,
        mean=float(times.mean()) if n else nan,
        never=len(unseen) / n if n else nan,
        by_chance=max(0.0, 1 - k / n) ** queries if n else nan,
        gini=gini(times),
        columns=by_columns(times, item_groups(catalog)),
        most_shown=tuple(ShownItem(str(items[at]), int(times[at])) for at in most),
        never_shown=tuple(map(str, items[spread])),
    )


def item_times(
    catalog: Catalog, rows: Int64[np.ndarray, "queries places"]
) -> tuple[Shaped[np.ndarray, " items"], Int64[np.ndarray, " items"]]:
    """The items of the gallery in catalog order, and in how many of the lists each is."""
    names, code = catalog.item_codes
    present = np.unique(code[catalog.is_gallery()])
    return names[present], np.bincount(code[rows[rows >= 0]], minlength=len(names))[present]


def gini(times: Int64[np.ndarray, " items"]) -> float:
    """G = sum_i sum_j |x_i - x_j| / (2 n sum_i x_i): 0 if all items are shown equally often, near 1 if one has all.

    Computed as 2 sum_i i x_(i) / (n sum x) - (n + 1) / n, with x_(1) <= ... <= x_(n) (Gini 1912). NaN if nothing is
    shown.

    >>> gini(np.array([2, 2, 2])), gini(np.array([0, 0, 0, 4]))
    (0.0, 0.75)
    """
    total, n = float(times.sum()), len(times)
    if total == 0:
        return nan
    place = np.arange(1, n + 1)
    return float(2 * (place @ np.sort(times)) / (n * total) - (n + 1) / n)


def item_groups(catalog: Catalog) -> dict[str, Shaped[np.ndarray, " items"]]:
    """The group of each item of the gallery by every column; items whose photos there differ are `SEVERAL`."""
    photos = np.flatnonzero(catalog.is_gallery())
    found = np.unique(catalog.item_codes[1][photos], return_index=True, return_inverse=True)
    first, place = photos[found[1]], found[2]
    columns = {"category": catalog.category, "role": catalog.role, "split": catalog.split, **catalog.columns}
    groups = {}
    for name, values in columns.items():
        text = np.array([str(value) for value in values], object)
        own = text[first]
        differs = np.bincount(place, weights=text[photos] != own[place], minlength=len(first)) > 0
        groups[name] = np.where(differs, SEVERAL, own)
    return groups


def by_columns(
    times: Int64[np.ndarray, " items"], groups: Mapping[str, Shaped[np.ndarray, " items"]]
) -> tuple[ColumnExposure, ...]:
    """The exposure of each column's groups, the column with the largest difference first."""
    found = []
    for column, group in groups.items():
        names, code = np.unique(group.astype(str), return_inverse=True)
        if not 2 <= len(names) <= MOST_GROUPS:
            continue
        size = np.bincount(code)
        mean, never = (np.bincount(code, weights=one) / size for one in (times, times == 0))
        listed = [
            GroupExposure(str(names[at]) or "(none)", int(size[at]), float(mean[at]), float(never[at]))
            for at in np.argsort(-mean, kind="stable")
        ]
        large = mean[size >= FEWEST_ITEMS]
        found.append(ColumnExposure(column, tuple(listed), _range(large)))
    return tuple(sorted(found, key=lambda one: (np.isnan(one.difference), -one.difference, one.column)))


def _range(means: Float64[np.ndarray, " groups"]) -> float:
    return float(np.ptp(means)) if len(means) > 1 else nan
