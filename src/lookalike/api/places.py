"""The places of encoders' top K lists, and the questions that an annotator answers for them (SPEC 17)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int8, Int64

from lookalike.audit.sampling.design import Units
from lookalike.core.checks import at_least, fingerprint
from lookalike.core.errors import ArgumentError
from lookalike.core.types import Basis, Catalog, Embeddings, Labels, Rule
from lookalike.evaluate.measures.hit_rate import membership
from lookalike.rank.distinct import top_lists
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import JudgedPairs, judged_pairs, units_of

SPARE = 8
"""Further candidates to look at for ties with the last place, before a longer list is made."""
NONE = -1


@dataclass(frozen=True, eq=False)
class Places:
    """Who stands in whose top K: row i is a candidate of query `query[i]` with the weight w of each encoder.

    w is the share of tie orders that put the candidate there (`membership`), so each encoder's weights of a query add
    up to K or to all its candidates. Rows of one `question` are answered together: (a, b) and (b, a) are one.
    `photos` are the catalog rows of query and photo shown for each question, `label` is 1, 0, or -1 for an open row.
    """

    encoders: tuple[str, ...]
    k: int
    queries: int
    query: Int64[np.ndarray, " rows"]
    weight: Float64[np.ndarray, "encoders rows"]
    label: Int8[np.ndarray, " rows"]
    question: Int64[np.ndarray, " rows"]
    photos: Int64[np.ndarray, "questions 2"]

    def __len__(self) -> int:
        return len(self.query)

    def units(
        self, first: str, second: str | None = None, guess: Float64[np.ndarray, " rows"] | None = None
    ) -> tuple[Units, Int64[np.ndarray, " units"]]:
        """The open questions of HR@K of an encoder, or of the difference of two, and which questions they are.

        A question weighs (w_first - w_second) / (K x queries), summed over its open rows; one that weighs nothing is
        no unit. Strata of a difference are its two sides. `guess` is the covariate of each row; a question has the mean
        of its rows by weight.
        """
        w = self._weight(first) - (0.0 if second is None else self._weight(second))
        w = w / (self.k * self.queries)
        is_open = self.label < 0
        known = float(w[~is_open] @ self.label[~is_open])
        size = len(self.photos)
        total = np.bincount(self.question[is_open], weights=w[is_open], minlength=size).astype(np.float64)
        which = np.flatnonzero(np.abs(total) > 1e-12)
        covariate = None
        if guess is not None:
            at, heavy = self.question[is_open], np.abs(w[is_open])
            sums = np.bincount(at, weights=heavy * guess[is_open], minlength=size)
            covariate = (sums / np.maximum(np.bincount(at, weights=heavy, minlength=size), 1e-300))[which]
        sides = (total[which] > 0).astype(np.int64) if second is not None else np.zeros(len(which), np.int64)
        return Units(total[which], sides, known, covariate), which

    def _weight(self, encoder: str) -> Float64[np.ndarray, " rows"]:
        if encoder not in self.encoders:
            raise ArgumentError(
                f"There are no lists of {encoder!r}.", fix=f"Name one of: {', '.join(self.encoders)}."
            )
        return self.weight[self.encoders.index(encoder)]


def places(
    catalog: Catalog,
    encoders: Sequence[Embeddings],
    labels: Labels,
    query_rows: Int64[np.ndarray, " queries"],
    k: int,
    rule: Rule | None = None,
) -> Places:
    """The places of the top K lists of some queries, catalog rows without repetition, by several encoders."""
    rule = rule or Rule()
    rows = np.unique(query_rows)
    names, code = units_of(catalog, rule)
    listed = [_candidates(catalog, one, rows, at_least(k, 1, "k"), rule) for one in encoders]
    shown = np.concatenate(
        listed
    )  # (query row, photo row): of an item the photo that the first encoder found
    key = shown[:, 0] * len(names) + code[shown[:, 1]]
    key, first = np.unique(key, return_index=True)
    shown = shown[first]
    query, unit = np.divmod(key, len(names))
    pairs = _unlabelled(catalog, query, unit, rule)
    weight = np.stack([membership(judged_ranks(catalog, one, pairs), k) for one in encoders])
    there = weight.any(axis=0)
    low, high = shown.min(axis=1)[there], shown.max(axis=1)[there]
    _, first, question = np.unique(low * len(catalog) + high, return_index=True, return_inverse=True)
    label = _labels(catalog, labels, rule, len(names), key[there])
    of_question = np.full(len(first), NONE, np.int8)
    known = label >= 0
    of_question[question[known]] = label[known]
    return Places(
        tuple(one.encoder for one in encoders),
        k,
        len(rows),
        query[there],
        weight[:, there],
        np.where(known, label, of_question[question]).astype(np.int8),
        question,
        shown[there][first],
    )


def _candidates(
    catalog: Catalog, encoder: Embeddings, rows: Int64[np.ndarray, " queries"], k: int, rule: Rule
) -> Int64[np.ndarray, "found 2"]:
    """(query row, photo row) of everything with a share in a top K: lists are made longer until no tie goes on."""
    _, code = units_of(catalog, rule)
    units = int(code.max(initial=-1)) + 1
    found, left, depth = [], rows, k + SPARE
    while len(left):
        lists = top_lists(catalog, encoder, left, depth, rule).row
        q, place = np.nonzero(lists >= 0)
        pairs = np.stack([left[q], lists[q, place]], axis=1)
        key = pairs[:, 0] * units + code[pairs[:, 1]]
        key, first = np.unique(key, return_index=True)
        pairs = pairs[first]
        listed = _unlabelled(catalog, pairs[:, 0], code[pairs[:, 1]], rule)
        judged = judged_ranks(catalog, encoder, listed)
        share = membership(judged, k)
        at = np.searchsorted(left, pairs[:, 0])
        total = np.bincount(at, weights=share, minlength=len(left))
        wanted = np.zeros(len(left))
        wanted[at] = np.minimum(judged.candidates, k)
        short = (wanted - total > 1e-9) & (depth < units)
        found.append(pairs[(share > 0) & ~short[at]])
        left, depth = left[short], min(4 * depth, units)
    return np.concatenate(found) if found else np.empty((0, 2), np.int64)


def _unlabelled(
    catalog: Catalog, query: Int64[np.ndarray, " rows"], unit: Int64[np.ndarray, " rows"], rule: Rule
) -> JudgedPairs:
    """Pairs to rank whose label does not matter."""
    names, nothing = units_of(catalog, rule)[0], np.zeros(len(query), np.int8)
    basis = Basis(catalog.fingerprint, fingerprint(query, unit), rule)
    return JudgedPairs(query, unit, nothing, catalog.image[query], names[unit], basis, ())


def _labels(
    catalog: Catalog, labels: Labels, rule: Rule, units: int, key: Int64[np.ndarray, " rows"]
) -> Int8[np.ndarray, " rows"]:
    """The label of each (query row, unit), -1 where there is none. Contradictions are none."""
    matched = judged_pairs(catalog, labels, rule)
    has = matched.query_row * units + matched.code
    order = np.argsort(has)
    at = np.searchsorted(has[order], key)
    hit = at < len(has)
    hit[hit] = has[order][at[hit]] == key[hit]
    found = np.full(len(key), NONE, np.int8)
    found[hit] = matched.label[order][at[hit]]
    return found
