"""What a run is warned of before it begins: items and duplicates that training and test share."""

import re
from dataclasses import replace

import numpy as np
from learning_worlds import world

from lookalike.learn.batches import anchors
from lookalike.learn.request import TrainingRequest
from lookalike.learn.similar_pairs import similar_pairs
from lookalike.positive.graph import label_graph
from lookalike.workflows.learn.preview import pairs_preview


def warnings_of(**changed: np.ndarray) -> str:
    made = world(photos=2)
    catalog = replace(made.catalog, **changed)
    graph = label_graph(catalog, made.labels, nodes="item")
    around = anchors(graph, np.flatnonzero(catalog.split == "train"))
    pairs = similar_pairs(catalog, made.labels, graph, "train")
    return " ".join(pairs_preview(catalog, around, pairs, TrainingRequest(), 0).warnings)


def test_items_and_duplicates_in_several_splits_are_warned_of():
    made = world(photos=2)
    assert "one split" not in warnings_of()
    split = made.catalog.split.copy()
    split[[1, 3]] = "test"
    assert re.search(r"2 items .*one split", warnings_of(split=split))
    group = np.full(len(split), -1)
    group[[0, np.flatnonzero(split == "test")[-1]]] = 0
    assert re.search(r"1 group .*one split", warnings_of(duplicate=group))
