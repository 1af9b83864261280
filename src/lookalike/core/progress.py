"""How long work tells where it stands: a call with (done, total), from the thread that asked for the work."""

from collections.abc import Callable

Progress = Callable[[int, int], None]
