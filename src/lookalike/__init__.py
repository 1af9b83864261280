"""Lookalike: build and evaluate visual-similarity search on your own catalog of images.

Select the pairs to label, compare encoders with incomplete labels, and search for distinct items. These functions
take and return immutable values and need no workspace. The command `lookalike` does the same on a workspace, and
`open_workspace` reads what it made.
Importing this package loads a part only when it is used.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if sys.version_info < (3, 11):  # noqa: UP036 - this file is all that an older Python reads
    sys.exit(
        "Lookalike needs Python 3.11 or later; this is Python %d.%d. "  # noqa: UP031 - for the oldest ones
        "Name a newer one, for example: python3.12 -m venv .venv" % sys.version_info[:2]
    )

from lookalike.core.version import __version__

if TYPE_CHECKING:
    from lookalike.api.exposure import audit_exposure
    from lookalike.api.finetune import finetune
    from lookalike.api.positiveness import Positiveness, positiveness
    from lookalike.api.sampled_values import draw_sample, estimate_sample
    from lookalike.api.significance import compare, intervals
    from lookalike.api.training_verdict import TrainedEmbeddings, training_verdict
    from lookalike.api.trust import audit_measures
    from lookalike.api.values import (
        embed,
        embeddings,
        find_items,
        make_pool,
        positive_rate,
        random_pairs,
        read_catalog,
        read_labels,
        score,
        score_ranks,
    )
    from lookalike.api.workspace import open_workspace, to_frame
    from lookalike.core.errors import LookalikeError
    from lookalike.core.types import Catalog, Embeddings, JudgedRanks, Labels, Pool, Rule, Score, Scores
    from lookalike.evaluate.significance.compare import Comparison
    from lookalike.evaluate.significance.intervals import Interval
    from lookalike.rank.judged import judged_ranks
    from lookalike.rank.runs import Run, rank_run
    from lookalike.store.formats.judged_files import read_judged_ranks, write_judged_ranks
    from lookalike.store.formats.runs import read_run


_HOME = {
    "LookalikeError": "core.errors",
    "Catalog": "core.types",
    "Comparison": "evaluate.significance.compare",
    "Embeddings": "core.types",
    "Interval": "evaluate.significance.intervals",
    "JudgedRanks": "core.types",
    "Labels": "core.types",
    "Pool": "core.types",
    "Positiveness": "api.positiveness",
    "Rule": "core.types",
    "Run": "rank.runs",
    "Score": "core.types",
    "Scores": "core.types",
    "judged_ranks": "rank.judged",
    "rank_run": "rank.runs",
    "read_run": "store.formats.runs",
    "read_judged_ranks": "store.formats.judged_files",
    "write_judged_ranks": "store.formats.judged_files",
    "score_ranks": "api.values",
    "read_catalog": "api.values",
    "make_pool": "api.values",
    "random_pairs": "api.values",
    "positive_rate": "api.values",
    "embed": "api.values",
    "embeddings": "api.values",
    "score": "api.values",
    "intervals": "api.significance",
    "compare": "api.significance",
    "read_labels": "api.values",
    "audit_measures": "api.trust",
    "audit_exposure": "api.exposure",
    "draw_sample": "api.sampled_values",
    "estimate_sample": "api.sampled_values",
    "positiveness": "api.positiveness",
    "find_items": "api.values",
    "finetune": "api.finetune",
    "TrainedEmbeddings": "api.training_verdict",
    "training_verdict": "api.training_verdict",
    "open_workspace": "api.workspace",
    "to_frame": "api.workspace",
}

__all__ = [  # noqa: RUF022 - types, then functions in the order of the work
    "Catalog",
    "Comparison",
    "Embeddings",
    "Interval",
    "JudgedRanks",
    "Labels",
    "LookalikeError",
    "Pool",
    "Positiveness",
    "Rule",
    "Run",
    "Score",
    "Scores",
    "TrainedEmbeddings",
    "__version__",
    "read_catalog",
    "embed",
    "embeddings",
    "make_pool",
    "random_pairs",
    "read_labels",
    "positive_rate",
    "score",
    "intervals",
    "compare",
    "judged_ranks",
    "read_run",
    "rank_run",
    "write_judged_ranks",
    "read_judged_ranks",
    "score_ranks",
    "audit_measures",
    "audit_exposure",
    "draw_sample",
    "estimate_sample",
    "positiveness",
    "find_items",
    "finetune",
    "training_verdict",
    "open_workspace",
    "to_frame",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'lookalike' has no attribute {name!r}")
    return getattr(import_module(f"lookalike.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
