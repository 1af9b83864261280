"""Samples of a workspace: drawn for the values of encoders, kept, and asked first in the labelling app."""

from dataclasses import asdict, dataclass, replace

import numpy as np
from jaxtyping import Float64

from lookalike.api.places import Places, places
from lookalike.api.sample_forecast import SampleForecast, forecast_sample
from lookalike.api.sampled_values import LEFT_OPEN
from lookalike.api.samples import (
    FEWEST,
    Sample,
    SampleQuestion,
    as_bytes,
    both_ways,
    draw,
    measure_of,
    questions_of,
)
from lookalike.audit.sampling.design import ALL_FROM, SampleUnit
from lookalike.core.clock import now_ms
from lookalike.core.errors import ArgumentError
from lookalike.core.progress import Progress
from lookalike.core.types import Rule
from lookalike.store.disk import lock
from lookalike.store.sql.samples import DrawnPair, StoredSample, write_sample
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.covariates import covariate_of
from lookalike.workflows.decide.sample_state import (
    changes_since,
    read_estimate,
    stored_rounds,
    vector_sums,
)
from lookalike.workflows.decide.trained import comparable_rule
from lookalike.workflows.label.queue import ask_first


@dataclass(frozen=True, eq=False)
class SamplePlan:
    """What can be drawn for a question, and what it would tell."""

    question: SampleQuestion
    places: Places
    guess: Float64[np.ndarray, " rows"] | None
    forecast: SampleForecast
    notes: tuple[str, ...]


def plan_sample(
    workspace: Workspace, question: SampleQuestion, *, looks: int = 2, progress: Progress | None = None
) -> SamplePlan:
    """The open pairs of a question on the pool's queries (without a pool: on all), with the forecast.

    A trained encoder is measured on the test split, and so is whatever is compared with it.
    """
    family, k = measure_of(question.measure)
    names = question.encoders
    if len(set(names)) < len(names) or not names:
        raise ArgumentError(
            f"A comparison takes two different encoders, but these are named: {', '.join(names) or 'none'}.",
            fix="Name two or more: lookalike compare color hog",
        )
    rule, notes = comparable_rule(workspace, names, Rule(split=question.split))
    catalog, pool = workspace.catalog, workspace.pool()
    asked = np.flatnonzero(catalog.is_query(rule.split))
    if pool is not None:
        asked = asked[np.isin(catalog.image[asked].astype(str), pool.queries.astype(str))]
    vectors = [workspace.embeddings(name) for name in names]
    found = places(catalog, vectors, workspace.labels(), asked, k, rule, family, progress)
    covariate, guess = covariate_of(workspace, found, rule, question.covariate)
    question = replace(question, split=rule.split, covariate=covariate)
    return SamplePlan(
        question, found, guess, forecast_sample(found, question, guess=guess, looks=looks), notes
    )


def draw_sample(
    workspace: Workspace,
    question: SampleQuestion,
    labels: int | None = None,
    *,
    width: float | None = None,
    unit: SampleUnit | None = None,
    looks: int = 2,
    seed: int | None = None,
    new_round: bool = False,
    progress: Progress | None = None,
) -> SampleQuestion | None:
    """Draw a sample for a question, keep it, and put its pairs in front of the queue. Returns the question as drawn.

    None: no pair is open, so the labels that are there decide.
    Its size is a number of labels, or what an interval of a `width` is expected to need. `unit` None: pairs or whole
    queries, whichever is expected to give the narrower interval. A question that has a sample needs `new_round`.
    """
    with lock(workspace.folder, "samples", "drawing a sample"):
        earlier = stored_rounds(workspace, question)
        if earlier and not new_round:
            raise ArgumentError(
                f"The sample {earlier[-1].name!r} exists already.",
                fix="Label its pairs: lookalike serve. To draw more pairs, add --round.",
            )
        if earlier and not changes_since(workspace, earlier[-1]):
            before = read_estimate(workspace, question)
            if before is not None and before.answered + before.excluded < (1 - LEFT_OPEN) * before.pairs:
                raise ArgumentError(
                    f"{before.pairs - before.answered - before.excluded:,} pairs of the sample "
                    f"{before.name!r} are not labelled yet.",
                    fix="Label them first: lookalike serve",
                )
        plan = plan_sample(workspace, question, looks=looks, progress=progress)
        if not plan.forecast.open:
            return None
        if labels is None:
            labels = plan.forecast.labels_for(width or 0.1, unit)
        if labels < FEWEST and plan.forecast.open >= ALL_FROM * labels:
            raise ArgumentError(
                f"{labels} labels are too few: below {FEWEST}, intervals are not reliable.",
                fix=f"Use --labels {min(2 * FEWEST, plan.forecast.open)}.",
            )
        chosen = unit or plan.forecast.at(min(labels, plan.forecast.open)).unit
        drawn = draw(
            plan.places,
            replace(plan.question, unit=chosen),
            labels,
            guess=plan.guess,
            looks=looks,
            seed=workspace.settings.seed + len(earlier) if seed is None else seed,
        )
        _keep(workspace, drawn, len(earlier))
    return drawn.question


def _keep(workspace: Workspace, sample: Sample, earlier: int) -> None:
    """Store a sample and ask its pairs, in one transaction."""
    asked, both = questions_of(sample, workspace.catalog), both_ways(sample).tolist()
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
        ask_first(connection, workspace.catalog, asked, [bool(one) for one in both])


def _name(question: SampleQuestion) -> str:
    split = f", {question.split}" if question.split else ""
    return f"{question.measure} of {', '.join(question.encoders)}{split}"
