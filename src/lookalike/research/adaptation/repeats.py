"""Repeated splits of pairs: aR@k of an encoder's vectors, of their principal components, and after adaptation.

vectors = PairedVectors("dino", left, right)
entries = run_repeats([vectors], AdaptationProtocol(), journal)["dino"]
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float32

from lookalike.core.checks import fingerprint
from lookalike.core.errors import ArgumentError
from lookalike.core.progress import Progress, part
from lookalike.encode.heads.adaptation import Adapter
from lookalike.encode.heads.head import apply_head
from lookalike.evaluate.measures.asymmetric_recall import recall_curve
from lookalike.learn.bootstrap import HeldOutPairs, bootstrap_epochs
from lookalike.learn.components import fit_components
from lookalike.learn.examples import Cached
from lookalike.learn.finetune import finetune
from lookalike.learn.keeper import Unkept
from lookalike.learn.settings import ADAPTED, COMPONENTS, TrainingSettings
from lookalike.learn.similar_pairs import PairExamples, SimilarPairs
from lookalike.positive.graph import Graph, neighbours
from lookalike.research.adaptation.protocol import KS, SIGMAS, AdaptationProtocol
from lookalike.store.journal import Entry, Journal

TRAINING_SHARE = 0.75
_VERSION = 1  # of what an entry holds


@dataclass(frozen=True, eq=False)
class PairedVectors:
    """An encoder's vectors of left and right images: row i of both is a pair. ArgumentError: other shapes."""

    encoder: str
    left: Float32[np.ndarray, "pairs features"]
    right: Float32[np.ndarray, "pairs features"]

    def __post_init__(self) -> None:
        if self.left.shape != self.right.shape or len(self.left) < 8:
            raise ArgumentError(
                f"{self.encoder}: {len(self.left):,} left and {len(self.right):,} right vectors.",
                fix="Give one left and one right image for each of at least 8 pairs, from one encoder.",
            )


class PreparedSplit(NamedTuple):
    """One split of the pairs. Rows of the vectors are the left images, then the right ones.

    The principal components are those of both images of the training pairs.
    """

    train: SimilarPairs
    test: SimilarPairs
    vectors: Float32[np.ndarray, "images features"]
    components: Float32[np.ndarray, "images components"]
    share: float


def run_repeats(
    encoders: Sequence[PairedVectors],
    protocol: AdaptationProtocol,
    journal: Journal,
    progress: Progress | None = None,
) -> dict[str, list[Entry]]:
    """The entries of every encoder in order of the repeats; those that the journal has are not run again."""
    found: dict[str, list[Entry]] = {one.encoder: [] for one in encoders}
    for at, vectors in enumerate(encoders):
        data = fingerprint([vectors.left.tobytes(), vectors.right.tobytes()])
        for repeat in range(protocol.repeats):
            which = protocol.changed(repeats=1).as_values()
            key = fingerprint([_VERSION, data, repeat, which])
            entry = journal.get(key)
            if entry is None:
                done = part(progress, at * protocol.repeats + repeat, len(encoders) * protocol.repeats)
                entry = {"key": key, "repeat": repeat, **one_repeat(vectors, repeat, protocol, done)}
                journal.add(entry)
            found[vectors.encoder].append(entry)
    return found


def one_repeat(
    vectors: PairedVectors, repeat: int, protocol: AdaptationProtocol, progress: Progress | None = None
) -> dict[str, Any]:
    """aR@k at `KS` on the test pairs: before, and for each sigma after the chosen and after all epochs."""
    split = prepared(vectors, repeat, protocol)
    found = {
        "features": split.vectors.shape[1],
        "pairs": [len(split.train), len(split.test)],
        "share": split.share,
        "concatenated": curve_of(split.vectors, split.test),
        "pca": curve_of(split.components, split.test),
        "adapted": {},
    }
    for at, sigma in enumerate(SIGMAS):
        settings = settings_of(protocol, repeat, sigma)
        inputs = Cached([split.components], CPU)
        chosen = bootstrap_epochs(
            lambda seed: new_adapter(split, seed),
            split.train,
            inputs,
            settings,
            Unkept(),
            CPU,
            part(progress, at, len(SIGMAS)),
        )
        curves: list[list[float]] = []
        adapted(split, settings, curves)
        found["adapted"][f"{sigma:g}"] = {
            "epochs": chosen.epochs,
            "out_of_bag": chosen.recall,
            "chosen": curves[chosen.epochs - 1],
            "fixed": curves[-1],
        }
    return found


CPU = torch.device("cpu")  # so that a journal is the same wherever it is continued


def prepared(vectors: PairedVectors, repeat: int, protocol: AdaptationProtocol) -> PreparedSplit:
    """The split of a repeat: 75% of the pairs train."""
    n = len(vectors.left)
    order = np.random.default_rng((protocol.seed, repeat)).permutation(n)
    at, every = np.arange(n), np.concatenate([vectors.left, vectors.right])
    none = np.empty(0, np.int64)
    graph = Graph(np.arange(2 * n), neighbours(at, at + n, 2 * n), neighbours(none, none, 2 * n), ())
    pairs = SimilarPairs(at, at + n, graph)
    train, test = (pairs.take(np.sort(some)) for some in np.split(order, [round(TRAINING_SHARE * n)]))
    fitted = fit_components(every, np.concatenate([train.left, train.right]), COMPONENTS)
    return PreparedSplit(train, test, every, apply_head(fitted.head, every), fitted.share)


def settings_of(protocol: AdaptationProtocol, repeat: int, sigma: float) -> TrainingSettings:
    """The settings of one head."""
    return TrainingSettings(
        loss="symmetric",
        sigma=sigma,
        epochs=protocol.epochs,
        resamples=protocol.resamples,
        seed=protocol.seed * 10_000 + repeat,
        keep="last",
    )


def new_adapter(split: PreparedSplit, seed: int) -> Adapter:
    """An untrained matrix for the components of a split."""
    return Adapter(split.components.shape[1], ADAPTED).seed(seed)


def adapted(
    split: PreparedSplit, settings: TrainingSettings, curves: list[list[float]] | None = None
) -> Float32[np.ndarray, "images adapted"]:
    """Every image's vector after the last epoch; the test pairs' recall after each epoch is added to `curves`."""
    inputs = Cached([split.components], CPU)
    model, held_out = new_adapter(split, settings.seed), HeldOutPairs(split.test, inputs, CPU)

    def watch(model: torch.nn.Module) -> float:
        curve = recall_curve(held_out.places(model), KS)
        if curves is not None:
            curves.append(curve)
        return curve[0]

    finetune(model, PairExamples(split.train, inputs, settings.seed, CPU), settings, watch, Unkept())
    with torch.inference_mode():
        return np.asarray(model(torch.from_numpy(split.components)).numpy())


def curve_of(vectors: Float32[np.ndarray, "images _"], pairs: SimilarPairs) -> list[float]:
    """aR@k at `KS` of vectors as they are."""
    return recall_curve(HeldOutPairs(pairs, Cached([vectors], CPU), CPU).places(torch.nn.Identity()), KS)
