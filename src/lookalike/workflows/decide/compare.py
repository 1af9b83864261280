"""`compare` and `estimate`: a forecast, then a drawn sample, then what its labels tell."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lookalike.api.sampled_values import MARGIN, SampledValue, sampled_value
from lookalike.api.samples import SampleQuestion
from lookalike.audit.sampling.design import SampleUnit
from lookalike.audit.sampling.estimate import exactly
from lookalike.audit.sampling.forecast import SampleStep
from lookalike.core.errors import ArgumentError, EmbeddingsError
from lookalike.core.progress import Progress
from lookalike.core.types import Rule
from lookalike.store.formats.pair_files import earlier_rows, write_pair_file
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.sample_state import SampleState, open_pairs, read_estimate
from lookalike.workflows.decide.sampled import SamplePlan, draw_sample, plan_sample
from lookalike.workflows.decide.trained import comparable_rule

WIDTH, LOOKS = 0.1, 2


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

    `wanted` is the least number of labels for the wanted width. `values` are exact where no pair is open.
    """

    question: SampleQuestion
    queries: int
    open: int
    steps: tuple[SampleStep, ...]
    wanted: SampleStep | None
    sample: SampleState | None
    values: tuple[SampledValue, ...]
    notes: tuple[str, ...]


def sample_encoders(
    workspace: Workspace,
    question: SampleQuestion,
    options: DrawOptions | None = None,
    *,
    margin: float = MARGIN,
    pairs: Path | None = None,
    progress: Progress | None = None,
) -> SampledResult:
    """Forecast, draw or read a sample. `pairs` is a file for the drawn pairs that have no label yet."""
    how = options or DrawOptions()
    if pairs is not None:
        earlier_rows(pairs)  # refused before long work begins
    found, notes = read_estimate(workspace, question, margin=margin), tuple[str, ...]()
    wants = how.labels is not None or how.width is not None
    if found is None or how.again:
        if not wants and not how.again:
            return _forecast(plan_sample(workspace, question, looks=how.looks, progress=progress), how, pairs)
        drawn = draw_sample(
            workspace, question, how.labels, width=how.width, unit=how.unit, looks=how.looks, seed=how.seed,
            new_round=how.again, progress=progress,
        )  # fmt: skip
        if drawn is None:
            return _forecast(plan_sample(workspace, question, progress=progress), how, None)
        found = read_estimate(workspace, question, margin=margin)
    elif wants:
        notes = (
            "A sample of this question exists, so nothing new was drawn. To draw more pairs, add --round.",
        )
    if found is None:
        raise ArgumentError("The sample was deleted meanwhile.", fix="Run the command again.")
    if pairs is not None:
        write_pair_file(open_pairs(workspace, question), pairs)
    with suppress(EmbeddingsError):
        notes = (*comparable_rule(workspace, question.encoders, Rule())[1], *notes)
    notes = (*notes, *found.notes)
    return SampledResult(found.question, found.queries, 0, (), None, found, found.values, notes)


def _forecast(plan: SamplePlan, how: DrawOptions, pairs: Path | None) -> SampledResult:
    if pairs is not None:
        raise ArgumentError("There is no sample yet, so no pairs to write.", fix="Draw one: add --labels 200")
    forecast, values = plan.forecast, tuple[SampledValue, ...]()
    if forecast.open == 0:
        values = tuple(
            sampled_value(value, exactly(plan.places.units(*value)[0].known), MARGIN)
            for value in plan.question.values
        )
    wanted = forecast.at(forecast.labels_for(WIDTH)) if forecast.open else None
    if wanted is not None and 2 * wanted.half_width > WIDTH:
        wanted = None
    return SampledResult(
        plan.question, plan.places.queries, forecast.open, forecast.steps, wanted, None, values, plan.notes
    )
