"""The command that resumes a training run, from its run.json."""

import shlex
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from lookalike.core.errors import ArgumentError, EmbeddingsError
from lookalike.learn.request import TrainingRequest
from lookalike.store.vectors import models
from lookalike.store.workspace import Workspace


def command_of(workspace: Workspace, name: str) -> str:
    """The command with a run's settings; "" where run.json is damaged or its encoder is gone."""
    recorded = models.recorded(workspace.folder, name)
    try:
        encoder = _encoder(workspace, recorded["encoder"]["spec"])
        words = option_words(recorded["settings"])
    except (KeyError, TypeError, AttributeError, ArgumentError):  # run.json is edited, or of another version
        return ""
    if encoder is None:
        return ""
    return f"lookalike {recorded.get('command', 'finetune')} {shlex.join([encoder, '--name', name, *words])}"


def option_words(settings: Mapping[str, Any], always: Collection[str] = ()) -> list[str]:
    """Settings as options of a command: those that are not the default, which depends on part, head and loss.

    >>> option_words(TrainingRequest(part="network", epochs=100, seed=7).as_values())
    ['--epochs', '100', '--seed', '7', '--part', 'network']
    """
    asked = {name: settings[name] for name in ("part", "head") if settings.get(name) is not None}
    loss = TrainingRequest(**asked).loss
    usual = TrainingRequest(**asked, loss=settings.get("loss", loss)).as_values()
    usual |= {"part": "head", "head": None, "loss": loss}
    words = []
    for name, value in settings.items():
        if value != usual.get(name) or name in always:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return words


def _encoder(workspace: Workspace, spec: str) -> str | None:
    """The short name of the encoder with this string that has vectors here."""
    for name in workspace.encoders:
        with suppress(EmbeddingsError):
            if workspace.manifest(name).spec == spec:
                return name
    return None
