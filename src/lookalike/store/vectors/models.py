"""A training run on disk: the folder `models/NAME` of a workspace, from its beginning to the encoder it ends as.

run.json               what the run is; a stopped one is gone on from only by a command that says the same
state.safetensors      where it stands; gone once it is finished
history.jsonl          one epoch a line
events.out.tfevents.*  the same for TensorBoard
head.safetensors, checkpoint.json    what it ends as (encode/sources/checkpoint.py)
"""

import json
import math
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lookalike.core.errors import LearningError
from lookalike.encode.spec import ABOUT, MODELS, RUN
from lookalike.store.disk import disk_errors, lock, write_file
from lookalike.store.vectors.events import Events

STATE, HISTORY = "state.safetensors", "history.jsonl"
EVERY = 20.0  # seconds between two states
WORDS = {  # what a fingerprint in run.json is of
    "vectors": "the encoder's vectors have changed",
    "images": "the catalog has changed",
    "split": "the splits have changed",
    "labels": "the labels have changed",
    "graph": "the graph of labels is built in another way",
    "encoder weights": "the encoder's weights are others",
    "encoder preprocessing": "photos are fitted otherwise for the encoder",
}


class TrainingRun:
    """A run that this command may write to. It keeps the states of the training loop (`learn.finetune.Keeper`).

    Every epoch is noted at once, a state only every `every` seconds of `clock`: what was noted after the last state is
    written again when the run goes on.
    """

    def __init__(self, folder: Path, *, clock: Callable[[], float], every: float) -> None:
        self.folder, self.clock, self.every = folder, clock, every
        self.kept_at = clock()
        self.events = Events(folder)

    def last(self) -> bytes | None:
        """The state that was kept last, None of a run that begins."""
        with disk_errors("reading where the run stands", self.folder / STATE):
            return (self.folder / STATE).read_bytes() if (self.folder / STATE).exists() else None

    def due(self) -> bool:
        """Whether the last state is long enough ago."""
        return self.clock() - self.kept_at >= self.every

    def keep(self, state: bytes) -> None:
        """Replace the state as a whole."""
        write_file(self.folder / STATE, state)
        self.kept_at = self.clock()

    def begin_history(self, epochs: Sequence[tuple[Mapping[str, Any], Mapping[str, float]]]) -> None:
        """Write the history up to the state that is gone on from; what came after it comes again."""
        lines = "".join(_line(epoch) for epoch, _ in epochs)
        write_file(self.folder / HISTORY, lines.encode())
        self.events.begin([(epoch["number"], scalars) for epoch, scalars in epochs])

    def note(self, epoch: Mapping[str, Any], scalars: Mapping[str, float]) -> None:
        """One more epoch: a line of the history, and scalars by their names for TensorBoard."""
        with (
            disk_errors("noting an epoch", self.folder / HISTORY),
            (self.folder / HISTORY).open("ab") as file,
        ):
            file.write(_line(epoch).encode())
        self.events.add(epoch["number"], scalars)

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write the checkpoint's files, each as a whole, in their order."""
        for name, content in files.items():
            write_file(self.folder / name, content)

    def finish(self) -> None:
        """Forget where the run stood: it is finished."""
        with disk_errors("finishing the run", self.folder):
            (self.folder / STATE).unlink(missing_ok=True)

    def forget(self) -> None:
        """Remove a run that came to nothing."""
        _remove(self.folder)


def trained(workspace: Path) -> list[str]:
    """Names of the finished runs."""
    return [name for name in _runs(workspace) if _is_finished(workspace / MODELS / name)]


def unfinished(workspace: Path) -> list[str]:
    """Names of runs that were stopped and can be gone on from."""
    return [name for name in _runs(workspace) if not _is_finished(workspace / MODELS / name)]


@contextmanager
def running(workspace: Path, name: str) -> Iterator[None]:
    """Let one command at a time train under a name; a second is told who is at it."""
    with disk_errors("making the folder for models", workspace / MODELS):
        (workspace / MODELS).mkdir(exist_ok=True)
    with lock(workspace / MODELS, name, f"finetune {name}"):
        yield


def require_startable(workspace: Path, name: str, told: Mapping[str, Any], *, replace: bool) -> None:
    """Refuse a name that holds something else than this run's beginning; `replace` lets another run's be overwritten.

    Raises LearningError: a finished run, an unfinished one that was told something else (and what), a folder no
    run wrote.
    """
    folder = workspace / MODELS / name
    if not folder.exists() or not _visible(folder):
        return
    if not (folder / RUN).is_file():
        raise LearningError(
            f"{folder} is there already, and no run wrote it.", fix="Choose another name with --name NAME."
        )
    if replace:
        return
    if not _read(folder):
        raise LearningError(
            f"The run {name!r} is damaged: {folder / RUN} is not what Lookalike writes there.",
            fix="Choose another --name, or begin afresh with --replace.",
        )
    differs = differences(_read(folder), told)
    if _is_finished(folder):
        raise LearningError(
            f"There is a finished run {name!r} already ({'; '.join(differs) or 'told exactly the same'}).",
            fix=f"Use it as checkpoint:{name}, choose another --name, or train it anew with --replace.",
        )
    if differs:
        raise LearningError(
            f"The unfinished run {name!r} cannot be resumed: {'; '.join(differs)}.",
            fix="Give the same command on the same data, choose another --name, or begin afresh with --replace.",
        )


def is_finished(workspace: Path, name: str, told: Mapping[str, Any]) -> bool:
    """Whether there is a finished run of this name that was told exactly the same."""
    folder = workspace / MODELS / name
    return (folder / RUN).is_file() and _is_finished(folder) and not differences(_read(folder), told)


def told(workspace: Path, name: str) -> Mapping[str, Any]:
    """What a run was told; nothing of one whose run.json cannot be read."""
    return _read(workspace / MODELS / name)


def history(workspace: Path, name: str) -> list[dict[str, Any]]:
    """The epochs of a run as they were noted, null again NaN."""
    file = workspace / MODELS / name / HISTORY
    with disk_errors("reading the history of the run", file):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
    return [{key: math.nan if value is None else value for key, value in line.items()} for line in lines]


def begin(
    workspace: Path,
    name: str,
    told: Mapping[str, Any],
    *,
    replace: bool = False,
    clock: Callable[[], float] = time.monotonic,
    every: float | None = None,
) -> TrainingRun:
    """Begin a run, or go on with the one there is if it was told the same. The caller holds `running`."""
    require_startable(workspace, name, told, replace=replace)
    folder = workspace / MODELS / name
    _sweep(workspace / MODELS, name)
    if replace and folder.exists():
        _remove(folder)
    with disk_errors("making the run's folder", folder):
        folder.mkdir(parents=True, exist_ok=True)
    if not (folder / RUN).exists():
        write_file(folder / RUN, (json.dumps(told, indent=2) + "\n").encode())
    return TrainingRun(folder, clock=clock, every=EVERY if every is None else every)


def remove_runs(workspace: Path) -> None:
    """Delete every run; other files in models/ are the user's own and stay."""
    for name in _runs(workspace):
        _remove(workspace / MODELS / name)


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What two runs were told differently, in words.

    >>> differences({"settings": {"rate": 0.1}, "labels": "a"}, {"settings": {"rate": 0.2}, "labels": "b"})
    ['rate is 0.2, there 0.1', 'the labels have changed']
    """
    one, other = _flat(before), _flat(now)
    found = []
    for key in [*other, *(key for key in one if key not in other)]:
        if one.get(key) != other.get(key):
            called = "the encoder" if key == "encoder spec" else key
            words = WORDS.get(key) or f"{called} is {_shown(other.get(key))}, there {_shown(one.get(key))}"
            found.append(words)
    return found


def _flat(told: Mapping[str, Any]) -> dict[str, Any]:
    """Values by what they are called in the command; the settings' own names need nothing in front."""
    found: dict[str, Any] = {}
    for key, value in told.items():
        if isinstance(value, Mapping):
            found |= {name if key == "settings" else f"{key} {name}": one for name, one in value.items()}
        else:
            found[key] = value
    return found


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {one}" for name, one in value.items())
    return "not given" if value is None else str(value)


def _read(folder: Path) -> Mapping[str, Any]:
    """What a run was told; nothing of one that cannot be read, so that all of it differs."""
    try:
        told = json.loads((folder / RUN).read_bytes())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _line(epoch: Mapping[str, Any]) -> str:
    """An epoch as JSON; NaN, which JSON lacks, becomes null."""
    plain = {name: None if value != value else value for name, value in epoch.items()}  # noqa: PLR0124 - NaN alone
    return json.dumps(plain, allow_nan=False) + "\n"


def _runs(workspace: Path) -> list[str]:
    return sorted(path.parent.name for path in (workspace / MODELS).glob(f"[!.]*/{RUN}"))


def _is_finished(folder: Path) -> bool:
    return (folder / ABOUT).exists() and not (folder / STATE).exists()


def _visible(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if not path.name.startswith(".")]


def _remove(folder: Path) -> None:
    """Take a run out of sight first: a kill in between leaves no half run."""
    gone = folder.with_name(f".{folder.name}.old.new")
    with disk_errors(f"removing the run {folder.name}", folder):
        shutil.rmtree(gone, ignore_errors=True)
        folder.rename(gone)
        shutil.rmtree(gone)


def _sweep(models: Path, name: str) -> None:
    shutil.rmtree(models / f".{name}.old.new", ignore_errors=True)
