"""The command line as a whole: the list of commands, and how every one of them fails."""

import os
import sys
from typing import Annotated

import typer
from rich.text import Text

import lookalike
from lookalike.cli.agreement import agreement
from lookalike.cli.audit import audit
from lookalike.cli.backup import backup, restore
from lookalike.cli.bias import bias
from lookalike.cli.catalog import catalog
from lookalike.cli.console import err, print_json, printable
from lookalike.cli.demo import demo
from lookalike.cli.discover import discover
from lookalike.cli.doctor import doctor
from lookalike.cli.embed import embed
from lookalike.cli.evaluate import evaluate
from lookalike.cli.finetune import finetune
from lookalike.cli.init import init
from lookalike.cli.labels import labels
from lookalike.cli.positiveness import positiveness
from lookalike.cli.report import report
from lookalike.cli.reproduce import reproduce
from lookalike.cli.search import search
from lookalike.cli.serve import serve
from lookalike.cli.settle import settle
from lookalike.cli.status import status
from lookalike.cli.studio import studio
from lookalike.cli.users import users
from lookalike.core.errors import LookalikeError

FAILED = 1

app = typer.Typer(
    name="lookalike",
    help="Visual-similarity search on your own catalog: label the right pairs, know which model is better, "
    "serve distinct items.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)
app.command()(demo)
app.command()(studio)
app.command()(status)
app.command()(doctor)
app.command()(init)
app.add_typer(catalog, name="catalog")
app.command()(embed)
app.command()(discover)
labels.command("agreement")(agreement)
app.add_typer(labels, name="labels")
app.command()(backup)
app.command()(restore)
app.command()(serve)
app.add_typer(users, name="users")
app.command()(evaluate)
app.command()(finetune)
app.command()(settle)
app.command()(audit)
app.command()(bias)
app.command()(positiveness)
app.command()(search)
app.command()(report)
app.command()(reproduce)


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    """Visual-similarity search on your own catalog."""
    if version:
        typer.echo(f"lookalike {lookalike.__version__}")
        raise typer.Exit


def run(arguments: list[str]) -> int:
    """Run one command and return the exit status: 0 done, 1 refused, 2 wrong usage."""
    try:
        left = app(args=arguments, prog_name="lookalike", standalone_mode=False)
    except LookalikeError as error:
        return _refused(error, as_json="--json" in arguments)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except OSError as error:
        if error.filename is not None:  # not the output, but a file nobody expected to fail
            raise
        sys.stderr.write(f"Error: the output cannot be written: {error.strerror}.\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except Exception as error:
        if not hasattr(error, "exit_code"):
            raise
        return _usage(error)
    return left if isinstance(left, int) else 0  # a command that ends with typer.Exit leaves its status


def _refused(error: LookalikeError, *, as_json: bool) -> int:
    err.print(Text("Error: ", style="bold red") + Text(printable(error.problem)))
    err.print(Text(printable(error.fix)))
    if as_json:
        print_json({"error": {"kind": type(error).__name__, "problem": error.problem, "fix": error.fix}})
    return FAILED


def _usage(error: Exception) -> int:
    """Wrong options or arguments, as the parser says it."""
    show = getattr(error, "show", None)
    if show is not None:
        show()
    return int(getattr(error, "exit_code", 2))
