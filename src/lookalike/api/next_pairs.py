"""Which pairs to label next to separate encoders, from Python."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.audit import next_pairs as audit
from lookalike.audit.next_pairs import PrecisionPlan, Standing, TopLabels, next_pairs, order, plan, standings
from lookalike.core.checks import at_least, strings
from lookalike.core.errors import ArgumentError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Embeddings, Labels, Rule
from lookalike.discover.questions import Questions
from lookalike.rank.distinct import top_lists
from lookalike.rank.pairs import judged_pairs
from lookalike.search.exact import judged_items


@dataclass(frozen=True, eq=False)
class LabelPlan:
    """The encoders on the labels so far, the precision that more labels give, and the pairs to label next.

    `split` is that of the queries and candidates (None: all); `notes` give the reason.
    """

    standings: tuple[Standing, ...]
    plan: PrecisionPlan
    k: int
    queries: int
    judged: int
    next: Questions
    next_queries: int
    split: str | None = None
    notes: tuple[str, ...] = ()


def pairs_to_label(
    catalog: Catalog,
    encoders: Sequence[Embeddings],
    labels: Labels,
    queries: Sequence[str] | None = None,
    *,
    k: int = 5,
    width: float = 0.1,
    margin: float = audit.MARGIN,
    looks: int = audit.INTERIM_LOOKS,
    seed: int = 0,
    rule: Rule | None = None,
    progress: Progress | None = None,
) -> LabelPlan:
    """Compare encoders on labels that favour none, and plan the labels to make next.

    `queries` are image ids (None: all that can be queries). The seed gives the order in which they are judged.
    `rule` can keep queries and candidates within a split. See `docs/how-to/comparing.md`.
    """
    by = rule or Rule()
    asked = catalog.image[catalog.is_query(by.split)].tolist() if queries is None else list(queries)
    lists, shown = top_labels(catalog, encoders, labels, asked, k=k, seed=seed, rule=by, progress=progress)
    found = standings(lists, interim_looks=looks, margin=margin)
    planned = plan(lists, width, interim_looks=looks)
    until = planned.wanted.queries if planned.wanted is not None else len(lists.query)
    wanted = next_pairs(lists, until) if any(one.decision == "open" for one in found) else []
    left = Questions(
        query=strings(lists.query[q] for q, _ in wanted),
        candidate=strings(catalog.image[shown[q, code]] for q, code in wanted),
        item=strings(catalog.item_codes[0][code] for _, code in wanted),
    )
    last = until if wanted else 0
    return LabelPlan(found, planned, k, len(lists.query), lists.judged, left, last, by.split)


def top_labels(
    catalog: Catalog,
    encoders: Sequence[Embeddings],
    labels: Labels,
    queries: Sequence[str],
    *,
    k: int,
    seed: int,
    rule: Rule,
    progress: Progress | None = None,
) -> tuple[TopLabels, dict[tuple[int, int], int]]:
    """The encoders' top lists with what is known of them, and the photo that shows each (query, item code)."""
    at_least(k, 1, "k")
    names = tuple(encoder.encoder for encoder in encoders)
    if len(names) < 2 or len(set(names)) < len(names):
        raise ArgumentError(
            f"A comparison takes two different encoders, but these are named: {', '.join(names) or 'none'}.",
            fix="Name two or more: lookalike compare color hog",
        )
    asked = [queries[q] for q in order(queries, seed)]
    rows = np.array([catalog.row[query] for query in asked], np.int64)
    judged = judged_items(judged_pairs(catalog, labels, rule))
    items, code = catalog.item_codes
    item = np.full((len(names), len(asked), k), -1, np.int64)
    label = np.full(item.shape, audit.UNJUDGED, np.int8)
    shown: dict[tuple[int, int], int] = {}
    for e, encoder in enumerate(encoders):
        found = top_lists(catalog, encoder, rows, k, rule).row
        item[e] = np.where(found >= 0, code[found], -1)
        for q, i in zip(*np.nonzero(found >= 0), strict=True):
            which = int(item[e, q, i])
            label[e, q, i] = judged.get((asked[q], items[which]), audit.UNJUDGED)
            shown.setdefault((int(q), which), int(found[q, i]))
        if progress is not None:
            progress(e + 1, len(names))
    return TopLabels(names, strings(asked), item, label), shown
