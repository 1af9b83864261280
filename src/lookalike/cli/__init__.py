"""The commands: each parses its arguments, calls a workflow, and prints the result and the next step."""

import os
import signal
import sys
from types import FrameType

STOPPED = 130
SHOW_CURSOR = b"\x1b[?25h"


def main() -> None:
    """Run a command; a user's mistake or Ctrl-C ends in a sentence, never in a traceback."""
    signal.signal(signal.SIGINT, _stop)
    from lookalike.cli.app import run

    sys.exit(run(sys.argv[1:]))


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Ctrl-C: leave at once.

    Whatever a command writes is written as a whole or not at all, so it may be left anywhere; an exception could be
    swallowed by whichever library is at work.
    """
    if os.isatty(2):
        os.write(2, b"\r" + SHOW_CURSOR)
    os.write(2, b"Stopped. What was written so far is kept and whole; work since then is lost.\n")
    os._exit(STOPPED)
