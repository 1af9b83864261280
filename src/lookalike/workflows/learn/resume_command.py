"""The command that resumes a training run, from its run.json."""

import shlex
from contextlib import suppress

from lookalike.core.errors import EmbeddingsError
from lookalike.learn.request import TrainingRequest
from lookalike.store.vectors import models
from lookalike.store.workspace import Workspace


def command_of(workspace: Workspace, name: str) -> str:
    """The command with a run's settings; "" where run.json is damaged or its encoder is gone."""
    recorded = models.recorded(workspace.folder, name)
    try:
        encoder = _encoder(workspace, recorded["encoder"]["spec"])
        settings = recorded["settings"].items()
    except (KeyError, TypeError, AttributeError):  # a run.json that was edited, or of another version
        return ""
    if encoder is None:
        return ""
    defaults = TrainingRequest().as_values()
    words = [encoder, "--name", name]
    for key, value in settings:
        if value != defaults.get(key):
            words += [f"--{key.replace('_', '-')}", str(value)]
    return f"lookalike {recorded.get('command', 'finetune')} {shlex.join(words)}"


def _encoder(workspace: Workspace, spec: str) -> str | None:
    """The short name of the encoder with this string that has vectors here."""
    for name in workspace.encoders:
        with suppress(EmbeddingsError):
            if workspace.manifest(name).spec == spec:
                return name
    return None
