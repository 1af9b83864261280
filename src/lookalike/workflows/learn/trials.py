"""The trials of a study: each trains with settings of its own, is measured, and keeps no model."""

import math
import os
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from optuna.exceptions import TrialPruned
from optuna.pruners import MedianPruner
from optuna.samplers import TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

from lookalike.api.training import Material, chosen_device, material
from lookalike.core.checks import fingerprint
from lookalike.core.cores import cores
from lookalike.core.errors import LearningError
from lookalike.core.json import to_json
from lookalike.encode.inputs.workers import belong_to
from lookalike.learn.epoch import Epoch
from lookalike.learn.keeper import Unkept
from lookalike.learn.networks.processes import ALONE
from lookalike.learn.request import TrainingRequest
from lookalike.learn.tuning import SettingRange
from lookalike.store.studies import (
    WORKER,
    Place,
    draw_of,
    opened_study,
    quiet,
    unknown_hosts,
    worker,
)
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn.finetune import TrainingCallbacks, identity, prepared_training

SETTINGS, REASON = "settings", "reason"  # attributes of a trial: what it trained with, why it has no value
SURPLUS = "there are enough trials"
WARM_UP = 1 / 3  # of the epochs, in which no trial is stopped
POLL = 1.0  # seconds between two looks at the trials of other processes
COUNTED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.RUNNING)


@dataclass(frozen=True)
class TuningTask:
    """What a worker needs to take part in a study: the request, and the ranges of the settings that are tuned."""

    folder: Path
    encoder: str
    request: TrainingRequest
    ranges: tuple[SettingRange, ...]
    device: str
    place: Place
    trials: int


@dataclass(frozen=True, eq=False)
class Tuning:
    """A task with its data. `about` is everything that the value of a trial depends on, apart from what is tuned."""

    task: TuningTask
    workspace: Workspace
    given: Material
    about: Mapping[str, Any]

    @classmethod
    def opened(cls, task: TuningTask, workspace: Workspace) -> "Tuning":
        """Read the data. Raises LabelsError if no label can be used."""
        manifest, labels = workspace.manifest(task.encoder), workspace.labels()
        vectors = workspace.embeddings(task.encoder).vectors
        given = material(workspace.catalog, labels, vectors, task.request)
        graph = None if given.around is None else given.around.graph
        about = identity(workspace, manifest, labels, graph, task.request)
        tuned = [one.name for one in task.ranges]
        about |= {
            "settings": {name: one for name, one in about["settings"].items() if name not in tuned},
            "ranges": [str(one) for one in task.ranges],
        }
        del about["plan"]  # it follows from the settings
        return cls(task, workspace, given, about)

    @property
    def study(self) -> str:
        """The name of the study: another one where the value of a trial could be another."""
        return f"{self.task.encoder}-{fingerprint([to_json(self.about)])}"

    def training(self, request: TrainingRequest, device: torch.device) -> Callable[..., Any]:
        """The training of a trial, when all that it needs is there."""
        callbacks = TrainingCallbacks()
        return prepared_training(
            self.workspace, self.task.encoder, self.given, request, device, callbacks, ALONE
        )


class _SurplusError(Exception):
    """Another worker was faster, so there are enough trials."""


def counted(study: Study) -> list[FrozenTrial]:
    """The trials that are finished or running; not those that failed with their worker or may have."""
    unknown = unknown_hosts(study)
    return [one for one in study.get_trials(deepcopy=False, states=COUNTED) if one.number not in unknown]


def run_trials(
    tuning: Tuning, study: Study, device: torch.device, watch: Callable[[], None] | None = None
) -> None:
    """Run trials until the study has enough of them; `watch` is called after each epoch and each trial.

    TPE with the defaults of Optuna before version 5, as in the papers: each setting by itself, and no guesses for
    running trials. The draws of a trial depend on the seed and its number, so that one worker repeats.

    A trial is stopped if its best value so far is below the median of others at the same epoch, after a third of the
    epochs, since the rate falls by a cosine and the first epochs tell little. Hyperband, which Optuna recommends with
    TPE, needs some 40 trials for its brackets.
    """
    task = tuning.task

    def tried(trial: Trial) -> float:
        trial.set_user_attr(WORKER, worker())
        before = sum(one.number < trial.number for one in counted(study))
        if before >= task.trials:
            trial.set_user_attr(REASON, SURPLUS)
            raise _SurplusError
        seed = np.random.SeedSequence((task.request.seed, draw_of(study, trial.number)))
        study.sampler = TPESampler(
            seed=int(seed.generate_state(1)[0]), multivariate=False, constant_liar=False
        )
        settings = {one.name: one.rounded(_drawn(trial, one)) for one in task.ranges}
        trial.set_user_attr(SETTINGS, settings)

        def record(epoch: Epoch) -> None:
            if not math.isnan(epoch.value):
                trial.report(epoch.value, epoch.number)
            if watch is not None:
                watch()
            if trial.should_prune():
                raise TrialPruned

        trained = tuning.training(task.request.changed(**settings), device)(Unkept(), record)
        value = math.nan if trained.best is None else trained.best.value
        reason = trained.run.stopped or (f"{task.request.measure} is undefined" if math.isnan(value) else "")
        if reason:
            trial.set_user_attr(REASON, reason)
            raise TrialPruned
        return value

    study.pruner = MedianPruner(n_warmup_steps=math.ceil(WARM_UP * task.request.epochs))
    with quiet():
        while len(counted(study)) < task.trials:
            study.optimize(tried, n_trials=1, catch=(_SurplusError,))
            if watch is not None:
                watch()


def _drawn(trial: Trial, one: SettingRange) -> float:
    if one.whole:
        return trial.suggest_int(one.name, int(one.low), int(one.high), log=True)
    return trial.suggest_float(one.name, one.low, one.high, log=True)


def run_in_processes(tuning: Tuning, study: str, jobs: int, watch: Callable[[], None]) -> None:
    """Run trials in several processes, each with its share of the processors. The first error ends all of them."""
    from loky import ProcessPoolExecutor
    from loky.process_executor import BrokenProcessPool

    pool = ProcessPoolExecutor(jobs, initializer=belong_to, initargs=(os.getpid(),))
    try:
        left = {pool.submit(_work, tuning.task, study, number, jobs) for number in range(jobs)}
        while left:
            done, left = wait(left, timeout=POLL, return_when=FIRST_EXCEPTION)
            for one in done:
                one.result()
            watch()
    except BrokenProcessPool:
        raise LearningError(
            "A worker process was killed, most likely because memory ran out.",
            fix="Finished trials are kept. Run the same command again with fewer --jobs: it goes on.",
        ) from None
    finally:
        pool.shutdown(kill_workers=True)


def _work(task: TuningTask, study: str, number: int, jobs: int) -> None:
    """Take part in a study, in a process of its own."""
    if hasattr(os, "sched_setaffinity"):
        mine = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, mine[number % len(mine) :: jobs])
    torch.set_num_threads(cores())
    tuning = Tuning.opened(task, Workspace(task.folder))
    if tuning.study != study:
        raise LearningError(
            "The labels or the catalog changed while workers started.",
            fix="Run the same command again.",
        )
    with opened_study(task.place, study) as joined:
        run_trials(tuning, joined, device_of(task.device, number))


def device_of(name: str, number: int = 0) -> torch.device:
    """The device of a worker: several GPUs take turns."""
    device = chosen_device(name)
    return torch.device("cuda", number % torch.cuda.device_count()) if device.type == "cuda" else device
