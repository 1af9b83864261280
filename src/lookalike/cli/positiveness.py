"""`lookalike positiveness`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.console import (
    JsonOption,
    WorkspaceOption,
    folded,
    megabytes,
    next_step,
    number,
    plural,
    print_json,
    progress,
    say,
    table,
)
from lookalike.core.errors import ArgumentError
from lookalike.core.types import SPLITS

if TYPE_CHECKING:
    from lookalike.recipes.positiveness import Outlook
    from lookalike.recipes.positiveness_files import Given

SHOWN = 5
ALL = "all"


def positiveness(
    workspace: WorkspaceOption = Path(),
    beta: Annotated[
        float, typer.Option(help="How fast positiveness falls: exp(-beta x hops). 0: all alike.")
    ] = 0.7,
    max_distance: Annotated[int, typer.Option(help="The most hops over positives.")] = 7,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write the pairs to this file, .csv or .parquet.", show_default="none: figures only"
        ),
    ] = None,
    nodes: Annotated[
        str, typer.Option(help="image, or item: joins the photos of an item, and labels on any of them.")
    ] = "image",
    split: Annotated[
        str, typer.Option(help="Use labels whose images are both in: train, validation, test, or all.")
    ] = "train",
    min_positiveness: Annotated[float, typer.Option(help="Leave out pairs below this.")] = 0.0,
    pairs: Annotated[
        Path | None,
        typer.Option(
            help="Write the pairs of this file only, zeros too: columns image_a and image_b, or query and candidate.",
            show_default="all pairs above 0",
        ),
    ] = None,
    max_pairs: Annotated[int, typer.Option(help="Refuse to write more pairs than this.", min=1)] = 50_000_000,
    force: Annotated[bool, typer.Option("--force", help="Write them however many there are.")] = False,
    contradictions: Annotated[
        Path | None,
        typer.Option(
            help="Write the labelled negatives that positives speak against to this file.",
            show_default="none",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make soft positives of the labels: how positive each pair is that nobody labelled, by hops over positives.

    Training needs no file: it looks up the pairs of each batch. This shows what the labels say, and writes it for
    other programs.
    """
    from lookalike.core.checks import one_of
    from lookalike.positive.positiveness import Softness
    from lookalike.recipes.positiveness import outlook
    from lookalike.recipes.positiveness_files import write_given
    from lookalike.store.soft_files import write_contradictions
    from lookalike.store.tables import require_ending
    from lookalike.store.workspace import Workspace

    soft = Softness(beta, max_distance)
    within = None if one_of(split, (*SPLITS, ALL), "split") == ALL else split
    for path, what in ((out, "positiveness"), (contradictions, "contradictions")):
        if path is not None:
            require_ending(path, what)
    if pairs is not None and out is None:
        raise ArgumentError(
            "--pairs names pairs to look up, but no --out says where to.", fix="Add --out soft.csv"
        )
    opened = Workspace(workspace)
    ahead = outlook(
        opened.catalog,
        opened.labels(),
        soft,
        nodes=nodes,
        split=within,
        min_positiveness=min_positiveness,
        seed=opened.settings.seed,
    )
    if not json:
        _tell(ahead)
    if contradictions is not None:
        write_contradictions(ahead.contradictions, contradictions)
        if not json:
            say(f"{contradictions}: {plural(len(ahead.contradictions), 'label')} to look at again.")
    given = None if pairs is None or out is None else write_given(ahead, pairs, out)
    rows = None
    if pairs is None and out is not None:
        rows = _write(ahead, out, None if force else max_pairs, quiet=json)
    if json:
        print_json(_as_json(ahead, rows, given))
        return
    _told_written(ahead, out, rows, given)
    _next(out, reviewed=contradictions is not None or not len(ahead.contradictions), workspace=workspace)


def _write(ahead: "Outlook", out: Path, most: int | None, *, quiet: bool) -> list[int]:
    """Say how large the file will be, refuse what is too large, and write it."""
    from lookalike.recipes.positiveness_files import estimated_bytes, write_pairs

    size = megabytes(estimated_bytes(ahead, out))
    if most is not None and ahead.pairs > most:
        raise ArgumentError(
            f"{out} would hold {_about(ahead)}, about {size}; --max-pairs is {most:,}.",
            fix="Ask for fewer with --max-distance or --min-positiveness, look up some with --pairs FILE, or add "
            "--force. Training needs no file: it looks up the pairs of each batch.",
        )
    if not quiet:
        say(f"Writing {_about(ahead)}, {size}.")
    with progress(f"Writing {out.name}", quiet=quiet) as bar:
        return write_pairs(ahead, out, bar)


def _tell(ahead: "Outlook") -> None:
    """The graph, how many pairs it makes positive, what is left, and what speaks against it."""
    graph, extent = ahead.graph, ahead.extent
    where = "all splits" if ahead.split is None else f"split {ahead.split}"
    images = plural(ahead.images, "image")
    kinds = f"{plural(graph.positive.pairs, 'positive')} and {plural(graph.negative.pairs, 'negative')}"
    say(f"Labels of {where}: {kinds}, on {ahead.labelled:,} of {images} there; nodes are {graph.kind}s.")
    for part in graph.unusable:
        say(f"  {plural(part.count, 'label')} left out: {part.reason}.")
    if ahead.several_photos:
        say(
            "  Photos of one item are not joined: a label on one of them says nothing of the others. `lookalike "
            "finetune` joins them unless told otherwise: --nodes item shows what it learns from."
        )
    lowered = "" if ahead.limit == ahead.soft.max_distance else " (nothing beyond can count)"
    say(
        f"Made positive within {plural(ahead.limit, 'hop')}{lowered}: {_about(ahead)}. That is "
        f"{_percent(ahead.share)} of all pairs of these {ahead.images:,} images, {_percent(ahead.share_labelled)} of "
        f"those among the {ahead.labelled:,} with a label."
    )
    if not extent.is_counted:
        say(
            f"  Estimated from {extent.sources:,} of {extent.nodes:,} {graph.kind}s with a positive; standard error "
            f"{round(extent.error):,} pairs."
        )
    left = _percent(1 - ahead.share_labelled)
    say(f"Left with positiveness 0 among the images with a label: {left} of the pairs.")
    if ahead.few_negatives:
        say(
            folded(
                "Few negatives are left: in this well-connected graph nearly every pair counts as somewhat positive. A "
                "smaller --max-distance leaves more.",
                "  ",
            )
        )
    if not graph.negative.pairs:
        say("  No pair is labelled negative: only pairs without a path can be negatives.")
    _tell_contradictions(ahead)


def _tell_contradictions(ahead: "Outlook") -> None:
    found = ahead.contradictions
    if not ahead.graph.negative.pairs:
        return
    negatives = plural(ahead.graph.negative.pairs, "labelled negative")
    say(
        f"Contradictions: {len(found):,} of {negatives} within {plural(ahead.soft.max_distance, 'hop')} over "
        "positives. They keep positiveness 0."
    )
    rows = [
        (f"  {q}", c, f"{d}", f"{p:.3f}")
        for q, c, d, p in zip(*(getattr(found, n)[:SHOWN] for n in CONTRADICTION), strict=True)
    ]
    if rows:
        table(["  nearest", "", "hops", "would have had"], rows, left=2)


CONTRADICTION = ("query", "candidate", "distance", "positiveness")


def _told_written(ahead: "Outlook", out: Path | None, rows: list[int] | None, given: "Given | None") -> None:
    """What is in the file."""
    from lookalike.positive.positiveness import weights

    if given is not None:
        say(
            f"{out}: {given.written:,} of {plural(given.pairs, 'given pair')}, {given.positive:,} with positiveness "
            "above 0."
        )
        if given.outside:
            say(f"  Outside of split {ahead.split}, with empty cells: {plural(given.outside, 'pair')}.")
    if rows is not None:
        say(f"{out}: {plural(sum(rows), 'pair')}.")
        weight = weights(ahead.soft)
        shown = [
            (f"  {hops}", f"{weight[hops]:.3f}", f"{count:,}") for hops, count in enumerate(rows) if count
        ]
        table(["  hops", "positiveness", "pairs"], shown, left=1)


def _next(out: Path | None, *, reviewed: bool, workspace: Path) -> None:
    steps = ["lookalike finetune ENCODER --name NAME"]
    if out is None:
        steps.append("lookalike positiveness --out soft.parquet")
    if not reviewed:
        steps.append("lookalike positiveness --contradictions review.csv")
    next_step(*steps, workspace=workspace)


def _about(ahead: "Outlook") -> str:
    return plural(ahead.pairs, "pair") if ahead.extent.is_counted else f"about {plural(ahead.pairs, 'pair')}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _as_json(ahead: "Outlook", rows: list[int] | None, given: "Given | None") -> dict[str, Any]:
    """Everything that is printed, for programs."""
    found = ahead.contradictions
    columns = [getattr(found, name)[:1000].tolist() for name in CONTRADICTION]
    return {
        "beta": ahead.soft.beta,
        "max_distance": ahead.soft.max_distance,
        "sought_to": ahead.limit,
        "nodes": ahead.graph.kind,
        "split": ahead.split,
        "images": ahead.images,
        "labelled_images": ahead.labelled,
        "positives": ahead.graph.positive.pairs,
        "negatives": ahead.graph.negative.pairs,
        "unusable": [{"reason": part.reason, "count": part.count} for part in ahead.graph.unusable],
        "pairs": ahead.pairs,
        "counted": ahead.extent.is_counted,
        "standard_error": ahead.extent.error,
        "share_of_all": number(ahead.share),
        "share_of_labelled": number(ahead.share_labelled),
        "few_negatives": ahead.few_negatives,
        "contradictions": {
            "count": len(found),
            "nearest": [dict(zip(CONTRADICTION, row, strict=True)) for row in zip(*columns, strict=True)],
        },
        "written": None if rows is None else {str(hops): count for hops, count in enumerate(rows)},
        "given": None if given is None else given.__dict__,
    }
