"""The commands: each parses its arguments, calls a recipe and prints what it did and what comes next."""

import sys


def main() -> None:
    """Run a command; a user's mistake ends in a sentence, never in a traceback."""
    from lookalike.cli.app import run

    sys.exit(run(sys.argv[1:]))
