"""The command that goes on with a training run, from what its run.json says."""

import shlex
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from lookalike.core.errors import EmbeddingsError
from lookalike.learn.settings import Settings
from lookalike.positive.positiveness import Softness
from lookalike.store import models
from lookalike.store.workspace import Workspace

PROJECTION = 2048  # of encode/head.py, which brings torch with it


def command_of(workspace: Workspace, name: str) -> str:
    """The `lookalike finetune` that was told what a run was told; "" where run.json or its encoder is gone."""
    told = models.told(workspace.folder, name)
    try:
        encoder = _encoder(workspace, told["encoder"]["spec"])
        return "" if encoder is None else _command(encoder, name, told)
    except (KeyError, TypeError, AttributeError):  # a run.json that was edited, or of another version
        return ""


def _command(encoder: str, name: str, told: Mapping[str, Any]) -> str:
    defaults, settings = Settings(), dict(told["settings"])
    options = _softness(settings.pop("soft"))
    options |= {key: value for key, value in settings.items() if value != getattr(defaults, key)}
    usual = {"nodes": "item", "views": 1, "projection": PROJECTION}
    options |= {key: told[key] for key, value in usual.items() if told[key] != value}
    words = [encoder, "--name", name]
    for key, value in options.items():
        words += [f"--{key.replace('_', '-')}", str(value)]
    return f"lookalike finetune {shlex.join(words)}"


def _softness(soft: Mapping[str, Any] | None) -> dict[str, Any]:
    """--positives, --beta and --max-distance, where they are not the defaults."""
    if soft is None:
        return {"positives": "labels"}
    usual = Softness()
    found: dict[str, Any] = {} if soft["beta"] else {"positives": "full"}
    if soft["beta"] not in (0.0, usual.beta):
        found["beta"] = soft["beta"]
    if soft["max_distance"] != usual.max_distance:
        found["max_distance"] = soft["max_distance"]
    return found


def _encoder(workspace: Workspace, spec: str) -> str | None:
    """The short name of the encoder with this string that has vectors here."""
    for name in workspace.encoders:
        with suppress(EmbeddingsError):
            if workspace.manifest(name).spec == spec:
                return name
    return None
