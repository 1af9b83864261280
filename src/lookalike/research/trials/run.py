"""Repeated trials: does learning from these labels make an encoder better on this catalog, and which way of learning?

ground = Ground("mine", catalog, features, labels, truth)
entries = run_trials(ground, [Trial(split, settings) for split in range(50) for settings in ways], journal)
"""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32
from torch import nn

from lookalike.catalog.split import assign_splits
from lookalike.core.checks import fingerprint
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Embeddings, Labels, Rule
from lookalike.encode.heads.two_layers import ProjectionHead, ResidualHead
from lookalike.evaluate.measures.table import parse
from lookalike.learn.batches import BatchPlan, anchors
from lookalike.learn.examples import Cached, Examples
from lookalike.learn.finetune import better, finetune
from lookalike.learn.keeper import Unkept
from lookalike.learn.request import TrainingRequest
from lookalike.learn.settings import PROJECTION, TrainingSettings
from lookalike.learn.validation import encode
from lookalike.positive.graph import Graph, label_graph
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import JudgedPairs, judged_pairs
from lookalike.store.journal import Entry, Journal

MEASURES = ("AUC_mic", "AUC_mac", "HR@5", "EHR@5", "DCS(alpha=10)")
PRETRAINED, LAST = "pretrained", "last"
TRUTH, LABELS, WILD = "truth", "labels", "wild"
_VERSION = 2  # of what an entry holds


@dataclass(frozen=True, eq=False)
class WildQueries:
    """Photos of another style that are queries only: their vectors, and the true label of every pair.

    They are the last rows of `catalog`, after the images of the ground. A photo belongs to the item that it shows, so
    its item is no candidate.
    """

    catalog: Catalog
    features: Float32[np.ndarray, "wild features"]
    truth: Labels


@dataclass(frozen=True, eq=False)
class Ground:
    """What trials use: a catalog, an encoder's vectors of it, labels to learn from, labels to score on.

    `labels` train and choose the checkpoint. `truth` scores the test split; where it is complete, so is the answer.
    """

    name: str
    catalog: Catalog
    features: Float32[np.ndarray, "images features"]
    labels: Labels
    truth: Labels
    wild: WildQueries | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Equal exactly when everything but the name is."""
        return fingerprint(
            [self.catalog.fingerprint, self.features.shape, _bytes(self.features)],
            [_digest(self.labels), _digest(self.truth)],
            [] if self.wild is None else [_bytes(self.wild.features), _digest(self.wild.truth)],
        )


@dataclass(frozen=True)
class Trial:
    """One run on one split of the catalog, drawn by the seed `split`; the head and its batches take that seed too.

    `choosers` are measures on the validation split's labels, each of which chooses an epoch of the same run beside the
    settings' own, to compare the choices. A `projection` of 0 is a residual head.
    """

    split: int
    settings: TrainingSettings
    projection: int = PROJECTION
    choosers: tuple[str, ...] = ()
    measures: tuple[str, ...] = MEASURES

    def key(self, ground: Ground) -> str:
        """Equal exactly when the outcome must be."""
        settings = self.settings.changed(seed=0).as_values()  # the split's is taken
        del settings["keep"]  # a trial scores every choice of an epoch
        ours = (settings, self.projection, self.choosers, self.measures)
        return fingerprint([_VERSION, ground.fingerprint, self.split, *ours])


def method_name(settings: TrainingSettings) -> str:
    """What a table calls a way of learning.

    >>> [method_name(TrainingSettings(positives=kind)) for kind in ("labels", "soft", "full")]
    ['SupCon', 'SupCon SPA', 'SupCon NSPA']
    """
    name = {"supcon": "SupCon", "con": "Con", "trpl": "TRPL"}[settings.loss]
    if settings.soft is None:
        return name
    return f"{name} SPA" if settings.soft.beta else f"{name} NSPA"


def run_trials(
    ground: Ground, trials: Iterable[Trial], journal: Journal, progress: Progress | None = None
) -> list[Entry]:
    """The entries of all trials, in their order; those that the journal has are not run again.

    Trials of one split are best given together: what they share is made once.
    """
    listed = list(trials)
    divided: Divided | None = None
    found = []
    for done, trial in enumerate(listed):
        key = trial.key(ground)
        entry = journal.get(key)
        if entry is None:
            if divided is None or divided.split != trial.split:
                divided = Divided(ground, trial.split)
            entry = {"key": key, **run_trial(divided, trial)}
            journal.add(entry)
        found.append(entry)
        if progress is not None:
            progress(done + 1, len(listed))
    return found


class Divided:
    """A ground under one split (60:15:25, whole items), and what every trial on it needs."""

    def __init__(self, ground: Ground, split: int) -> None:
        self.ground, self.split = ground, split
        self.catalog = replace(ground.catalog, split=assign_splits(ground.catalog.item, seed=split))
        self.graph: Graph = label_graph(self.catalog, ground.labels, nodes=TrainingRequest().nodes)
        self.part = {name: _Part(self.catalog, ground, name) for name in ("validation", "test")}
        self.wild = None if ground.wild is None else _WildPart(self.catalog, ground.wild)
        self._scores: dict[tuple[str, ...], dict[str, Any]] = {}

    def size(self, name: str) -> int:
        """How many images a split has."""
        return int(np.count_nonzero(self.catalog.split == name))

    @property
    def tested(self) -> Float32[np.ndarray, "images features"]:
        """The features that are scored: of the test split, then of the wild photos of its items."""
        test = self.part["test"].features
        return test if self.wild is None else np.concatenate([test, self.wild.features])

    def scores(self, vectors: np.ndarray, measures: tuple[str, ...]) -> dict[str, dict[str, float]]:
        """Measures of vectors of `tested`: the test split on the truth and on the labels, wild photos on the truth."""
        part = self.part["test"]
        shop = vectors[: len(part.features)]
        found = {
            TRUTH: part.values(shop, part.truth, measures),
            LABELS: part.values(shop, part.labels, measures),
        }
        if self.wild is not None:
            found[WILD] = _values(self.wild.inside, vectors, self.wild.truth, measures)
        return found

    def pretrained(self, measures: tuple[str, ...]) -> dict[str, Any]:
        """The same of the encoder's own vectors."""
        if measures not in self._scores:
            self._scores[measures] = self.scores(self.tested, measures)
        return self._scores[measures]


class _Part:
    """One split by itself: its images, its labels, its truth; queries and candidates are of the split."""

    def __init__(self, catalog: Catalog, ground: Ground, name: str) -> None:
        rows = np.flatnonzero(catalog.split == name)
        self.inside = catalog.take(rows)
        self.features = np.array(ground.features[rows], np.float32)
        self.labels = judged_pairs(self.inside, _among(ground.labels, self.inside), Rule())
        self.truth = judged_pairs(self.inside, _among(ground.truth, self.inside), Rule())

    def values(self, vectors: np.ndarray, pairs: JudgedPairs, measures: Iterable[str]) -> dict[str, float]:
        """Measures of vectors of the split's images; NaN where there is no pair."""
        return _values(self.inside, vectors, pairs, measures)


class _WildPart:
    """The test split's images as candidates, and the wild photos of its items as queries."""

    def __init__(self, divided: Catalog, wild: WildQueries) -> None:
        split = dict(zip(divided.item, divided.split, strict=True))
        is_test = np.array([split[item] == "test" for item in wild.catalog.item])
        self.inside = wild.catalog.take(np.flatnonzero(is_test))
        self.features = np.array(wild.features[is_test[len(divided) :]], np.float32)
        self.truth = judged_pairs(self.inside, _among(wild.truth, self.inside), Rule())


def _values(
    inside: Catalog, vectors: np.ndarray, pairs: JudgedPairs, measures: Iterable[str]
) -> dict[str, float]:
    if not len(pairs):
        return dict.fromkeys(measures, math.nan)
    ranks = judged_ranks(inside, Embeddings("made", inside.image, vectors), pairs)
    return {name: float(parse(name)(ranks).value) for name in measures}


def run_trial(divided: Divided, trial: Trial) -> dict[str, Any]:
    """Train a head on one split and score it: what a journal keeps of a trial, without its key.

    A trial that stopped has no last epoch, and NaN there; so has a chooser where no epoch was done before.
    """
    ground, settings = divided.ground, trial.settings.changed(seed=trial.split)
    here = torch.device("cpu")
    around = anchors(divided.graph, np.flatnonzero(divided.catalog.split == "train"))
    views = Cached([ground.features], here)
    examples = Examples(around, BatchPlan(settings.batch), settings.soft, views, settings.seed, here)
    size = ground.features.shape[1]
    kind = ProjectionHead if trial.projection else ResidualHead
    head = kind.seeded(size, trial.projection or size, seed=settings.seed)
    watch = _Watch(divided, tuple(dict.fromkeys((settings.measure, *trial.choosers))))
    run = finetune(head, examples, settings, watch, Unkept())
    undefined = {on: dict.fromkeys(trial.measures, math.nan) for on in divided.pretrained(trial.measures)}
    made = dict.fromkeys((*watch.choosers, LAST), undefined)
    for name, vectors in watch.chosen(None if run.stopped else head):
        made[name] = divided.scores(vectors, trial.measures)
    return {
        "ground": ground.name,
        "split": trial.split,
        "method": method_name(settings),
        "settings": settings.as_values(),
        "projection": trial.projection,
        "sizes": {name: divided.size(name) for name in ("train", "validation", "test")},
        "values": {PRETRAINED: divided.pretrained(trial.measures), **made},
        "best": {name: one.epoch for name, one in watch.best.items()},
        "validation": {name: one.value for name, one in watch.best.items()},
        "positives": run.history[-1].positives if run.history else 0,
        "negatives": run.history[-1].negatives if run.history else 0,
        "stopped": run.stopped,
    }


@dataclass
class _Best:
    value: float
    epoch: int
    vectors: np.ndarray


class _Watch:
    """After each epoch: measures of the validation split, and the test split's vectors wherever one of them is best."""

    def __init__(self, divided: Divided, choosers: tuple[str, ...]) -> None:
        self.part, self.test = divided.part["validation"], divided.tested
        self.choosers, self.epoch = choosers, 0
        self.best: dict[str, _Best] = {}

    def __call__(self, model: nn.Module) -> float:
        self.epoch += 1
        values = self.part.values(encode(model, self.part.features), self.part.labels, self.choosers)
        found = [name for name, value in values.items() if better(value, self._before(name))]
        if found:
            vectors = encode(model, self.test)
            self.best |= {name: _Best(values[name], self.epoch, vectors) for name in found}
        return values[self.choosers[0]]

    def chosen(self, model: nn.Module | None) -> Iterator[tuple[str, np.ndarray]]:
        """The test split's vectors at each chooser's epoch, and at the last one if there is a model of it."""
        for name, one in self.best.items():
            yield name, one.vectors
        if model is not None:
            yield LAST, encode(model, self.test)

    def _before(self, name: str) -> float:
        return self.best[name].value if name in self.best else math.nan


def _among(labels: Labels, inside: Catalog) -> Labels:
    """The labels whose two images are there; matching a catalog's complete truth takes longer than a trial."""
    there = inside.row
    keep = np.fromiter(
        (a in there and b in there for a, b in zip(labels.query, labels.candidate, strict=True)),
        bool,
        len(labels),
    )
    return Labels(labels.query[keep], labels.candidate[keep], labels.label[keep])


def _bytes(features: np.ndarray) -> str:
    return sha256(np.ascontiguousarray(features, np.float32).tobytes()).hexdigest()


def _digest(labels: Labels) -> str:
    columns = [column.tolist() for column in (labels.query, labels.candidate, labels.label)]
    return sha256(json.dumps(columns).encode()).hexdigest()
