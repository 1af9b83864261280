"""The ground truth of the demo: two simulated experts' labels, and the true label of every pair."""

import numpy as np

from lookalike.core.checks import codes
from lookalike.core.types import Catalog, Labels, Pool
from lookalike.discover.pool import unordered_pairs
from lookalike.discover.questions import Questions
from lookalike.studio import Studio, consensus, experts, true_labels, vote


def simulated_labels(
    drawn: Studio, catalog: Catalog, questions: Questions, seed: int
) -> tuple[Labels, float]:
    """Two experts judge each unordered pair once; where they agree, that is the label of both directions.

    Returns the labels and the share of pairs they agree on.
    """
    pair = unordered_pairs(questions)
    _, first = np.unique(pair, return_index=True)
    a, b = (_item_places(drawn, catalog, images[first]) for images in (questions.query, questions.candidate))
    one, two = experts(2, seed)
    agreed = consensus(vote(drawn, one, a, b), vote(drawn, two, a, b))
    label = agreed[pair]
    use = label >= 0
    labels = Labels.of(questions.query[use], questions.candidate[use], label[use])
    return labels, float(np.mean(agreed >= 0))


def complete_labels(drawn: Studio, catalog: Catalog, pool: Pool) -> Labels:
    """The true label of every pair of a pool's query and another item."""
    return true_pairs(drawn, catalog, np.array([catalog.row[query] for query in pool.queries], np.int64))


def true_pairs(drawn: Studio, catalog: Catalog, rows: np.ndarray) -> Labels:
    """The true label of every pair of some images, as catalog rows, and another item."""
    names, code = catalog.item_codes
    _, first = np.unique(code, return_index=True)
    place = _item_places(drawn, catalog, catalog.image[first])
    query, item = np.divmod(np.arange(len(rows) * len(names)), len(names))
    other = code[rows[query]] != item
    query, item = query[other], item[other]
    label = true_labels(drawn, place[code[rows[query]]], place[item])
    return Labels.of(catalog.image[rows[query]], catalog.image[first[item]], label)


def _item_places(drawn: Studio, catalog: Catalog, images: np.ndarray) -> np.ndarray:
    """The studio's item numbers of images, by item name."""
    names, _ = codes(drawn.catalog().item)
    place = {name: i for i, name in enumerate(names)}
    return np.array([place[catalog.item[catalog.row[image]]] for image in images], np.int64)
