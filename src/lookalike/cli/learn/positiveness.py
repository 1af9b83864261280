"""`lookalike positiveness`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from lookalike.api.positiveness import Outlook, outlook
from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, progress, say, table
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.errors import ArgumentError
from lookalike.core.text import folded, megabytes, plural
from lookalike.positive.positiveness import Softness, weights
from lookalike.store.formats.soft_files import write_contradictions
from lookalike.store.formats.tables import require_ending
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn.positiveness_files import (
    ListedPairs,
    estimated_bytes,
    write_given,
    write_pairs,
)
from lookalike.workflows.learn.positiveness_result import PositivenessResult, positiveness_result

SHOWN = 5
PAPER = Softness()


@result(PositivenessResult)
def positiveness(
    workspace: options.Workspace = HERE,
    soft: Softness = PAPER,
    output: Annotated[Path | None, options.output("Write the pairs to this .csv or .parquet file.")] = None,
    nodes: options.Nodes = "image",
    split: Annotated[
        Literal["train", "validation", "test", "all"],
        typer.Option(help="Use labels with both images in this split."),
    ] = "train",
    min_positiveness: Annotated[float, typer.Option(help="Leave out pairs below this value.")] = 0.0,
    pairs_file: Annotated[
        Path | None,
        options.file(
            "--pairs-file",
            "Write only the pairs in this file, also those with 0. Columns: image_a and image_b, or query and "
            "candidate.",
            default="all pairs above 0",
        ),
    ] = None,
    max_pairs: Annotated[int, typer.Option(help="Refuse to write more pairs than this.", min=1)] = 50_000_000,
    contradictions: Annotated[
        Path | None,
        options.file(
            "--contradictions", "Write the labelled negatives that conflict with positives to this file."
        ),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Derive soft positives from labels: pairs that are joined by a chain of similar pairs.

    Use it to see what the labels imply, and to write the pairs for other programs. `lookalike finetune` needs no file:
    it computes the pairs of each batch.
    """
    _require_writable(output, contradictions, pairs_file)
    options.require_new(output, contradictions, force=force)
    opened = Workspace(workspace)
    found = outlook(
        opened.catalog,
        opened.labels(),
        soft,
        nodes=nodes,
        split=None if split == "all" else split,
        min_positiveness=min_positiveness,
        seed=opened.settings.seed,
    )
    if not json:
        _print_outlook(found)
    if contradictions is not None:
        write_contradictions(found.contradictions, contradictions)
        if not json:
            say(f"Wrote {plural(len(found.contradictions), 'label')} to check to {contradictions}.")
    rows = given = None
    if output is not None and pairs_file is not None:
        given = write_given(found, pairs_file, output)
    elif output is not None:
        rows = _write(found, output, max_pairs, quiet=json)
    if json:
        print_json(positiveness_result(found, rows, given))
        return
    _print_written(found, output, rows, given)
    reviewed = contradictions is not None or not len(found.contradictions)
    next_step(
        "lookalike finetune ENCODER --name NAME",
        *([] if output else ["lookalike positiveness --output soft.parquet"]),
        *([] if reviewed else ["lookalike positiveness --contradictions review.csv"]),
        workspace=workspace,
    )


def _require_writable(output: Path | None, contradictions: Path | None, pairs_file: Path | None) -> None:
    for path, what in ((output, "positiveness"), (contradictions, "contradictions")):
        if path is not None:
            require_ending(path, what)
    if pairs_file is not None and output is None:
        raise ArgumentError("--pairs-file needs a file to write to.", fix="Add --output soft.csv")


def _write(found: Outlook, output: Path, most: int, *, quiet: bool) -> list[int]:
    """Say how large the file will be, refuse what is too large, and write it."""
    size = megabytes(estimated_bytes(found, output))
    if found.pairs > most:
        raise ArgumentError(
            f"{output} would hold {found.about} ({size}), but --max-pairs is {most:,}.",
            fix="Use a smaller --max-distance, a larger --min-positiveness, --pairs-file for some pairs, or a larger "
            "--max-pairs. Training needs no file.",
        )
    if not quiet:
        say(f"Writing {found.about} ({size}).")
    with progress(f"Writing {output.name}", quiet=quiet) as bar:
        return write_pairs(found, output, bar)


def _print_outlook(found: Outlook) -> None:
    """The graph, how many pairs it makes positive, what is left, and which labels conflict."""
    graph, extent = found.graph, found.extent
    where = "all splits" if found.split is None else f"split {found.split}"
    say(
        f"Labels of {where}: {plural(graph.positive.pairs, 'positive')} and "
        f"{plural(graph.negative.pairs, 'negative')}, on {found.labelled:,} of {plural(found.images, 'image')}. "
        f"Nodes of the graph: {graph.kind}s."
    )
    for part in graph.unusable:
        say(f"  {plural(part.count, 'label')} left out: {part.reason}.")
    if found.several_photos:
        say(
            "  A label holds for its two photos only. `lookalike finetune` uses it for all photos of the two items: "
            "--nodes item"
        )
    lowered = "" if found.limit == found.soft.max_distance else " (longer chains do not count)"
    say(
        f"Positive pairs with chains of up to {plural(found.limit, 'hop')}{lowered}: {found.about}. This is "
        f"{_share(found.share)} of all pairs of images, and {_share(found.share_labelled)} of the pairs of images with "
        "a label."
    )
    if not extent.is_counted:
        say(
            f"  Estimated from {extent.sources:,} of {extent.nodes:,} {graph.kind}s with a positive. Standard error: "
            f"{round(extent.error):,} pairs."
        )
    say(f"Pairs of images with a label that keep positiveness 0: {_share(1 - found.share_labelled)}.")
    if found.few_negatives:
        say(
            folded(
                "Few negatives are left: in this well-connected graph, chains join nearly every pair. Use a smaller "
                "--max-distance.",
                "  ",
            )
        )
    if not graph.negative.pairs:
        say("  No pair is labelled negative, so negatives are pairs without a chain.")
        return
    say(
        f"Conflicts: {len(found.contradictions):,} of {plural(graph.negative.pairs, 'labelled negative')} joined by a "
        f"chain of up to {plural(found.soft.max_distance, 'hop')}. They keep positiveness 0."
    )
    nearest = positiveness_result(found).contradictions.nearest[:SHOWN]
    if nearest:
        rows = [
            (f"  {one.query}", one.candidate, f"{one.distance}", f"{one.positiveness:.3f}") for one in nearest
        ]
        table(["  nearest", "", "hops", "positiveness by chain"], rows, left=2)


def _print_written(
    found: Outlook, output: Path | None, rows: list[int] | None, given: ListedPairs | None
) -> None:
    """What is in the file."""
    if given is not None:
        say(
            f"Wrote {given.written:,} of {plural(given.pairs, 'given pair')} to {output}, {given.positive:,} with "
            "positiveness above 0."
        )
        if given.outside:
            say(f"  Empty cells: {plural(given.outside, 'pair')} outside split {found.split}.")
    if rows is not None:
        say(f"Wrote {plural(sum(rows), 'pair')} to {output}.")
        weight = weights(found.soft)
        shown = [
            (f"  {hops}", f"{weight[hops]:.3f}", f"{count:,}") for hops, count in enumerate(rows) if count
        ]
        table(["  hops", "positiveness", "pairs"], shown, left=1)


def _share(share: float) -> str:
    return f"{100 * share:.3g}%"
