"""The query images of a pool: all, those with certain values, a sample (plain or stratified), or a list."""

import numpy as np
from jaxtyping import Int

from lookalike.core.checks import at_least, codes
from lookalike.core.errors import ArgumentError, PoolError
from lookalike.core.filters import Where, column_of, frequent
from lookalike.core.text import plural, quoted
from lookalike.core.types import Catalog


def rows_where(catalog: Catalog, where: Where = (), split: str | None = None) -> Int[np.ndarray, " queries"]:
    """Rows that may be queries, in catalog order; `where` keeps those with certain values.

    Values of one column are alternatives, columns must all hold: [("domain", "wild"), ("split", "test")].
    Queries of another domain are selected this way (EDS 5.2): photos with role `query` that share a value.
    Raises PoolError, with the values that exist, where no image may be a query.
    """
    allowed = catalog.is_query(split)
    if not allowed.any():
        raise PoolError(
            "No image can be a query: none has the role 'query' or 'both'.",
            fix="Give some images the role 'query' or 'both' in the table given to `lookalike init`.",
        )
    for column in dict.fromkeys(column for column, _ in where):
        values = column_of(catalog, column)
        wanted = list(dict.fromkeys(value for named, value in where if named == column))
        for value in wanted:
            _require_value(column, value, values, catalog.is_query(split))
        allowed = allowed & np.isin(values, wanted)
    if not allowed.any():
        asked = " and ".join(f"{column}={value}" for column, value in where)
        raise PoolError(f"No query image has {asked} at once.", fix="Leave out one of the conditions.")
    return np.flatnonzero(allowed)


def sample_queries(
    catalog: Catalog,
    count: int | None,
    seed: int,
    split: str | None = None,
    *,
    where: Where = (),
    stratify: str | None = None,
    there: Int[np.ndarray, " there"] | None = None,
) -> Int[np.ndarray, " queries"]:
    """Rows of the queries, in catalog order: all that may be queries, or a seeded sample without repeats.

    `stratify` names a column whose values have the same shares in the sample as in all rows that may be queries. Rows
    that are `there` already are not drawn again: `count` more are.
    """
    rows = rows_where(catalog, where, split)
    if there is not None:
        rows = rows[~np.isin(rows, there)]
        if not len(rows):
            return rows
    if stratify is not None:
        if count is None:
            raise ArgumentError(
                f"--stratify is {stratify!r}, but no sample is drawn: all queries are used.",
                fix="Say how many to sample, for instance --queries 200.",
            )
        return _stratified(catalog, rows, count, stratify, seed)
    if count is None or count >= len(rows):
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, size=count, replace=False))


def given_queries(catalog: Catalog, images: list[str]) -> Int[np.ndarray, " queries"]:
    """Catalog rows of the named images, in catalog order."""
    allowed = catalog.is_query()
    wrong = [image for image in images if image not in catalog.row or not allowed[catalog.row[image]]]
    if wrong:
        raise PoolError(
            f"{len(wrong):,} of {plural(len(images), 'given image')} cannot be queries: {quoted(wrong)}.",
            fix="Name images of the catalog whose role is 'query' or 'both'.",
        )
    return np.array(sorted({catalog.row[image] for image in images}), dtype=np.int64)


def shares(sizes: Int[np.ndarray, " strata"], count: int) -> Int[np.ndarray, " strata"]:
    """How many of a sample each stratum gets: the largest-remainder share of its size, and at least one.

    n minimises sum (n_s - count x size_s / total)^2 among whole numbers with n_s >= 1 and sum n = count: the
    method of the largest remainder where no stratum is too small for a place of its own. Equal claims go to
    the earlier stratum. With fewer places than strata the largest strata get one each. Nothing is drawn from
    nothing: `sizes` are 1 or more, `count` at most their sum.

    >>> shares(np.array([90, 8, 2]), 10).tolist(), shares(np.array([90, 8, 2]), 2).tolist()
    ([8, 1, 1], [1, 1, 0])
    """
    total = int(sizes.sum())
    least = np.zeros(len(sizes), np.int64)
    least[np.argsort(-sizes, kind="stable")[:count]] = 1
    given = np.maximum(least, count * sizes // total)
    while (left := count - int(given.sum())) != 0:
        claim = count * sizes - given * total  # total times what a stratum is short of its share, in integers
        if left > 0:
            given[np.argmax(claim)] += 1
        else:
            given[np.argmin(np.where(given > least, claim, np.iinfo(np.int64).max))] -= 1
    return np.asarray(given)


def _stratified(catalog: Catalog, rows: np.ndarray, count: int, column: str, seed: int) -> np.ndarray:
    """A seeded sample whose strata have the shares of `shares`, in catalog order."""
    names, stratum = codes(column_of(catalog, column)[rows])
    if all(not name.strip() for name in names):
        raise ArgumentError(
            f"--stratify is {column!r}, but that column is empty for every image that can be a query.",
            fix="Name a column that says something, or leave out --stratify.",
        )
    sizes = np.bincount(stratum, minlength=len(names))
    given = shares(sizes, min(at_least(count, 1, "queries"), len(rows)))
    draw = np.random.default_rng(seed)
    members = np.split(rows[np.argsort(stratum, kind="stable")], np.cumsum(sizes)[:-1])
    drawn = [
        draw.choice(one, size=n, replace=False) for one, n in zip(members, given.tolist(), strict=True) if n
    ]
    return np.sort(np.concatenate(drawn))


def _require_value(column: str, value: str, values: np.ndarray, may_be_asked: np.ndarray) -> None:
    """Refuse a value that no query image has."""
    has_it = values == value
    if (has_it & may_be_asked).any():
        return
    listed = frequent(values[may_be_asked])
    if has_it.any():
        raise PoolError(
            f"No image with {column}={value!r} can be a query ({plural(has_it.sum(), 'image')}).",
            fix="Give them the role 'query' or 'both' in the table given to `lookalike init`, or choose "
            f"another value; query images have {listed}.",
        )
    raise PoolError(
        f"No image has {column}={value!r}.", fix=f"The most frequent values of query images are {listed}."
    )
