"""The commands: each parses its arguments, calls a recipe and prints what it did and what comes next."""

import sys


def main() -> None:
    """Run a command; a user's mistake ends in a sentence, never in a traceback."""
    try:
        from lookalike.cli.app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # before or after the command proper
        sys.stderr.write("Stopped.\n")
        status = 130
    sys.exit(status)
