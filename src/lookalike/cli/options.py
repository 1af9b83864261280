"""Options that several commands have, declared once: the same name means the same everywhere."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from typer.models import OptionInfo

from lookalike.core.errors import ArgumentError

HERE = Path()
Workspace = Annotated[
    Path,
    typer.Option(
        "--workspace", "-w", help="Folder of the workspace.", metavar="DIR", show_default="the current folder"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]

# ---- reading a catalog
Photos = Annotated[
    str,
    typer.Argument(
        help="A folder of photos, its address (s3://BUCKET/FOLDER), a CSV or Parquet table, or a published data "
        "set: fashion:DIR, inshop:DIR, "
        "consumer2shop:DIR, furniture:DIR, tll:DIR, tll-objects:DIR, tll-faces:DIR, oml:FILE, hf-datasets:ID.",
        metavar="TABLE_OR_FOLDER",
    ),
]
Images = Annotated[
    str | None,
    typer.Option(
        help="Folder or address that the paths in the table are relative to.",
        metavar="DIR",
        show_default="the folder of the table",
    ),
]
Layout = Annotated[
    str | None,
    typer.Option(
        help="What the levels of a folder mean: split, category, item, photo, or - to skip a level, joined by /.",
        show_default="by depth",
    ),
]
Column = Annotated[
    list[str] | None,
    typer.Option(
        help="Read a column under another name, e.g. image=filename. Repeatable.", metavar="NAME=COLUMN"
    ),
]
LabelColumn = Annotated[
    list[str] | None,
    typer.Option(
        help="Read a column of a table under another name, e.g. candidate=gallery. Repeatable.",
        metavar="NAME=COLUMN",
    ),
]

# ---- what is measured, and on what
Encoders = Annotated[
    list[str] | None,
    typer.Argument(help="Names of encoders in the workspace.", metavar="ENCODER", show_default="all"),
]
Measures = Annotated[
    str | None,
    typer.Option(
        help="Measures, separated by commas, e.g. 'DCS(alpha=10),EHR@5,AUC_mac'.",
        metavar="MEASURES",
        show_default="those of the papers",
    ),
]
Level = Literal["item", "image"]
LabelFormat = Literal["table", "qrels", "vsd", "label-studio", "votes"]
ExportFormat = Literal["table", "qrels", "vsd", "label-studio", "votes", "package"]
Where = Annotated[
    list[str] | None,
    typer.Option(
        help="Use only queries with this value, e.g. domain=wild. Repeatable.", metavar="COLUMN=VALUE"
    ),
]
K = Annotated[int, typer.Option("-k", help="Number of items in a result list (the K of HR@K).", min=1)]
Confidence = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Seed = Annotated[int, typer.Option(help="Seed of the random choices.", min=0)]
WorkspaceSeed = Annotated[
    int | None,
    typer.Option(help="Seed of the random choices.", min=0, show_default="that of the workspace"),
]
Nodes = Annotated[
    Literal["image", "item"],
    typer.Option(help="item: a label holds for all photos of its two items. image: only for its two photos."),
]

Pool = Annotated[
    str,
    typer.Option(
        "--pool",
        help="Name of the pool to use, and with it the labels of its queries.",
        metavar="NAME",
        show_default="the main pool, and all labels",
    ),
]
Top = Annotated[
    int | None,
    typer.Option(
        help="Distinct items that each generator proposes per query.",
        show_default="as before; 5 for a new pool",
        min=1,
        max=100_000,
    ),
]

# ---- drawn samples
Labels = Annotated[
    int | None, typer.Option("--labels", help="Draw pairs for this number of labels.", min=1, metavar="N")
]
Width = Annotated[
    float | None,
    typer.Option(
        "--width",
        help="Draw as many pairs as an interval of this width is expected to need.",
        min=0.001,
        max=1.999,
    ),
]
Round = Annotated[bool, typer.Option("--round", help="Draw more pairs for a question that has a sample.")]
Unit = Annotated[
    Literal["pair", "query"] | None,
    typer.Option(
        help="Draw single pairs, or whole queries with all their pairs.", show_default="the more precise one"
    ),
]
Population = Annotated[
    Literal["auto", "fixed", "sample"],
    typer.Option(
        help="fixed: the queries are all there are. sample: they are a sample of more queries. auto: sample, unless "
        "they are all of the catalog."
    ),
]
Covariate = Annotated[
    str,
    typer.Option(
        help="Guess of the answers that makes the interval narrower: corrected, none, or judge:NAME.",
        metavar="NAME",
    ),
]
Measure = Annotated[
    str | None,
    typer.Option("--measure", help="HR@K or DCG@K.", metavar="MEASURE", show_default="HR@K with -k"),
]
InterimLooks = Annotated[
    int, typer.Option(help="How often you will read the estimate, after equal parts of the labels.", min=1)
]

# ---- generated photos
Photo = Annotated[int, typer.Option("--photos", help="Number of photos to draw.", min=200, max=1_000_000)]

# ---- what is written
Pairs = Annotated[
    Path | None,
    typer.Option(
        help="Write the pairs to label next to this .csv or .parquet file. Labels that you typed into it are kept.",
        metavar="FILE",
    ),
]
Replace = Annotated[
    bool, typer.Option("--replace", help="Replace what exists under the same name or id. Keep the rest.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Delete what exists and start again.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]


def output(help: str, default: str = "not written", metavar: str = "FILE") -> OptionInfo:
    """Where the main result of a command is written."""
    made: OptionInfo = typer.Option("--output", "-o", help=help, metavar=metavar, show_default=default)
    return made


def file(name: str, help: str, default: str = "", metavar: str = "FILE") -> OptionInfo:
    """A file that a command reads, or writes in addition to its main result."""
    made: OptionInfo = typer.Option(name, help=help, metavar=metavar, show_default=default or False)
    return made


def given(context: typer.Context) -> list[str]:
    """The parameters of a command that were typed, not left at their defaults."""
    names = [str(one.name) for one in context.command.params]
    sources = zip(names, map(context.get_parameter_source, names), strict=True)
    return [one for one, source in sources if source is not None and source.name == "COMMANDLINE"]


def require_new(*paths: Path | None, force: bool) -> None:
    """Refuse to overwrite a file that the user named, before any work is done."""
    for path in paths:
        if path is not None and path.is_file() and not force:
            raise ArgumentError(
                f"{path} exists already.", fix="Choose another name, or overwrite the file with --force."
            )
