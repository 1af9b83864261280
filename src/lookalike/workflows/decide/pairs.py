"""Which pairs `evaluate` measures on: labels of some queries, of the pool, of random pairs; or photos of one item."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np
from pydantic import Field

from lookalike.core.errors import ArgumentError, LabelsError
from lookalike.core.filters import Where
from lookalike.core.progress import Progress, part
from lookalike.core.settings import CheckedSettings
from lookalike.core.text import plural
from lookalike.core.types import LEVELS, Catalog, Embeddings, JudgedRanks, Level, Rule, Similarity, Split
from lookalike.discover.queries import rows_where
from lookalike.rank.identification import identification
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import JudgedPairs, judged_pairs
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.drawn_queries import without_sparse

Task = Literal["discovery", "identification"]
LabelSource = Literal["auto", "all", "pool", "random"]
# EDS Table 4 divides hits by min(K, R), but MRR by H_K: docs/reference/measures.md has the arithmetic
FOR_IDENTIFICATION = ("HR@5(of=possible)", "HR@9(of=possible)", "MRR@5", "MRR@9")


@dataclass(frozen=True, eq=False)
class RankedPairs:
    """The workspace's labels matched to its catalog once, and encoders ranked on them once, by name."""

    pairs: JudgedPairs
    ranks: Mapping[str, JudgedRanks]

    def of(self, encoders: Sequence[str]) -> list[JudgedRanks]:
        """The ranks of some encoders, of those that have any."""
        return [self.ranks[name] for name in encoders if name in self.ranks]


def rank_on_labels(
    workspace: Workspace, encoders: Sequence[str], *, progress: Progress | None = None
) -> RankedPairs:
    """Match all labels at item level, without those of `drawn_queries`, and rank some encoders on them."""
    catalog = workspace.catalog
    pairs, _ = without_sparse(workspace, judged_pairs(catalog, workspace.labels(), Rule()))
    ranks = {
        name: judged_ranks(
            catalog, workspace.embeddings(name), pairs, progress=part(progress, done, len(encoders))
        )
        for done, name in enumerate(encoders)
    }
    return RankedPairs(pairs, ranks)


@dataclass(frozen=True, eq=False)
class SelectedPairs:
    """Matched pairs, notes on what was left out, and how many labels are of the pool, random and others."""

    pairs: JudgedPairs
    notes: tuple[str, ...]
    counts: Mapping[str, int]


class EvaluationScope(CheckedSettings):
    """What `evaluate` ranks, how, and against which labels."""

    level: Literal[Level, "all"] = Field(
        Rule.level,
        description="What is ranked. item: distinct items; image: single images; paper: as in the EDS paper (lists of "
        "items with credit for the labelled photo only, pairs of images); all: every level side by side.",
    )
    similarity: Similarity = Field(Rule.similarity, description="How vectors are compared.")
    split: Split | None = Field(
        None,
        description="Use only queries and candidates of this split; without it all, or the test split if an encoder "
        "was trained on these labels.",
    )
    task: Task = Field(
        "discovery",
        description="discovery: measure against the labels. identification: find the other photos of the query's item, "
        "without labels.",
    )
    source: LabelSource = Field(
        "auto",
        description="Labels to measure on: all, those of the pool, or those of random pairs. auto: all but drawn pairs "
        "of queries with few labels.",
    )

    @property
    def rules(self) -> list[Rule]:
        """The rule of each level."""
        levels = LEVELS if self.level == "all" else (self.level,)
        return [Rule(level=one, similarity=self.similarity, split=self.split) for one in levels]


class SelectOptions(TypedDict, total=False):
    """Which pairs to measure on (see `select_pairs`)."""

    task: Task
    where: Where
    source: LabelSource


def select_pairs(
    workspace: Workspace,
    rule: Rule,
    *,
    task: Task = "discovery",
    where: Where = (),
    source: LabelSource = "auto",
) -> SelectedPairs:
    """The pairs to measure on; an error where there are none.

    `where` keeps the queries with certain values, such as [("domain", "wild")]. `source="pool"` leaves out labels of
    random pairs that no generator proposed, `"random"` keeps only the labels of random pairs, and `"auto"` leaves out
    drawn pairs of queries with few labels (see `drawn_queries`). A pair counts as
    of the pool or random by its query image and its item. For the task of identification the catalog itself
    defines what is positive, at image level with the own item kept (EDS 6.5).
    """
    if task == "identification":
        if source not in ("auto", "all"):
            raise ArgumentError(
                f"--source is {source!r}, but identification takes its pairs from the catalog, not from labels.",
                fix="Leave out one of --source and --task.",
            )
        return _identified(workspace.catalog, rule, where)
    labels = workspace.labels()
    if len(labels) == 0:
        raise LabelsError(
            "There are no labels yet, so there is nothing to measure against.",
            fix="Import some: lookalike labels import labels.csv (columns query, candidate, label)",
        )
    matched = judged_pairs(workspace.catalog, labels, rule)
    matched, left_out = without_sparse(workspace, matched) if source == "auto" else (matched, ())
    of_pool, of_random = _of(matched, workspace.catalog, workspace)
    counts = {
        "pool": int(of_pool.sum()),
        "random": int(of_random.sum()),
        "both": int((of_pool & of_random).sum()),
        "neither": int((~of_pool & ~of_random).sum()),
    }
    kept = {"pool": of_pool, "random": of_random}.get(source, np.ones(len(matched), bool))
    selected = _of_queries(matched, workspace.catalog, rule, where)
    notes = [*left_out]
    if source in ("pool", "random"):
        notes.append(
            f"Only labels of {'the pool' if source == 'pool' else 'random pairs'}: {int(kept.sum()):,} of "
            f"{len(matched):,} (pool {counts['pool']:,}, random {counts['random']:,}, of these both "
            f"{counts['both']:,}; neither {counts['neither']:,})."
        )
    if where:
        notes.append(f"Only queries with {_shown(where)}: {plural((kept & selected).sum(), 'label')}.")
    if len(matched) and not (kept & selected).any():
        raise LabelsError(
            f"The selection has none of the {plural(len(matched), 'label')} that can be ranked.",
            fix="Leave out --where or --source, or label some of those pairs.",
        )
    return SelectedPairs(matched.only(kept & selected), tuple(notes), counts)


def notes_on_negatives(pairs: JudgedPairs) -> tuple[str, ...]:
    """Which negatives were sampled, in words."""
    return tuple(
        f"negatives={one.how}: {one.drawn:,} drawn by seed {one.seed}, {one.n} a query"
        + (f", from ranks 100 to 500 of {', '.join(one.baselines)}" if one.baselines else " from the gallery")
        + (f"; {plural(one.short, 'query has', 'queries have')} fewer to draw from." if one.short else ".")
        for one in pairs.basis.negatives
    )


def baselines(workspace: Workspace, measured: Sequence[Embeddings]) -> list[Embeddings]:
    """Whose lists negatives are drawn from: the pool's generators that have vectors here, else who is measured."""
    pool, here = workspace.pool(), {one.encoder: one for one in measured}
    names = [] if pool is None else [name for name in pool.generators if name in workspace.encoders]
    return [here.get(name) or workspace.embeddings(name) for name in names] or list(measured)


def _identified(catalog: Catalog, rule: Rule, where: Where) -> SelectedPairs:
    found = identification(catalog, similarity=rule.similarity, split=rule.split)
    selected = _of_queries(found.pairs, catalog, rule, where)
    if not selected.any():
        raise LabelsError(
            f"No query with {_shown(where)} has another photo of its item to find.", fix="Leave out --where."
        )
    many = plural(found.queries, "query has", "queries have")
    left = f"{many} another photo of the item. Queries without one are left out: {found.alone:,}."
    notes = (left, f"Only queries with {_shown(where)}.") if where else (left,)
    return SelectedPairs(found.pairs.only(selected), notes, {"identification": len(found.pairs)})


def _of_queries(pairs: JudgedPairs, catalog: Catalog, rule: Rule, where: Where) -> np.ndarray:
    if not where:
        return np.ones(len(pairs), dtype=bool)
    return np.isin(pairs.query_row, rows_where(catalog, where, rule.split))


def _of(pairs: JudgedPairs, catalog: Catalog, workspace: Workspace) -> tuple[np.ndarray, np.ndarray]:
    """Which pairs the pool has, and which were drawn at random, by query image and item."""
    item = pairs.candidate if pairs.basis.rule.level == "item" else catalog.item[pairs.code]
    pool, drawn = workspace.pool(), workspace.random_pairs()
    pooled = set() if pool is None else set(zip(pool.query, pool.item, strict=True))
    random = set(zip(drawn.query, drawn.item, strict=True))
    ends = list(zip(pairs.query, item, strict=True))
    return (
        np.array([pair in pooled for pair in ends], dtype=bool),
        np.array([pair in random for pair in ends], dtype=bool),
    )


def _shown(where: Where) -> str:
    return " and ".join(f"{column}={value}" for column, value in where)
