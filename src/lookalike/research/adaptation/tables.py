"""ADAPT's table and figures from a workspace: its pairs of left and right images, and its encoders."""

from collections.abc import Mapping, Sequence

import numpy as np

from lookalike.core.errors import LabelsError
from lookalike.core.progress import Progress
from lookalike.learn.similar_pairs import SimilarPairs, similar_pairs
from lookalike.positive.graph import label_graph
from lookalike.research.adaptation.protocol import KS, SIGMAS, AdaptationProtocol
from lookalike.research.adaptation.repeats import PairedVectors, run_repeats
from lookalike.research.papers.computed import ComputedFigure, ComputedRow, ComputedTable
from lookalike.store.journal import Entry, Journal
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.trained import untrained

JOURNAL = "reproduce/adaptation.jsonl"
SUBSET, OBJECTS = "subset", "objects"  # the pairs of TLL_obj.csv, where a catalog has others too
BEFORE, CHOSEN, FIXED = "before", "chosen", "fixed"
Curves = Mapping[str, np.ndarray]  # (repeats, KS) by what was done


def pairs_of(workspace: Workspace) -> SimilarPairs:
    """The pairs labelled similar in which each image is in one pair only. LabelsError: there are fewer than 8."""
    catalog, labels = workspace.catalog, workspace.labels()
    pairs = similar_pairs(catalog, labels, label_graph(catalog, labels, split=None), None)
    times = np.bincount(np.concatenate([pairs.left, pairs.right]), minlength=len(catalog))
    kept = (times[pairs.left] == 1) & (times[pairs.right] == 1)
    if SUBSET in catalog.columns:
        kept &= catalog.columns[SUBSET][pairs.left] == OBJECTS
    if kept.sum() < 8:
        raise LabelsError(
            f"The workspace has {int(kept.sum()):,} similar pairs whose images are in no other pair; 8 are needed.",
            fix="Use a catalog of left and right images, for example lookalike init tll:DIR.",
        )
    return pairs.take(np.flatnonzero(kept))


def repeats_of(
    workspace: Workspace, protocol: AdaptationProtocol, progress: Progress | None
) -> tuple[SimilarPairs, dict[str, list[Entry]]]:
    """The pairs, and the entries of every encoder that is not trained on this workspace's labels."""
    pairs, given = pairs_of(workspace), []
    for name in untrained(workspace):
        vectors = workspace.embeddings(name).vectors
        left, right = (np.asarray(vectors[rows], np.float32) for rows in (pairs.left, pairs.right))
        given.append(PairedVectors(name, left, right))
    return pairs, run_repeats(given, protocol, Journal(workspace.folder / JOURNAL), progress)


def adaptation_table(found: Mapping[str, Sequence[Entry]], remarks: Sequence[str] = ()) -> ComputedTable:
    """ADAPT Table 1: each encoder with its epochs chosen by bootstrap, and below it with all epochs."""
    rows = []
    for name, entries in found.items():
        before = [_mean(curves_of(entries, kind)[:, 0]) for kind in ("concatenated", "pca")]
        after = {
            kind: tuple(_mean(curves_of(entries, kind, sigma)[:, 0]) for sigma in SIGMAS)
            for kind in (CHOSEN, FIXED)
        }
        share = ComputedFigure(float(np.mean([entry["share"] for entry in entries])), n=len(entries))
        size = ComputedFigure(float(entries[0]["features"]))
        rows.append(ComputedRow((name,), (size, share, *before, *after[CHOSEN])))
        rows.append(ComputedRow((f"{name}, all epochs",), (None, None, None, None, *after[FIXED])))
    return ComputedTable(
        columns=(
            "Concatenated size",
            "PCA variance sum",
            "Concatenated",
            "PCA",
            *(f"sigma = {sigma:g}" for sigma in SIGMAS),
        ),
        decimals=(0, 4, 4, 4, 4, 4),
        rows=tuple(rows),
        remarks=tuple(remarks),
    )


def curve_rows(found: Mapping[str, Sequence[Entry]], remarks: Sequence[str] = ()) -> ComputedTable:
    """ADAPT Figure 3 as numbers: aR@k with one standard deviation, before and after adaptation with sigma 15."""
    return ComputedTable(
        columns=tuple(f"aR@{k}" for k in KS),
        decimals=(4,) * len(KS),
        rows=tuple(
            ComputedRow((name, kind), tuple(map(_mean, curves.T)))
            for name, entries in found.items()
            for kind, curves in before_and_after(entries).items()
        ),
        remarks=tuple(remarks),
    )


def before_and_after(entries: Sequence[Entry]) -> Curves:
    """The two curves of Figure 3: the concatenated features, and adapted with sigma 15."""
    return {
        BEFORE: curves_of(entries, "concatenated"),
        "adapted": curves_of(entries, CHOSEN, SIGMAS[-1]),
    }


def curves_of(entries: Sequence[Entry], kind: str, sigma: float | None = None) -> np.ndarray:
    """aR@k of every repeat (repeats, KS)."""
    of = [entry if sigma is None else entry["adapted"][f"{sigma:g}"] for entry in entries]
    return np.array([one[kind] for one in of], np.float64)


def summary(pairs: int, found: Mapping[str, Sequence[Entry]], protocol: AdaptationProtocol) -> str:
    """What was measured, and how the number of epochs was chosen."""
    first = next(iter(found.values()))[0] if found else {"pairs": [0, 0]}
    epochs = [
        entry["adapted"][f"{sigma:g}"]["epochs"] for of in found.values() for entry in of for sigma in SIGMAS
    ]
    span = f"{min(epochs)} to {max(epochs)}" if epochs else "no"
    return (
        f"{pairs:,} pairs: {first['pairs'][0]:,} train, {first['pairs'][1]:,} test, {protocol.repeats} splits, mean "
        f"and one standard deviation over splits. {protocol.resamples} resamples of the training pairs chose {span} of "
        f"at most {protocol.epochs} epochs."
    )


def _mean(values: np.ndarray) -> ComputedFigure:
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    return ComputedFigure(float(values.mean()), spread, len(values))
