"""`lookalike plan`, `lookalike work` and `lookalike join`: long work on several machines."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.console import names_of, next_step, pairs, print_json, progress, say
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.cli.start.init import DatabaseUrl, MaxMegapixels, print_summary
from lookalike.core.errors import ArgumentError
from lookalike.core.text import listed, plural
from lookalike.store.shards.places import place_at
from lookalike.store.sql.pools import check_pool_name
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.workspace import Workspace
from lookalike.workflows.shards import discover as pools
from lookalike.workflows.shards import duplicates as near
from lookalike.workflows.shards import embed, run
from lookalike.workflows.shards import evaluate as ranks
from lookalike.workflows.shards import init as catalogs
from lookalike.workflows.shards.discover import JoinedPool
from lookalike.workflows.shards.evaluate import JoinedRanks
from lookalike.workflows.shards.on_ray import WorkedShards, work_on_ray
from lookalike.workflows.shards.plans import Part
from lookalike.workflows.start.init import InitSummary

Place = Annotated[
    str, typer.Argument(help="Folder or address of the plan, e.g. s3://bucket/plan.", metavar="PLACE")
]


To = Annotated[
    str, typer.Option(help="Folder that all machines can read and write, or an address.", metavar="PLACE")
]


@result(run.Planned)
def plan_init(
    source: options.Photos,
    to: To,
    workspace: options.Workspace = HERE,
    images: options.Images = None,
    layout: options.Layout = None,
    column: options.Column = None,
    seed: options.Seed = 0,
    max_megapixels: MaxMegapixels = 100.0,
    database: DatabaseUrl = "",
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Write a plan to read photos into a new workspace. Options are those of `init`."""
    plan = catalogs.plan_init(
        source,
        workspace,
        place_at(to),
        images=images,
        layout=layout,
        columns=pairs(column, "--column", "image=filename"),
        seed=seed,
        max_megapixels=max_megapixels,
        database=database,
        replace=overwrite,
    )
    _print_planned(run.Planned.of(plan), to, workspace, as_json=json)


@result(run.Planned)
def plan_duplicates(
    place: Annotated[
        str,
        typer.Argument(
            help="Folder or address of a plan of init whose shards are done.", metavar="INIT_PLACE"
        ),
    ],
    to: To,
    json: options.Json = False,
) -> None:
    """Write a plan of the search for near duplicates among the photos of a planned init.

    Join both together: lookalike join INIT_PLACE --duplicates PLACE
    """
    with progress("Planning", quiet=json) as bar:
        plan = near.plan_duplicates(place_at(place), place_at(to), bar)
    _print_planned(run.Planned.of(plan), to, HERE, as_json=json)


@result(run.Planned)
def plan_embed(
    encoder: Annotated[str, typer.Argument(help="Encoder string, e.g. timm:resnet50.", metavar="SPEC")],
    to: To,
    workspace: options.Workspace = HERE,
    name: Annotated[
        str | None,
        typer.Option(help="Name of the new encoder.", metavar="NAME", show_default="made from the string"),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(help="Photos that a network computes at once.", show_default="16, on a GPU 256", min=1),
    ] = None,
    replace: options.Replace = False,
    json: options.Json = False,
) -> None:
    """Write a plan of the vectors of all photos. Workers need the plan, the photos and the weights, no database."""
    plan = embed.plan_embed(
        Workspace(workspace), place_at(to), encoder, name=name, batch=batch, replace=replace
    )
    _print_planned(run.Planned.of(plan), to, workspace, as_json=json)


@result(run.Planned)
def plan_discover(
    to: To,
    workspace: options.Workspace = HERE,
    pool: Annotated[
        str, typer.Option(help="Name of the pool.", metavar="NAME", show_default="the main pool")
    ] = MAIN_POOL,
    generators: Annotated[
        str | None,
        typer.Option(
            help="Encoders that propose pairs, separated by commas.", metavar="ENCODERS", show_default="all"
        ),
    ] = None,
    top: options.Top = None,
    queries: Annotated[
        int | None, typer.Option(help="Number of queries to sample.", show_default="as in discover", min=1)
    ] = None,
    seed: options.WorkspaceSeed = None,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Write a plan of the pool of pairs worth labelling. Options are those of `discover`.

    Workers read the vectors in the workspace's folder `embeddings`, or where `--vectors` of `work` says.
    """
    plan = pools.plan_discover(
        Workspace(workspace, pool=check_pool_name(pool), new_pool=True),
        place_at(to),
        None if generators is None else names_of(generators),
        pool=pool,
        replace=overwrite,
        top=top,
        queries=queries,
        seed=seed,
    )
    _print_planned(run.Planned.of(plan), to, workspace, as_json=json)


@result(run.Planned)
def plan_evaluate(
    to: To,
    encoder: options.Encoders = None,
    workspace: options.Workspace = HERE,
    json: options.Json = False,
) -> None:
    """Write a plan to rank all labelled pairs, at item level and by cosine.

    Workers read the vectors in the workspace's folder `embeddings`. `join` writes a file for `evaluate --ranks`.
    """
    plan = ranks.plan_evaluate(Workspace(workspace), place_at(to), encoder or [])
    _print_planned(run.Planned.of(plan), to, workspace, as_json=json)


def _print_planned(planned: run.Planned, to: str, workspace: Path, *, as_json: bool) -> None:
    if as_json:
        print_json(planned)
        return
    say(
        f"Planned {planned.command} of {planned.name}: {plural(planned.images, 'image')} in "
        f"{plural(planned.units, 'unit')}, so at most {plural(planned.units, 'worker')} can share them."
    )
    sees = f"{to} and {planned.reads}" if planned.reads else to
    say(f"Run one worker for each shard, on any machine that sees {sees}. For example, two:")
    place = shlex.quote(to)
    next_step(f"lookalike work {place} --shard 1/2", f"lookalike work {place} --shard 2/2")
    next_step(f"lookalike join {run.join_arguments(to)}", workspace=workspace)


@result(run.WorkedShard | WorkedShards)
def work(
    place: Place,
    shard: Annotated[
        str | None,
        typer.Option(help="Which shard of how many, e.g. 3/64.", metavar="I/N", show_default=False),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            help="Compute all shards on a Ray cluster: HOST:PORT of its head, or local for this machine.",
            metavar="ADDRESS",
            show_default=False,
        ),
    ] = None,
    shards: Annotated[
        int | None, typer.Option(help="Number of shards on Ray.", show_default="4 per processor", min=1)
    ] = None,
    cpus: Annotated[int, typer.Option(help="Processors for each shard on Ray.", min=1)] = 1,
    gpus: Annotated[float, typer.Option(help="GPUs for each shard on Ray.", min=0)] = 0,
    photos: Annotated[
        str | None,
        typer.Option(
            help="Folder of the photos on this machine, or their address.",
            metavar="PLACE",
            show_default="as planned",
        ),
    ] = None,
    vectors: Annotated[
        str | None,
        typer.Option(
            help="Folder of the vectors on this machine, or their address.",
            metavar="PLACE",
            show_default="as planned",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes that read photos.", show_default="one per core", min=1, max=256),
    ] = None,
    json: options.Json = False,
) -> None:
    """Compute one shard of a plan and write it as one file, or all shards on a Ray cluster.

    Shards may run in any order, at the same time, and again: a shard that exists is not computed twice.
    """
    if (shard is None) == (ray is None):
        raise ArgumentError(
            "Give either --shard or --ray.",
            fix="For example: --shard 1/4, or --ray local for all shards here.",
        )
    if ray is not None:
        with progress("Shards", quiet=json) as bar:
            all_done = work_on_ray(
                ray,
                place,
                shards=shards,
                photos=photos,
                vectors=vectors,
                cpus=cpus,
                gpus=gpus,
                progress=bar,
            )
        if json:
            print_json(all_done)
            return
        say(f"{plural(all_done.shards, 'shard')} are done on {plural(all_done.machines, 'machine')}.")
        next_step(f"lookalike join {run.join_arguments(place)}")
        return
    part = Part.parse(shard or "")
    with progress(f"Shard {shard}", quiet=json) as bar:
        done = run.work(place, part, photos=photos, vectors=vectors, workers=workers, progress=bar)
    if json:
        print_json(done)
    elif not done.units:
        say(f"Shard {shard} is empty: the plan has fewer units than {part.of:,}.")
    elif done.existed:
        say(f"Shard {shard} exists already in {place}.")
    else:
        say(f"Shard {shard} is done: {plural(done.units, 'unit')}. When all shards are done, join them.")
        next_step(f"lookalike join {run.join_arguments(place)}")


@result(run.JoinedShards)
def join(
    place: Place,
    workspace: options.Workspace = HERE,
    duplicates: Annotated[
        str | None,
        typer.Option(
            help="Place of the plan of near duplicates, for a plan of init.",
            metavar="PLACE",
            show_default="searched here",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Check all shards of a plan, and write into the workspace what one process would have written."""
    with progress("Joining", quiet=json) as bar:
        if duplicates is None:
            done = run.join(workspace, place, bar)
        else:
            done = run.join_with_duplicates(workspace, place, duplicates, bar)
    if json:
        print_json(done)
        return
    say(f"Joined {plural(done.shards, 'shard')}.")
    if len(done.made) > 1:
        say(
            "The shards were made on different kinds of processors. Vectors can differ from those of one machine in "
            "their last bits, and so can near duplicates whose distance is at the limit:",
            *(f"  {one}" for one in done.made),
        )
    if isinstance(done.result, InitSummary):
        print_summary(done.result, workspace, photos=True)
        return
    made = done.result
    if isinstance(made, JoinedPool):
        say(
            f"The pool has {plural(made.pairs, 'pair')} of {plural(made.queries, 'query', 'queries')}, proposed by "
            f"{listed(made.generators)}."
        )
        next_step("lookalike discover", workspace=workspace)
    elif isinstance(made, JoinedRanks):
        say(
            f"Wrote the ranks of {plural(made.pairs, 'labelled pair')} by {listed(made.encoders)}: {made.file}"
        )
        next_step(f"lookalike evaluate --ranks {shlex.quote(made.file)}", workspace=workspace)
    else:
        say(f"{made.encoder}: {plural(made.images, 'vector')} of dimension {made.dimension:,}.")
        next_step("lookalike status", workspace=workspace)
