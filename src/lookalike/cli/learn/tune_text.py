"""The output of `lookalike tune`: what is tuned, each trial, and the best settings."""

import math
from collections.abc import Mapping

from lookalike.core.text import folded, listed, plural
from lookalike.learn.tuning import Number
from lookalike.workflows.learn.tune import TunedTrial, TuningOutcome, TuningPreview


def preview_sentences(preview: TuningPreview, encoder: str, measure: str) -> list[str]:
    """What is printed before the first trial."""
    sentences = [
        f"Tuning {', '.join(map(str, preview.ranges))}. {plural(preview.validation, 'labelled pair')} of the "
        f"validation split choose by {measure}; {encoder} has {_value(preview.before)}.",
    ]
    if preview.changed:
        sentences.append(f"A new study begins, because since the last one {', '.join(preview.changed)}.")
    if preview.done:
        sentences.append(f"{plural(preview.done, 'trial')} of earlier commands count.")
    if preview.hosts:
        one = len(preview.hosts) == 1
        sentences.append(
            f"{plural(len(preview.hosts), 'running trial')} of {listed(sorted(set(preview.hosts)))} "
            f"{'is' if one else 'are'} left as found and not counted: only that machine knows whether "
            f"{'it still runs' if one else 'they still run'}."
        )
    return [folded(one) for one in sentences]


def trial_sentence(trial: TunedTrial) -> str:
    """A finished trial in one line."""
    if trial.reason:
        found = f"no value, because {trial.reason}"
    elif trial.state == "pruned":
        found = f"stopped after {plural(trial.epochs, 'epoch')} at {_value(trial.value)}"
    else:
        found = _value(trial.value)
    return f"Trial {trial.number} ({_settings(trial.settings)}): {found}"


def outcome_sentences(found: TuningOutcome) -> list[str]:
    """The best settings, and what they gain."""
    states = [one.state for one in found.trials]
    pruned, failed, running = (states.count(one) for one in ("pruned", "failed", "running"))
    counts = [f"{plural(len(states) - failed - running, 'trial')}"]
    if pruned:
        counts.append(f"{pruned:,} of them stopped early or without a value")
    if failed:
        counts.append(f"{failed:,} interrupted and repeated" if failed else "")
    if running:
        counts.append(f"{running:,} still running, or interrupted on another machine")
    sentences = [
        f"{', '.join(counts)}. The trials are in {found.storage} as {found.study}.",
        f"Trial {found.best} is the best: {_settings(found.settings)}. {found.measure} on the validation split is "
        f"{_value(found.value)}, with the defaults {_value(found.default)}, of {found.encoder} itself "
        f"{_value(found.before)}.",
    ]
    if found.value <= found.before:
        sentences.append(
            f"No trial is better than {found.encoder}. Keep it, or train with more labels or another --loss."
        )
    else:
        sentences.append("These labels chose the settings, so expect less on other pairs.")
    return [folded(one) for one in sentences]


def _settings(settings: Mapping[str, Number]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in settings.items())


def _value(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.4f}"
