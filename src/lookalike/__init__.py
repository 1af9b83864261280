"""Lookalike: visual-similarity search on your own catalog of images.

Which pairs should experts label, which model is better when most pairs were never labelled, and a search that
returns distinct items. The functions here work on frozen values and need no workspace; the command
`lookalike` does the same on a workspace. Importing this package loads none of its parts until one is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lookalike.core.errors import LookalikeError
    from lookalike.core.types import Catalog, Embeddings, JudgedRanks, Labels, Pool, Rule, Score, Scores
    from lookalike.evaluate.compare import Comparison
    from lookalike.evaluate.intervals import Interval
    from lookalike.rank.judged import judged_ranks
    from lookalike.rank.runs import Run, rank_run
    from lookalike.recipes.finetune_values import finetune
    from lookalike.recipes.positiveness import Positiveness, positiveness
    from lookalike.recipes.settle import settle_encoders
    from lookalike.recipes.significance import compare, intervals
    from lookalike.recipes.trust import audit_measures
    from lookalike.recipes.values import (
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
    from lookalike.store.judged_files import read_judged_ranks, write_judged_ranks
    from lookalike.store.runs import read_run

__version__ = "0.1.0"

_HOME = {
    "LookalikeError": "core.errors",
    "Catalog": "core.types",
    "Comparison": "evaluate.compare",
    "Embeddings": "core.types",
    "Interval": "evaluate.intervals",
    "JudgedRanks": "core.types",
    "Labels": "core.types",
    "Pool": "core.types",
    "Positiveness": "recipes.positiveness",
    "Rule": "core.types",
    "Run": "rank.runs",
    "Score": "core.types",
    "Scores": "core.types",
    "judged_ranks": "rank.judged",
    "rank_run": "rank.runs",
    "read_run": "store.runs",
    "read_judged_ranks": "store.judged_files",
    "write_judged_ranks": "store.judged_files",
    "score_ranks": "recipes.values",
    "read_catalog": "recipes.values",
    "make_pool": "recipes.values",
    "random_pairs": "recipes.values",
    "positive_rate": "recipes.values",
    "embed": "recipes.values",
    "embeddings": "recipes.values",
    "score": "recipes.values",
    "intervals": "recipes.significance",
    "compare": "recipes.significance",
    "read_labels": "recipes.values",
    "audit_measures": "recipes.trust",
    "settle_encoders": "recipes.settle",
    "positiveness": "recipes.positiveness",
    "find_items": "recipes.values",
    "finetune": "recipes.finetune_values",
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
    "settle_encoders",
    "positiveness",
    "find_items",
    "finetune",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'lookalike' has no attribute {name!r}")
    return getattr(import_module(f"lookalike.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
