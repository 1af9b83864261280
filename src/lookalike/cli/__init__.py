"""The commands: each parses its arguments, calls a recipe and prints what it did and what comes next."""

import os
import signal
import sys
from types import FrameType

STOPPED = 130


def main() -> None:
    """Run a command; a user's mistake or Ctrl-C ends in a sentence, never in a traceback."""
    try:
        signal.signal(signal.SIGINT, _interrupt)
        from lookalike.cli.app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # before or after the command proper
        sys.stderr.write("Stopped.\n")
        status = STOPPED
    sys.exit(status)


def _interrupt(_number: int, frame: FrameType | None) -> None:
    """Ctrl-C: stop the command; at once if it is still importing, where Python would swallow the exception.

    Leaving at once is safe anywhere: whatever is written is written as a whole or not at all.
    """
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            os.write(2, b"Stopped.\n")
            os._exit(STOPPED)
        frame = frame.f_back
    raise KeyboardInterrupt
