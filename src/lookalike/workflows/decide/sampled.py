"""Samples of a workspace: forecast and drawn for the values of encoders, asked first in the labelling app, and read."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from lookalike.api.sample_forecast import SamplePlan
from lookalike.api.sampled_values import LEFT_OPEN
from lookalike.api.samples import (
    FEWEST,
    Sample,
    SampleQuestion,
    as_bytes,
    both_ways,
    questions_of,
)
from lookalike.audit.sampling.design import ALL_FROM, SampleUnit
from lookalike.audit.sampling.estimate import LEVEL
from lookalike.audit.sampling.forecast import SampleStep
from lookalike.audit.sampling.values import MARGIN, SampledValue
from lookalike.audit.training_verdict import TrainingVerdict
from lookalike.core.clock import now_ms
from lookalike.core.errors import ArgumentError, EmbeddingsError
from lookalike.core.progress import Progress
from lookalike.core.text import plural
from lookalike.core.types import Rule, Split
from lookalike.store.disk import lock
from lookalike.store.formats.pair_files import earlier_rows, write_pair_file
from lookalike.store.sql.samples import DrawnPair, StoredSample, write_sample
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.sample_plan import exact_values, plan_sample, pool_queries
from lookalike.workflows.decide.sample_state import (
    SampleState,
    open_pairs,
    read_estimate,
    stored_rounds,
    vector_sums,
)
from lookalike.workflows.decide.trained import comparable_rule
from lookalike.workflows.label.queue import ask_first

WIDTH, LOOKS = 0.1, 2
LEAST_MORE = 50  # queries that the next step adds at least
NONE_LEFT = "No pair is left to draw: all pairs that matter on these queries have a label."


@dataclass(frozen=True)
class DrawOptions:
    """How to draw: so many labels, or as many as an interval of a width needs (None: draw nothing).

    `unit` None: what is expected to give the narrower interval. `again` draws another round of a question.
    """

    labels: int | None = None
    width: float | None = None
    unit: SampleUnit | None = None
    looks: int = LOOKS
    again: bool = False
    seed: int | None = None


@dataclass(frozen=True)
class SampledResult:
    """A question before it has a sample: `open` pairs and what more labels buy (`steps`); then its sample so far.

    `wanted` is the least number of labels for the wanted width. `values` are exact where no pair is open. `training` is
    the verdict between an encoder and the one that it was trained on, which decides between these two.
    """

    question: SampleQuestion
    queries: int
    open: int
    steps: tuple[SampleStep, ...]
    wanted: SampleStep | None
    sample: SampleState | None
    values: tuple[SampledValue, ...]
    notes: tuple[str, ...]
    training: TrainingVerdict | None = None


def sample_encoders(
    workspace: Workspace,
    question: SampleQuestion,
    options: DrawOptions | None = None,
    *,
    margin: float = MARGIN,
    level: float = LEVEL,
    pairs: Path | None = None,
    progress: Progress | None = None,
) -> SampledResult:
    """Forecast, draw or read a sample. `pairs` is a file for the drawn pairs that have no label yet."""
    how = options or DrawOptions()
    if pairs is not None:
        earlier_rows(pairs)  # refused before long work begins
    if how.labels is not None and how.width is not None:
        raise ArgumentError(
            "--labels and --width are both given, and each says how many pairs to draw.",
            fix="Give one of them.",
        )
    found, notes = read_estimate(workspace, question, margin=margin, level=level), tuple[str, ...]()
    wants = how.labels is not None or how.width is not None
    if found is None or how.again:
        if pairs is not None and not wants and not how.again:
            raise ArgumentError(
                "There is no sample yet, so no pairs to write.", fix="Draw one: add --labels 200"
            )
        if not (wants or how.again) or not draw_sample(workspace, question, how, progress):
            if found is not None:
                notes = (NONE_LEFT,)
            else:
                return _forecast(plan_sample(workspace, question, how.looks, progress), margin, level)
        found = read_estimate(workspace, question, margin=margin, level=level)
    elif wants:
        notes = (
            "A sample of this question exists, so nothing new was drawn. To draw more pairs, add --round.",
        )
    if found is None:
        raise ArgumentError("The sample was deleted meanwhile.", fix="Run the command again.")
    notes = notes or _drawn_as(found, how)
    if pairs is not None:
        write_pair_file(open_pairs(workspace, question), pairs)
    with suppress(EmbeddingsError):
        notes = (*comparable_rule(workspace, question.encoders, Rule())[1], *notes)
    notes = (*notes, *found.notes)
    return SampledResult(found.question, found.queries, 0, (), None, found, found.values, notes)


def _drawn_as(found: SampleState, how: DrawOptions) -> tuple[str, ...]:
    """A note where whole queries were drawn, because their pairs are more or fewer than requested."""
    if how.labels is None or how.unit is not None or found.complete or found.question.unit == "pair":
        return ()
    return (
        f"{plural(found.pairs, 'pair')} were drawn for --labels {how.labels}: all pairs of some queries. They are "
        "expected to tell more than as many single pairs.",
    )


def all_exact(values: Sequence[SampledValue]) -> bool:
    """Whether all pairs that matter have a label, so that only more queries can tell more."""
    return bool(values) and all(one.method == "exact" for one in values)


def more_queries(workspace: Workspace, queries: int, split: Split | None) -> tuple[str, ...] | None:
    """The command that adds queries to the pool, as many again as a question has, or all; None if all are there.

    None is needed, (), where the pool has more queries than the question already. A question on the test split needs
    queries of that split.
    """
    pool, there = workspace.pool(), int(workspace.catalog.is_query(split).sum())
    if pool is None or queries >= there:
        return None
    if len(pool_queries(workspace, split)) > queries:
        return ()
    command = (
        f"lookalike discover --queries {len(pool.queries) + min(max(queries, LEAST_MORE), there - queries)}"
    )
    of_split = "" if split is None else f" --where split={split}"
    named = "" if workspace.pool_name == MAIN_POOL else f" --pool {workspace.pool_name}"
    return (command + of_split + named,)


def _forecast(plan: SamplePlan, margin: float, level: float) -> SampledResult:
    values, wanted = tuple[SampledValue, ...](), None
    if plan.open:
        wanted = plan.at(plan.labels_for(WIDTH))
    else:
        values = exact_values(plan.question, plan.places, margin, level)
    if wanted is not None and 2 * wanted.half_width > WIDTH:
        wanted = None
    return SampledResult(
        plan.question, plan.places.queries, plan.open, plan.steps, wanted, None, values, plan.notes
    )


def draw_sample(
    workspace: Workspace, question: SampleQuestion, how: DrawOptions, progress: Progress | None = None
) -> bool:
    """Draw a sample for a question, keep it, and put its pairs in front of the queue.

    False: no pair is open, so the labels that are there decide.
    """
    with lock(workspace.folder, "samples", "drawing a sample"):
        earlier = stored_rounds(workspace, question)
        if earlier and not how.again:
            raise ArgumentError(
                f"The sample {earlier[-1].name!r} exists already.",
                fix="Label its pairs: lookalike serve. To draw more pairs, add --round.",
            )
        before = read_estimate(workspace, question)
        if before is not None and not before.notes:
            left = before.pairs - before.answered - before.excluded
            if left > LEFT_OPEN * before.pairs:
                raise ArgumentError(
                    f"{left:,} pairs of the sample {before.name!r} are not labelled yet.",
                    fix="Label them first: lookalike serve",
                )
        plan = plan_sample(workspace, question, how.looks, progress)
        if not plan.open:
            return False
        labels = plan.labels_for(how.width or WIDTH, how.unit) if how.labels is None else how.labels
        if labels < FEWEST and plan.open >= ALL_FROM * labels:
            raise ArgumentError(
                f"{labels} labels are too few: below {FEWEST}, intervals are not reliable.",
                fix=f"Use --labels {min(2 * FEWEST, plan.open)}.",
            )
        seed = workspace.settings.seed + len(earlier) if how.seed is None else how.seed
        _keep(workspace, plan.draw(labels, how.unit, seed), len(earlier))
    return True


def _keep(workspace: Workspace, sample: Sample, earlier: int) -> None:
    """Store a sample and ask its pairs, in one transaction."""
    asked = questions_of(sample, workspace.catalog)
    columns = (asked.query, asked.candidate, asked.item, sample.stratum, sample.probability)
    question = asdict(sample.question) | {"vectors": vector_sums(workspace, sample.question.encoders)}
    stored = StoredSample(
        name=_name(sample.question) + (f", round {earlier + 1}" if earlier else ""),
        question=question,
        seed=sample.seed,
        looks=sample.looks,
        catalog=workspace.catalog.fingerprint,
        made=now_ms(),
        frame=as_bytes(sample),
        pairs=tuple(DrawnPair(*row) for row in zip(*(column.tolist() for column in columns), strict=True)),
    )
    with workspace.database.write() as connection:
        write_sample(connection, stored)
        ask_first(connection, workspace.catalog, asked, both_ways(sample).tolist())


def _name(question: SampleQuestion) -> str:
    split = f", {question.split}" if question.split else ""
    return f"{question.measure} of {', '.join(question.encoders)}{split}"
