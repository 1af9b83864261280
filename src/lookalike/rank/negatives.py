"""Negatives drawn beside the labels, shared by all encoders: from baselines' lists (EDS 6.4) or anywhere (EDS 4)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Int, Int64

from lookalike.core.checks import at_least, fingerprint, one_of
from lookalike.core.errors import ArgumentError
from lookalike.core.types import DRAWN, Catalog, Drawing, Embeddings, Rule
from lookalike.rank.distinct import top_lists
from lookalike.rank.pairs import JudgedPairs, units_of

FIRST, LAST = 100, 500  # the zero-based ranks of a baseline that are drawn from
STREAM = 3


def add_negatives(
    catalog: Catalog,
    pairs: JudgedPairs,
    how: str,
    n: int,
    seed: int,
    baselines: Sequence[Embeddings] = (),
) -> JudgedPairs:
    """Labelled pairs with up to `n` drawn negatives for each of their queries.

    "sampled": uniform among the candidates that a baseline ranks from 100 to 500, but never one that any baseline
    ranks below 100 nor a labelled positive (EDS 6.4); a labelled negative may be drawn, for drawn ones replace it.
    "catalog": uniform among the candidates without a label (EDS 4). Ties in a baseline's list are in catalog
    order. What is drawn for a query depends on the seed, the query, its labels and the baselines; where fewer than n
    are left, all are taken and the basis' `Drawing` counts the queries.
    """
    one_of(how, list(DRAWN), "negatives")
    at_least(n, 1, "n")
    query_rows, start = np.unique(pairs.query_row, return_index=True)
    labelled = np.split(np.arange(len(pairs)), start[1:])
    drawn: list[np.ndarray] = []
    own = _own(catalog, pairs.basis.rule, query_rows)
    if how == "sampled":
        lists = _lists(catalog, pairs, query_rows, baselines)
        for at, query in enumerate(query_rows):
            rows = labelled[at][pairs.drawn[labelled[at]] == 0]
            positive = pairs.code[rows[pairs.label[rows] == 1]]
            never = np.unique(np.concatenate([lists[:, at, :FIRST].ravel(), own[at], positive]))
            codes = np.unique(lists[:, at, FIRST:])
            drawn.append(_choose(codes[codes >= 0], never, n, seed, int(query)))
    else:
        codes = np.unique(units_of(catalog, pairs.basis.rule)[1][catalog.is_gallery(pairs.basis.rule.split)])
        for at, query in enumerate(query_rows):
            judged = pairs.code[labelled[at][pairs.drawn[labelled[at]] == 0]]
            drawn.append(_choose(codes, np.union1d(own[at], judged), n, seed, int(query)))
    names = tuple(sorted(one.encoder for one in baselines)) if how == "sampled" else ()
    return _joined(catalog, pairs, query_rows, drawn, Drawing(how, n, seed, names, ""))


def _lists(
    catalog: Catalog,
    pairs: JudgedPairs,
    query_rows: Int64[np.ndarray, " queries"],
    baselines: Sequence[Embeddings],
) -> Int64[np.ndarray, "baselines queries places"]:
    """Codes of each baseline's first candidates, duplicates of a photo included, -1 where there are fewer."""
    if not baselines:
        raise ArgumentError(
            "negatives=sampled needs baselines whose lists to draw from, and there are none.",
            fix="Give the encoders that fed the pool as baselines, or use negatives=catalog.",
        )
    names, code = units_of(catalog, pairs.basis.rule)
    each_shown = replace(catalog, duplicate=np.full(len(catalog), -1, np.int64))
    lists = np.full((len(baselines), len(query_rows), min(LAST, len(names))), -1, np.int64)
    for at, baseline in enumerate(baselines):
        found = top_lists(each_shown, baseline, query_rows, LAST, pairs.basis.rule)
        lists[at, :, : found.row.shape[1]] = np.where(found.row >= 0, code[found.row], -1)
    return lists


def _own(catalog: Catalog, rule: Rule, query_rows: Int64[np.ndarray, " queries"]) -> list[np.ndarray]:
    """Codes of each query's own item: never a negative, even where the item may be found."""
    code, item = units_of(catalog, rule)[1], catalog.item_codes[1]
    by_item = np.argsort(item, kind="stable")
    first = np.searchsorted(item[by_item], item[query_rows], side="left")
    last = np.searchsorted(item[by_item], item[query_rows], side="right")
    return [np.unique(code[by_item[low:high]]) for low, high in zip(first, last, strict=True)]


def _choose(
    codes: Int[np.ndarray, " codes"], never: Int[np.ndarray, " never"], n: int, seed: int, query: int
) -> Int64[np.ndarray, " chosen"]:
    """Up to n different codes that are not excluded, each set of them equally likely. Raw bits, as they repeat."""
    stream = np.random.PCG64(np.random.SeedSequence((seed, STREAM, query)))
    left = len(codes) - int(np.isin(never, codes).sum())
    if left <= 4 * n:
        there = np.setdiff1d(codes, never)
        return np.sort(there[np.argsort(stream.random_raw(len(there)), kind="stable")[:n]])
    chosen = np.empty(0, np.int64)
    while len(chosen) < n:
        raw = stream.random_raw(2 * n) >> np.uint64(32)
        more = codes[(raw * np.uint64(len(codes)) >> np.uint64(32)).astype(np.int64)]
        chosen = np.concatenate([chosen, more[~np.isin(more, never)]])
        chosen = chosen[np.sort(np.unique(chosen, return_index=True)[1])]
    return np.sort(chosen[:n])


def _joined(
    catalog: Catalog,
    pairs: JudgedPairs,
    query_rows: Int64[np.ndarray, " queries"],
    drawn: Sequence[np.ndarray],
    drawing: Drawing,
) -> JudgedPairs:
    """Labelled and drawn pairs by query, on a basis that says what was drawn."""
    count = np.array([len(codes) for codes in drawn], np.int64)
    query_row = np.repeat(query_rows, count)
    code = np.concatenate([np.empty(0, np.int64), *drawn])
    names, _ = units_of(catalog, pairs.basis.rule)
    marked = replace(
        drawing,
        drawn=len(code),
        short=int((count < drawing.n).sum()),
        pairs=fingerprint([query_row.tobytes().hex(), code.tobytes().hex()]),
    )
    order = np.argsort(np.concatenate([pairs.query_row, query_row]), kind="stable")
    extra: dict[str, Any] = {
        "query_row": query_row,
        "code": code,
        "label": np.zeros(len(code), np.int8),
        "query": catalog.image[query_row],
        "candidate": names[code],
        "drawn": np.full(len(code), DRAWN[drawing.how], np.int8),
    }
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(pairs, name), column])[order] for name, column in extra.items()
    }
    basis = replace(pairs.basis, negatives=(*pairs.basis.negatives, marked))
    return replace(pairs, **columns, basis=basis)
