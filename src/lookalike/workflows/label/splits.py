"""Splits drawn from the pool, before the first label: so that most labels have both photos in one split."""

from dataclasses import replace
from typing import Literal

import numpy as np

from lookalike.catalog.duplicates.groups import kept_together
from lookalike.core.errors import PoolError
from lookalike.core.text import plural, quoted
from lookalike.core.types import Pool
from lookalike.discover.random_pairs import RandomPairs
from lookalike.discover.splitting import splits_of_pool
from lookalike.store.sql.pools import PooledPairs
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.trained import trained

SplitsOfPairs = Literal["across", "within", "from-pool"]


def require_drawable(workspace: Workspace) -> None:
    """Refuse to draw splits once a label or a trained encoder exists: the test split could get photos it has seen."""
    labels, encoders = workspace.label_count(), trained(workspace)
    if labels or encoders:
        there = plural(labels, "label") if labels else f"the trained encoder {quoted(encoders)}"
        raise PoolError(
            f"The splits cannot be drawn from the pool any more: the workspace has {there}.",
            fix="Keep the splits, and choose new pairs within them: lookalike discover --splits within --overwrite",
        )


def draw_splits(workspace: Workspace, pool: Pool, drawn: RandomPairs) -> None:
    """Draw the splits of the catalog from its pool, and record the encoders that it is from in the settings."""
    with workspace.changing_catalog("discover --splits from-pool"):
        require_drawable(workspace)
        catalog, settings = workspace.catalog, workspace.settings
        together = kept_together(catalog.item, np.arange(len(catalog)), catalog.duplicate)
        split = splits_of_pool(catalog, pool, together, settings.seed)
        settings = replace(settings, split_by=pool.generators)
        pairs = {workspace.pool_name: PooledPairs(pool, drawn)}
        workspace.change_catalog(replace(catalog, split=split), settings, pairs)
