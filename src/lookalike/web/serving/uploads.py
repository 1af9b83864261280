"""Photos that people search with: checked when they arrive, held in memory for an hour."""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from lookalike.core.errors import AccessError

HOUR_MS = 60 * 60 * 1000
HELD_BYTES = 256 << 20


@dataclass(frozen=True)
class UploadedPhoto:
    """A photo that was checked: its bytes, its size as it is shown, and a JPEG of it without metadata."""

    content: bytes
    width: int
    height: int
    preview: bytes


class Uploads:
    """Uploaded photos by their random names. The oldest go first where they are too many."""

    def __init__(self, clock: Callable[[], int], most_bytes: int = HELD_BYTES) -> None:
        self._clock, self._most = clock, most_bytes
        self._held: OrderedDict[str, tuple[int, UploadedPhoto]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, photo: UploadedPhoto) -> str:
        """Hold a photo for an hour; returns its name."""
        name = secrets.token_urlsafe(12)
        with self._lock:
            self._held[name] = (self._clock(), photo)
            self._forget()
        return name

    def get(self, name: str) -> UploadedPhoto:
        """A photo by its name. Raises AccessError if it is gone."""
        with self._lock:
            self._forget()
            found = self._held.get(name)
        if found is None:
            raise AccessError(
                "This uploaded photo is no longer here: photos are deleted an hour after their upload, and when the "
                "server stops.",
                fix="Upload it again.",
                code="photo-gone",
            )
        return found[1]

    def forget(self) -> None:
        """Drop the photos whose hour is over."""
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        now, size = self._clock(), sum(len(photo.content) for _, photo in self._held.values())
        while self._held:
            at, photo = next(iter(self._held.values()))
            if now - at < HOUR_MS and (size <= self._most or len(self._held) == 1):
                return
            size -= len(photo.content)
            self._held.popitem(last=False)
