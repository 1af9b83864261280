"""`tune`: find the settings of a training with Optuna, by labels of the validation split alone."""

import math
import shlex
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from lookalike.api.finetune import require_learning
from lookalike.core.checks import install, not_installed
from lookalike.core.errors import LabelsError, LearningError
from lookalike.core.progress import Progress
from lookalike.core.text import plural
from lookalike.learn.request import TrainingRequest
from lookalike.learn.tuning import Number, SettingRange, tuned_ranges
from lookalike.store.sql.database import address
from lookalike.store.vectors.models import differences
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn.requirements import require_vectors
from lookalike.workflows.learn.resume_command import option_words

if TYPE_CHECKING:
    import torch
    from optuna.study import Study
    from optuna.trial import FrozenTrial

    from lookalike.store.studies import Place
    from lookalike.workflows.learn.trials import Tuning, TuningTask

WAIT = 1.0  # seconds between two looks at trials of other machines
State = Literal["complete", "pruned", "failed", "running", "waiting"]


@dataclass(frozen=True)
class TunedTrial:
    """A trial: its settings, its value on the validation split, and how many epochs were measured.

    pruned: it was stopped early, and `value` is the best until then; or it has no value for a `reason`. failed: it
    was interrupted. `value` is NaN where there is none.
    """

    number: int
    settings: dict[str, Number]
    value: float
    epochs: int
    state: State
    reason: str = ""


@dataclass(frozen=True)
class TuningPreview:
    """What is tuned: the ranges of settings, the labelled pairs that choose, and the value of the encoder itself.

    `done` trials are from earlier commands. `changed` says why an earlier study of the same settings does not count.
    `hosts` are those of running trials of which it is not known here whether they still run, once for each trial.
    """

    ranges: tuple[SettingRange, ...]
    validation: int
    before: float
    done: int
    changed: tuple[str, ...]
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class TuningOutcome:
    """The best settings by `measure` on the validation split, and all trials.

    `value` is that of the trial `best`, `default` that of the default settings (NaN if it has none), `before` that of
    the encoder itself. `resumed` trials were done by earlier commands. `command` trains with the best settings.
    """

    encoder: str
    measure: str
    validation: int
    before: float
    default: float
    value: float
    best: int
    settings: dict[str, Number]
    ranges: tuple[SettingRange, ...]
    trials: tuple[TunedTrial, ...]
    resumed: int
    changed: tuple[str, ...]
    study: str
    storage: str
    command: str


@dataclass(frozen=True)
class TuningCallbacks:
    """What a run reports: its preview, each finished trial, and epochs done of all."""

    begin: Callable[[TuningPreview], None] | None = None
    trial: Callable[[TunedTrial], None] | None = None
    step: Progress | None = None


def tune(
    workspace: Workspace,
    encoder: str,
    request: TrainingRequest,
    fixed: Collection[str] = (),
    *,
    trials: int = 20,
    jobs: int = 1,
    storage: str = "",
    device: str = "auto",
    callbacks: TuningCallbacks | None = None,
) -> TuningOutcome:
    """Train with settings that TPE draws, and return the best. The settings in `fixed` are those of the request.

    Trials are kept in `storage`, the address of a PostgreSQL database, else in the database of the workspace if that is
    PostgreSQL, else in a file. The same command continues a study up to the number of trials, on several machines if
    it is in PostgreSQL. Another catalog, other labels or other settings are another study. No model is written, and
    labels of the test split are not used.
    """
    require_learning()
    if not_installed(["optuna"]):
        raise LearningError("Tuning needs optuna, which is not installed.", fix=install("learn"))
    require_vectors(workspace, encoder)
    from lookalike.store.studies import named, opened_study, other_studies, unknown_hosts
    from lookalike.workflows.learn.trials import SURPLUS, Tuning, TuningTask, device_of

    callbacks, on = callbacks or TuningCallbacks(), device_of(device)
    place, ranges = _place(workspace, encoder, storage), tuned_ranges(request, fixed)
    task = TuningTask(workspace.folder.absolute(), encoder, request, ranges, device, place, trials)
    tuning = Tuning.opened(task, workspace)
    validation = tuning.given.validation
    before = validation.untrained()
    if math.isnan(before):
        raise LabelsError(
            f"{request.measure} is undefined on the validation split, which has "
            f"{plural(len(validation.pairs), 'labelled pair')}, so settings cannot be compared.",
            fix="Label more pairs of its images (`lookalike labels stats` counts them), or choose another --measure.",
        )
    usual = {one.name: one.default for one in ranges}
    with opened_study(place, tuning.study, tuning.about, usual) as study:
        watch = _Watch(study, task, callbacks)
        resumed = len(watch.seen)
        changed = () if resumed else _changed(tuning.about, other_studies(study))
        if callbacks.begin:
            hosts = tuple(unknown_hosts(study).values())
            callbacks.begin(TuningPreview(ranges, len(validation.pairs), before, resumed, changed, hosts))
        if resumed < trials:
            tuning.training(request, device_of("cpu"))  # refuses what every trial would; makes views once
            _run(tuning, study, on, jobs, watch)
        found = [one for one in map(_trial, study.get_trials(deepcopy=False)) if one.reason != SURPLUS]
    best, default = _best(found, ranges)
    words = option_words(request.changed(**best.settings).as_values(), best.settings)
    return TuningOutcome(
        encoder=encoder,
        measure=request.measure,
        validation=len(validation.pairs),
        before=before,
        default=default,
        value=best.value,
        best=best.number,
        settings=best.settings,
        ranges=ranges,
        trials=tuple(one for one in found if one.state != "waiting"),
        resumed=resumed,
        changed=changed,
        study=tuning.study,
        storage=named(place),
        command=f"lookalike finetune {shlex.join([encoder, '--name', f'{encoder}-tuned', *words])}",
    )


class _Watch:
    """Reports finished trials and progress. `seen` are the numbers of trials that are finished and were reported."""

    def __init__(self, study: "Study", task: "TuningTask", callbacks: TuningCallbacks) -> None:
        self.study, self.task, self.callbacks = study, task, callbacks
        self.seen = {one.number for one in self._counted() if one.state.is_finished()}

    def __call__(self) -> None:
        """Look at the trials of all workers."""
        epochs, done = self.task.request.epochs, 0
        for one in self._counted():
            if one.state.is_finished() and one.number not in self.seen:
                self.seen.add(one.number)
                if self.callbacks.trial:
                    self.callbacks.trial(_trial(one))
            done += epochs if one.state.is_finished() else one.last_step or 0
        if self.callbacks.step:
            total = self.task.trials * epochs
            self.callbacks.step(min(done, total), total)

    def _counted(self) -> "list[FrozenTrial]":
        from lookalike.workflows.learn.trials import counted

        return counted(self.study)


def _run(tuning: "Tuning", study: "Study", on: "torch.device", jobs: int, watch: _Watch) -> None:
    """Run trials until enough are finished, here or on other machines."""
    from lookalike.store.studies import repeat_dead_trials
    from lookalike.workflows.learn.trials import counted, run_in_processes, run_trials

    while True:
        repeat_dead_trials(study, tuning.task.place)
        watch()
        missing = tuning.task.trials - len(counted(study))
        if len(watch.seen) >= tuning.task.trials:
            return
        if missing <= 0:  # other machines have the last ones
            time.sleep(WAIT)
        elif jobs == 1:
            run_trials(tuning, study, on, watch)
        else:
            run_in_processes(tuning, study.study_name, min(jobs, missing), watch)


def _place(workspace: Workspace, encoder: str, storage: str) -> "Place":
    """Where the trials are kept."""
    from lookalike.store.studies import journal_of

    given = storage or workspace.settings.database
    if not given:
        return journal_of(workspace.folder.absolute(), encoder)
    address(given)
    if not_installed(["psycopg"]):
        raise LearningError("PostgreSQL needs psycopg, which is not installed.", fix=install("scale"))
    return given


def _changed(about: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What has changed since the last study of the same encoder with the same settings."""
    same = (one for one in others if all(one.get(key) == about[key] for key in ("settings", "ranges")))
    last = next((one for one in same if one["encoder"]["spec"] == about["encoder"]["spec"]), None)
    return () if last is None else tuple(differences(last, about))


def _trial(found: "FrozenTrial") -> TunedTrial:
    from lookalike.workflows.learn.trials import REASON, SETTINGS

    attributes, values = found.user_attrs, found.intermediate_values.values()
    state = found.state.name.lower().replace("fail", "failed")
    failed = "it was interrupted" if state == "failed" else ""
    value = found.value if state == "complete" else max(values, default=None)
    return TunedTrial(
        number=found.number,
        settings=attributes.get(SETTINGS, {}),
        value=math.nan if value is None else value,
        epochs=len(values),
        state=cast(State, state),
        reason=attributes.get(REASON, failed),
    )


def _best(found: Sequence[TunedTrial], ranges: Sequence[SettingRange]) -> tuple[TunedTrial, float]:
    """The best trial, the first of equals, and the value of the defaults."""
    complete = [one for one in found if one.state == "complete"]
    if not complete:
        reasons = sorted({one.reason for one in found if one.reason})
        raise LearningError(
            f"No trial has a value: {'; '.join(reasons)}.",
            fix="Tune with a lower --rate, or another --loss.",
        )
    usual = {one.name: one.default for one in ranges}
    default = next((one.value for one in complete if one.settings == usual), math.nan)
    return max(complete, key=lambda one: one.value), default
