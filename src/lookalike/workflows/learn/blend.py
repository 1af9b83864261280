"""`blend`: several encoders as one, with given weights or with those that labels of the training split give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.audit.training_verdict import TrainingVerdict
from lookalike.core.checks import fingerprint
from lookalike.core.errors import ArgumentError, LearningError
from lookalike.core.progress import Progress
from lookalike.core.types import Rule
from lookalike.encode.sources.blend import blend_files
from lookalike.encode.sources.checkpoint_file import BlendAbout
from lookalike.encode.spec import MODELS, check_name
from lookalike.learn.blend import BlendWeights, blend_weights
from lookalike.rank.engine.source import cosines
from lookalike.rank.pairs import JudgedPairs, judged_pairs
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.trained import seen_labels
from lookalike.workflows.decide.training_verdict import verdict_on
from lookalike.workflows.learn.made import identity_of, keep_encoder
from lookalike.workflows.learn.requirements import require_trainable

TRAINING = Rule(level="image", split="train")
NEGATIVE = "A blend is one vector, and its cosine cannot subtract the cosine of an encoder"


@dataclass(frozen=True)
class BlendedEncoder:
    """A blend: its encoders with their weights (sum 1), and those left out because their weight was negative.

    `labels` labelled pairs gave the weights, `positives` of them similar; 0 where the weights were given. The `verdict`
    compares it with `base`, the encoder that alone explains these pairs best; None where the weights were given.
    """

    encoder: str
    spec: str
    base: str
    weights: Mapping[str, float]
    dropped: tuple[str, ...]
    labels: int
    positives: int
    dimension: int
    verdict: TrainingVerdict | None
    folder: str


def blend(
    workspace: Workspace,
    encoders: Sequence[str],
    name: str,
    weights: Sequence[float] | None = None,
    *,
    replace: bool = False,
    progress: Progress | None = None,
) -> BlendedEncoder:
    """Make the encoder `name` of several, whose cosine is the weighted mean of theirs.

    A finished run with the same settings and data is not repeated: its weights are read, and the verdict is computed
    from the current labels of the test split.
    """
    spec = f"checkpoint:{MODELS}/{check_name(name)}"
    _require_several(encoders, weights)
    for encoder in encoders:
        require_trainable(workspace, encoder, name, spec, None, replace=replace)
        workspace.embeddings(encoder)  # refuses vectors of another state of the catalog
    labels = None if weights is not None else workspace.labels()
    pairs = None if labels is None else judged_pairs(workspace.catalog, labels, TRAINING)
    seen = "" if labels is None else seen_labels(workspace.catalog, labels)
    given = None
    if weights is not None:  # by name, since the order of the encoders makes no other blend
        by_name = sorted(zip(encoders, weights, strict=True))
        given = ", ".join(f"{encoder} {weight!r}" for encoder, weight in by_name)
    identity = {
        "command": "blend",
        "settings": {"weights": given},
        "labels": seen,
        "encoders": {encoder: identity_of(workspace, encoder) for encoder in encoders},
    }

    def files() -> Mapping[str, bytes]:
        found = (
            _given(weights)
            if pairs is None
            else blend_weights(_cosines(workspace, encoders, pairs), pairs.label)
        )
        best = int(np.where(found.weights > 0, found.alone, -np.inf).argmax())
        order = sorted(np.flatnonzero(found.weights).tolist(), key=lambda k: (k != best, -found.weights[k]))
        if len(order) == 1:
            raise LearningError(
                f"Only {encoders[best]} has a weight above 0. {NEGATIVE}.",
                fix=f"Use {encoders[best]}, or give the weights: --weights 1,1",
            )
        learned = (
            {}
            if pairs is None
            else {
                "labels": seen,
                "split": fingerprint(workspace.catalog.split),
                "vectors": f"{workspace.manifest(encoders[best]).sum:08x}",
                "pairs": len(pairs),
                "positives": int(pairs.label.sum()),
            }
        )
        bases = tuple(workspace.manifest(encoders[k]).origin for k in order)
        chosen = tuple(float(found.weights[k]) for k in order)
        return blend_files(BlendAbout(bases, chosen, learned))

    about = keep_encoder(workspace, name, identity, files, replace=replace, progress=progress)
    named = {workspace.manifest(encoder).spec: encoder for encoder in encoders}
    found = {named[one["encoder"]]: float(one["weight"]) for one in about["encoders"]}
    base = next(iter(found))
    return BlendedEncoder(
        encoder=name,
        spec=spec,
        base=base,
        weights=found,
        dropped=tuple(encoder for encoder in encoders if encoder not in found),
        labels=about["learned"].get("pairs", 0),
        positives=about["learned"].get("positives", 0),
        dimension=workspace.manifest(name).dimension,
        verdict=None if pairs is None else verdict_on(workspace, name, base),
        folder=str(workspace.folder / MODELS / name),
    )


def _require_several(encoders: Sequence[str], weights: Sequence[float] | None) -> None:
    if len(set(encoders)) != len(encoders) or len(encoders) < 2:
        raise ArgumentError(
            f"A blend needs two encoders or more, each once. Given: {', '.join(encoders)}.",
            fix="For example: lookalike blend color hog --name both",
        )
    if weights is None:
        return
    if len(weights) != len(encoders):
        raise ArgumentError(
            f"{len(weights)} weights are given for {len(encoders)} encoders.", fix="Give one weight for each."
        )
    wrong = [f"{weight:g}" for weight in weights if not 0 < weight < np.inf]
    if wrong:
        raise ArgumentError(
            f"The weight {wrong[0]} is not above 0. {NEGATIVE}.", fix="Leave out that encoder."
        )


def _given(weights: Sequence[float] | None) -> BlendWeights:
    chosen = np.array(weights, np.float64)
    return BlendWeights(chosen / chosen.sum(), (), chosen)


def _cosines(workspace: Workspace, encoders: Sequence[str], pairs: JudgedPairs) -> np.ndarray:
    """The cosine of every pair by every encoder: (pairs, encoders)."""
    rows = np.stack([pairs.query_row, pairs.code], axis=1)
    found = [cosines(workspace.catalog, workspace.embeddings(encoder), rows) for encoder in encoders]
    return np.stack(found, axis=1)
