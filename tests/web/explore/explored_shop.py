"""A served studio catalog with vectors and labels, for the pages of Map, Results and Catalog."""

import numpy as np

from lookalike.core.types import Labels
from lookalike.store.workspace import Workspace
from lookalike.workflows.start.embed import embed


def with_vectors(workspace: Workspace, *encoders: str) -> Workspace:
    for name in encoders or ("descriptor:color", "descriptor:hog"):
        embed(workspace, name)
    return workspace


def with_labels(workspace: Workspace, queries: int = 20, each: int = 6) -> Workspace:
    """Labels of random pairs: similar where the category is the same and the number is even."""
    catalog, draw = workspace.catalog, np.random.default_rng(0)
    rows = draw.choice(len(catalog), queries, replace=False)
    pairs = [
        (a, b)
        for a in rows
        for b in draw.choice(len(catalog), each, replace=False)
        if catalog.item[a] != catalog.item[b]
    ]
    label = [int(catalog.category[a] == catalog.category[b] or (a + b) % 3 == 0) for a, b in pairs]
    ends = ([str(catalog.image[pair[end]]) for pair in pairs] for end in (0, 1))
    workspace.add_labels(Labels.of(*ends, label), "a file")
    return workspace
