"""The commands: each parses its arguments, calls a workflow, and prints the result and the next step."""

import gc
import os
import signal
import sys
from types import FrameType

STOPPED = 130
LEFT_BY_STOPPED = (
    "ignore:resource_tracker"  # what worker processes of a stopped command left is cleaned up in silence
)
SHOW_CURSOR = b"\x1b[?25h"


def main() -> None:
    """Run a command; a user's mistake or Ctrl-C ends in a sentence, never in a traceback."""
    signal.signal(signal.SIGINT, _stop)
    ignored = [os.environ.get("PYTHONWARNINGS"), LEFT_BY_STOPPED]
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, ignored))
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "true")  # looking for them means reading all packages
    gc.disable()  # importing makes no garbage to look for; the command itself enables it again
    from lookalike.cli.app import run

    status = run(sys.argv[1:])
    if "TORCHELASTIC_RUN_ID" in os.environ:  # torchrun: threads of PyTorch can abort an interpreter that ends
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def _stop(_number: int, _frame: FrameType | None) -> None:
    """Ctrl-C: leave at once.

    Files are written completely or not at all, so a command can stop anywhere. A library could swallow an exception.
    """
    if os.isatty(2):
        os.write(2, b"\r" + SHOW_CURSOR)
    os.write(2, b"Stopped. Files written so far are complete and kept; later work is lost.\n")
    os._exit(STOPPED)
