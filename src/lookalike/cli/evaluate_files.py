"""The files `lookalike evaluate` reads and writes: their options, and what is said of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.console import progress, say
from lookalike.core.types import Rule

if TYPE_CHECKING:
    from lookalike.evaluate.significance import Significance
    from lookalike.recipes.evaluate import Evaluation
    from lookalike.store.workspace import Workspace

RunOption = Annotated[
    list[Path] | None,
    typer.Option("--run", help="A TREC run file (.gz too) of another system; can be given several times."),
]
OutputOption = Annotated[
    Path | None, typer.Option("--output", help="Write the scores to a .csv or .parquet file.")
]
JudgedOption = Annotated[
    Path | None, typer.Option("--judged", help="Write the judged ranks to a .csv or .parquet file.")
]
RunsOption = Annotated[
    Path | None,
    typer.Option("--runs", help="Write one TREC run per encoder, and the qrels, into this folder."),
]
DepthOption = Annotated[
    int, typer.Option("--depth", min=1, max=999_999_999, help="Candidates per query in the runs.")
]
RunQueriesOption = Annotated[str, typer.Option("--run-queries", help="Queries in the runs: labels or pool.")]
GzipOption = Annotated[bool, typer.Option("--gzip", help="Compress runs and qrels (.gz).")]


class Files:
    """What was asked for; names that cannot be written are refused at once."""

    def __init__(
        self,
        read: Sequence[Path],
        output: Path | None,
        judged: Path | None,
        folder: Path | None,
        depth: int,
        queries: str,
        gzip: bool,
    ) -> None:
        from lookalike.recipes.evaluate_files import RunFolder, require_writable

        self.read, self.output, self.judged = read, output, judged
        self.runs = None if folder is None else RunFolder(folder, depth, queries, gzip)
        require_writable(output, judged, self.runs)

    def plan(self, workspace: "Workspace", rule: Rule) -> None:
        """Refuse, before anything is ranked, runs that could not be written."""
        from lookalike.recipes.evaluate_files import plan_runs

        if self.runs is not None:
            plan_runs(workspace, rule, self.runs)

    def write(
        self,
        workspace: "Workspace",
        found: "Evaluation",
        sure: "Significance | None",
        rule: Rule,
        *,
        quiet: bool,
    ) -> list[Path]:
        """Write all that was asked for, scores with their intervals; returns the files."""
        from lookalike.recipes.evaluate_files import write_runs
        from lookalike.store.judged_files import write_judged_ranks, write_scores

        written = []
        if self.output is not None:
            write_scores(found.scores, self.output, None if sure is None else sure.intervals)
            written.append(self.output)
        if self.judged is not None:
            write_judged_ranks(found.judged, self.judged)
            written.append(self.judged)
        if self.runs is not None:
            names = [one.encoder for one in found.scores[: len(found.scores) - len(self.read)]]
            with progress("Writing runs", quiet=quiet) as bar:
                written += write_runs(workspace, names, rule, self.runs, progress=bar)
        return written


def tell_written(written: Sequence[Path]) -> None:
    """Say which files were written."""
    if written:
        say(f"Written: {', '.join(map(str, written))}.")
