"""`bias`: the measures on simulated pools, compared with a complete truth."""

from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from lookalike.core.checks import at_least
from lookalike.core.cores import cores
from lookalike.core.progress import Bar, Progress
from lookalike.research.bias.calibrate import CalibrationCheck, as_toml, held
from lookalike.research.bias.figure import bias_figure
from lookalike.research.bias.ground_truths import (
    DEPTH,
    Kind,
    queries_of,
    studio_encoders,
    studio_ground_truth,
    workspace_ground_truth,
    write_wild,
)
from lookalike.research.bias.pools import GroundTruth
from lookalike.research.bias.simulate import MEASURES, SimulatedPools, simulate
from lookalike.research.bias.statistics import BiasFigure, summary
from lookalike.store.disk import disk_errors, write_file
from lookalike.store.formats.tables import csv_text
from lookalike.store.workspace import Workspace
from lookalike.studio import studio
from lookalike.workflows.decide.trained import trained
from lookalike.workflows.start.studio import write_studio

CHUNK = 10
CHECK_PHOTOS = 300
FILES = ("bias.csv", "pools.csv", "bias.svg")
SIZE = 128
"""Width of the studio's photos here: descriptors look at no more."""


@dataclass(frozen=True)
class BiasResult:
    """All figures, and the words of the shipped calibration against what was true; `true_hr5` by encoder.

    An encoder's true HR@5 is the mean over the ground truths that have it.
    """

    made: dict[str, int | str | list[str]]
    pools: int
    true_hr5: dict[str, float]
    figures: tuple[BiasFigure, ...]
    words: tuple[CalibrationCheck, ...]
    trained_left_out: tuple[str, ...]
    written: tuple[str, ...] = ()


Simulated = tuple[tuple[SimulatedPools, ...], BiasResult]  # the pools, and their figures


def bias_on_studio(
    images: int, studios: int, pools: int, seed: int, bar: Bar, *, kind: Kind = "catalog"
) -> Simulated:
    """Pools spread evenly over some studios, of seeds `seed`, `seed + 1`, ...; photos live in a temporary folder."""
    at_least(studios, 1, "studios")
    outcomes: list[SimulatedPools] = []
    for place in range(studios):
        share = at_least(pools, studios, "pools") // studios + (place < pools % studios)
        ground_truth = studio_of(images, seed + place, bar, kind)
        with bar(f"Simulating pools on studio {seed + place}") as progress:
            outcomes += simulated(ground_truth, share, seed + place, progress)
    made: dict[str, int | str | list[str]] = {
        "catalog": "studio",
        "queries": kind,
        "images": images,
        "studios": studios,
        "pools": pools,
        "seed": seed,
    }
    return _simulated(outcomes, made)


def studio_of(images: int, seed: int, bar: Bar, kind: Kind = "catalog", depth: int = DEPTH) -> GroundTruth:
    """One studio with its encoders; its photos live in a temporary folder while they are described."""
    drawn = studio(images, photos_per_item=2, seed=seed)
    asked = queries_of(drawn, kind)
    with TemporaryDirectory(prefix="lookalike-bias-") as folder:
        photos = Path(folder) / "photos"
        with bar(f"Drawing studio {seed}") as progress:
            write_studio(photos, drawn, size=SIZE, progress=progress)
            write_wild(photos, drawn, asked, SIZE)
        with bar(f"Embedding studio {seed}") as progress:
            encoders = studio_encoders(drawn, photos, asked, progress)
    return studio_ground_truth(drawn, encoders, asked, depth=depth)


def bias_on_workspace(workspace: Workspace, pools: int, seed: int, bar: Bar) -> Simulated:
    """Pools over a workspace whose labels are complete for every encoder's top 10."""
    with bar("Ranking") as progress:
        ground_truth = workspace_ground_truth(workspace, progress)
    with bar("Simulating pools") as progress:
        outcomes = simulated(ground_truth, at_least(pools, 1, "pools"), seed, progress)
    made: dict[str, int | str | list[str]] = {"catalog": "workspace", "pools": pools, "seed": seed}
    return _simulated(outcomes, made, trained(workspace))


def simulated(
    ground_truth: GroundTruth, pools: int, seed: int, progress: Progress | None = None
) -> list[SimulatedPools]:
    """Pools of one ground truth, spread over the processors; the result does not depend on their number."""
    from loky import get_reusable_executor

    starts = range(0, pools, CHUNK)
    executor = get_reusable_executor(max_workers=min(cores(), len(starts)))
    found = []
    jobs = [
        executor.submit(simulate, ground_truth, min(CHUNK, pools - start), seed, first=start)
        for start in starts
    ]
    for done, job in enumerate(jobs):
        found.append(job.result())
        if progress is not None:
            progress(min((done + 1) * CHUNK, pools), pools)
    return found


def write_results(
    outcomes: Sequence[SimulatedPools], found: BiasResult, folder: Path, title: str
) -> list[Path]:
    """bias.csv (every figure with its interval), pools.csv (every score of every pool), bias.svg (the figure)."""
    with disk_errors("making the folder", folder):
        folder.mkdir(parents=True, exist_ok=True)
    columns = tuple(field.name for field in fields(BiasFigure))
    figures = (tuple(map(_number, astuple(one))) for one in found.figures)
    pools = csv_text(POOL_COLUMNS, _pool_rows(outcomes))
    for name, content in zip(
        FILES, (csv_text(columns, figures), pools, bias_figure(found.figures, title)), strict=True
    ):
        write_file(folder / name, content.encode())
    return [folder / name for name in FILES]


def write_calibration(outcomes: Sequence[SimulatedPools], found: BiasResult, path: Path, bar: Bar) -> None:
    """The calibration file that `audit.trust` reads."""
    made = found.made | {"encoders": list(found.true_hr5)}
    write_file(path, as_toml(outcomes, made, check_pool(bar)).encode())


def check_pool(bar: Bar) -> SimulatedPools:
    """One pool of a small generated catalog with all encoders: what a calibration file is checked by."""
    return simulate(studio_of(CHECK_PHOTOS, 0, bar), 1, 0)


POOL_COLUMNS = (
    "ground_truth",
    "pool",
    "answers",
    "top",
    "queries",
    "labels",
    "random_pairs",
    "positive_rate",
    "encoder",
    "generator",
    "coverage@5",
    "true HR@5",
    "true HR@5 of the pool's queries",
    "true HR@10",
    *MEASURES,
)


def _simulated(
    outcomes: Sequence[SimulatedPools],
    made: dict[str, int | str | list[str]],
    left_out: tuple[str, ...] = (),
) -> Simulated:
    truths: dict[str, dict[bytes, float]] = {}
    for one in outcomes:
        for name, value in zip(one.encoders, one.true_all.tolist(), strict=True):
            truths.setdefault(name, {})[one.true_all.tobytes()] = value
    true_hr5 = {name: float(np.mean(list(seen.values()))) for name, seen in truths.items()}
    size = sum(map(len, outcomes))
    return tuple(outcomes), BiasResult(made, size, true_hr5, summary(outcomes), held(outcomes), left_out)


def _pool_rows(outcomes: Sequence[SimulatedPools]) -> Iterator[tuple[object, ...]]:
    ground_truths: dict[bytes, int] = {}
    counted: dict[int, int] = {}
    for one in outcomes:
        ground_truth = ground_truths.setdefault(one.true_all.tobytes(), len(ground_truths))
        for p in range(len(one)):
            number = counted[ground_truth] = counted.get(ground_truth, -1) + 1
            head = (
                ground_truth,
                number,
                one.answers[p],
                one.top[p],
                one.queries[p],
                one.labels[p],
                one.random_pairs[p],
            )
            for e, encoder in enumerate(one.encoders):
                truths = (one.true_all[e], one.true_same[p, e], one.true_10[e])
                yield (
                    *head,
                    _number(one.positive_rate[p]),
                    encoder,
                    int(one.generator[p, e]),
                    _number(one.coverage[p, e]),
                    *map(_number, truths),
                    *(_number(one.value[p, m, e]) for m in range(len(one.measures))),
                )


def _number(value: object) -> object:
    """Six digits; nothing where undefined. Text and counts stay."""
    if not isinstance(value, float):
        return value
    return f"{value:.6g}" if np.isfinite(value) else ""
