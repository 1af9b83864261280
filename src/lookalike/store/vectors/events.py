"""Scalars for TensorBoard, written at once, so that a full disk is reported at the right place."""

import io
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from lookalike.store.disk import disk_errors, write_file

PREFIX = "events.out.tfevents"


class Events:
    """The event file of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / f"{PREFIX}.{time.time():.0f}.lookalike"

    def begin(self, steps: Sequence[tuple[int, Mapping[str, float]]]) -> None:
        """Write a new file with the steps so far, which replaces earlier files."""
        with disk_errors("removing earlier events", self.folder):
            for path in self.folder.glob(f"{PREFIX}.*"):
                path.unlink()
        started = time.time()
        write_file(self.file, _first(started) + b"".join(_record(step, one, started) for step, one in steps))

    def add(self, step: int, scalars: Mapping[str, float]) -> None:
        """Add a step, without scalars that are NaN."""
        with disk_errors("recording an epoch", self.file), self.file.open("ab") as file:
            file.write(_record(step, scalars, time.time()))


def _first(now: float) -> bytes:
    from tensorboard.compat.proto.event_pb2 import Event

    return _framed(Event(wall_time=now, file_version="brain.Event:2").SerializeToString())


def _record(step: int, scalars: Mapping[str, float], now: float) -> bytes:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary

    shown = [Summary.Value(tag=tag, simple_value=value) for tag, value in scalars.items() if value == value]  # noqa: PLR0124
    return _framed(Event(wall_time=now, step=step, summary=Summary(value=shown)).SerializeToString())


def _framed(event: bytes) -> bytes:
    """An event with its length and check sums around it."""
    from tensorboard.summary.writer.record_writer import RecordWriter

    file = io.BytesIO()
    RecordWriter(file).write(event)
    return file.getvalue()
