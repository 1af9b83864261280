"""`lookalike compare` and `lookalike estimate`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lookalike.api.samples import FEWEST, SampleQuestion
from lookalike.audit.sampling.design import ALL_FROM
from lookalike.audit.sampling.values import MARGIN
from lookalike.audit.training_verdict import MEASURE
from lookalike.cli import options
from lookalike.cli.console import FILL_IN, label_first, next_step, print_json, progress, say, table
from lookalike.cli.decide.after_measuring import next_after_measuring, say_licence
from lookalike.cli.label.labels_stats import LIST_CONTRADICTIONS
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.settings import Declared
from lookalike.core.text import folded, plural
from lookalike.store.people.people import active
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.next_steps import with_trained
from lookalike.workflows.decide.sample_state import SampleState
from lookalike.workflows.decide.sampled import (
    LOOKS,
    WIDTH,
    DrawOptions,
    SampledResult,
    all_exact,
    more_queries,
    sample_encoders,
)
from lookalike.workflows.decide.trained import trained_encoders
from lookalike.workflows.decide.training_verdict import (
    advised_labels,
    replaced_by_promoted,
    told_by,
    trained_pair,
    verdict_among,
)


class SampleOptions(Declared):
    """What both commands take: the question, and how to draw for it."""

    workspace: options.Workspace = HERE
    pool: options.Pool = MAIN_POOL
    k: options.K = 5
    measure: options.Measure = None
    labels: options.Labels = None
    width: options.Width = None
    round: options.Round = False
    unit: options.Unit = None
    population: options.Population = "auto"
    covariate: options.Covariate = "corrected"
    interim_looks: options.InterimLooks = LOOKS


DEFAULT = SampleOptions()


@result(SampledResult)
def compare(
    encoder: Annotated[list[str], typer.Argument(help="Names of two or more encoders.", metavar="ENCODER")],
    chosen: SampleOptions = DEFAULT,
    negligible: Annotated[
        float, typer.Option(help="Largest difference that does not matter.", min=0.0, max=0.999)
    ] = MARGIN,
    pairs: options.Pairs = None,
    seed: options.WorkspaceSeed = None,
    json: options.Json = False,
) -> None:
    """Find out which encoder is better from a few labels of pairs that are drawn at random.

    Without a sample, this prints what more labels would tell. --labels draws a sample and puts its pairs in front of
    the queue of the labelling app. Run the command again to read the result. It does not favour the encoders that fed
    the pool.
    """
    _run(encoder if len(encoder) > 1 else encoder * 2, chosen, negligible, pairs, seed, json)


@result(SampledResult)
def estimate(
    encoder: Annotated[str, typer.Argument(help="Name of an encoder.", metavar="ENCODER")],
    chosen: SampleOptions = DEFAULT,
    pairs: options.Pairs = None,
    seed: options.WorkspaceSeed = None,
    json: options.Json = False,
) -> None:
    """Estimate the true HR@K or DCG@K of an encoder from a few labels of pairs that are drawn at random.

    Without a sample, this prints what more labels would tell. --labels draws a sample and puts its pairs in front of
    the queue of the labelling app. Run the command again to read the result.
    """
    _run([encoder], chosen, MARGIN, pairs, seed, json)


def _run(
    encoders: Sequence[str],
    chosen: SampleOptions,
    margin: float,
    pairs: Path | None,
    seed: int | None,
    json: bool,
) -> None:
    opened, measure = Workspace(chosen.workspace, pool=chosen.pool), chosen.measure or f"HR@{chosen.k}"
    question = SampleQuestion(
        tuple(encoders), measure, population=chosen.population, covariate=chosen.covariate
    )
    how = DrawOptions(chosen.labels, chosen.width, chosen.unit, chosen.interim_looks, chosen.round, seed)
    with progress("Searching", quiet=json) as bar:
        found = sample_encoders(opened, question, how, margin=margin, pairs=pairs, progress=bar)
    found = replace(found, notes=(*found.notes, *_unused(found, chosen)))
    if json:
        judged = verdict_among(opened, encoders) if measure == MEASURE else None
        print_json(replace(found, training=None if judged is None else judged[2]))
        return
    say(*map(folded, found.notes))
    told = told_by(opened, found.values, margin)
    is_decided = bool(told) and all(one.is_decided for one in told)
    say(*(folded(one.sentence) for one in told))
    if pairs is not None and found.sample is not None and found.sample.answered == found.sample.pairs:
        say(f"All drawn pairs have a label, so {pairs} has no pair.")
    elif pairs is not None:
        say(f"The drawn pairs without a label are in {pairs}. {FILL_IN}")
    command = _command(question, chosen, margin)
    if found.sample is not None:
        _print_sample(found.sample, is_decided=is_decided)
        _after_sample(opened, found, command, pairs, is_decided=is_decided)
    elif found.open:
        _print_forecast(found)
        wanted = advised_labels(opened, encoders)
        if trained_pair(opened, encoders) is None:
            wanted = wanted if found.wanted is None else max(found.wanted.labels, FEWEST)
            wanted = wanted if found.open >= ALL_FROM * wanted else found.open
        advised = min(wanted, found.open)
        next_step(f"{command} --labels {advised}", workspace=chosen.workspace)
    elif found.values:
        say(f"No pair is left to label on these {plural(found.queries, 'query', 'queries')}.")
        _after_all(
            opened, found, f"{command} --labels {advised_labels(opened, encoders)}", is_decided=is_decided
        )


def _after_sample(
    opened: Workspace, found: SampledResult, command: str, pairs: Path | None, *, is_decided: bool
) -> None:
    """The next step once there is a sample."""
    one, another = (
        found.sample,
        f"{command} --labels {advised_labels(opened, found.question.encoders)} --round",
    )
    if one is None or one.notes:  # it estimates what is no longer there
        next_step(another, workspace=opened.folder)
    elif one.answered + one.excluded < one.pairs and (one.contradicted or not (is_decided and one.look)):
        if promotion := _promotion(opened, found, is_decided=is_decided):
            say_licence(opened, promotion[0])
            say(f"To stop labelling here: {promotion[0]}")
        _label_next(opened, one, command, pairs)
    else:
        _after_all(opened, found, another, is_decided=is_decided)


def _after_all(opened: Workspace, found: SampledResult, another: str, *, is_decided: bool) -> None:
    """The next step where labels decide, or drawn pairs have all of theirs: more queries if no pair is open."""
    more = more_queries(opened, found.queries, found.question.split) if all_exact(found.values) else ()
    promotion = _promotion(opened, found, is_decided=is_decided)
    if promotion is not None:
        if _is_open(found) and not (found.sample and found.sample.left):
            say("That is enough to decide.")
        if not promotion:
            say(folded(_served(opened, found.question.encoders)))
        next_after_measuring(opened, *(promotion or ("lookalike serve",)))
    elif _is_open(found):
        is_exact, of_training = (
            all_exact(found.values),
            trained_pair(opened, found.question.encoders) is not None,
        )
        if found.sample is not None and not is_exact and not of_training:
            say(
                f"All labels together may decide already: lookalike evaluate {' '.join(found.question.encoders)}"
            )
        if more is None:
            say(
                "All queries are in the pool, and all pairs that matter have a label: no more labels can tell."
            )
        next_step(*(("lookalike report",) if more is None else (*more, another)), workspace=opened.folder)


def _promotion(opened: Workspace, found: SampledResult, *, is_decided: bool) -> tuple[str, ...] | None:
    """The promotion that follows a decision; () where nothing is to be promoted, None where nothing is decided."""
    encoders = found.question.encoders
    if is_decided and trained_pair(opened, encoders) is not None:
        return with_trained(opened, (reading(found.question),))
    one = found.values[0] if len(found.values) == 1 else None
    if one is None or one.decision in ("", "open"):
        return None
    if one.decision == "alike" and {opened.served, replaced_by_promoted(opened)} & {*encoders}:
        return ()
    return with_trained(opened, (f"lookalike promote {one.better_first[0]}",))


def _served(opened: Workspace, encoders: Sequence[str]) -> str:
    """That nothing is to be promoted, and why."""
    served, bases = opened.served, {one.name: one.base for one in trained_encoders(opened)}
    if served in encoders:
        return f"{served} is served already."
    if bases.get(served) in encoders:
        return f"{served} is served already; it was trained on {bases[served]}."
    return f"{served} is served, and better than these by drawn labels."


def _is_open(found: SampledResult) -> bool:
    return any(one.decision == "open" for one in found.values)


def _label_next(opened: Workspace, one: SampleState, command: str, pairs: Path | None) -> None:
    """How to label the drawn pairs: from the file, in the browser, or, where nobody can log in yet, either.

    The app does not ask for pairs whose labels contradict each other.
    """
    if pairs is not None:
        replacing = " --replace" if one.contradicted else ""
        next_step(f"lookalike labels import {pairs}{replacing}", workspace=opened.folder)
    elif not one.waiting:
        next_step(LIST_CONTRADICTIONS, workspace=opened.folder)
    elif opened.database.fetch(active):
        solve = (LIST_CONTRADICTIONS,) if one.contradicted else ()
        next_step("lookalike serve", *solve, workspace=opened.folder)
    else:
        label_first(f"{command} --pairs pairs.csv", opened.folder)


def _command(question: SampleQuestion, chosen: SampleOptions, margin: float) -> str:
    """The command for a question, with the options that are not the default."""
    given = {
        "--pool": (chosen.pool, DEFAULT.pool),
        "--population": (question.population, DEFAULT.population),
        "--covariate": (chosen.covariate, DEFAULT.covariate),
        "--unit": (chosen.unit, None),
        "--interim-looks": (chosen.interim_looks, LOOKS),
        "--negligible": (margin, MARGIN),
    }
    options = (f"{name} {value}" for name, (value, default) in given.items() if value != default)
    return " ".join([reading(question), *options])


def reading(question: SampleQuestion) -> str:
    """The command that reads the sample of a question."""
    command = "estimate" if len(question.encoders) == 1 else "compare"
    measure = () if question.measure == f"HR@{DEFAULT.k}" else ("--measure", question.measure)
    return " ".join(["lookalike", command, *question.encoders, *measure])


def _unused(found: SampledResult, chosen: SampleOptions) -> list[str]:
    """Notes on options that differ from those of an existing sample, which is used as it was drawn."""
    names = ("population", "covariate", "unit")
    notes = []
    for name in names if found.sample else ():
        asked, drawn = getattr(chosen, name), getattr(found.question, name)
        if asked not in (getattr(DEFAULT, name), drawn):
            notes.append(
                f"This sample was drawn with --{name} {drawn}, so --{name} {asked} is not used. "
                "To draw another round with it, add --labels and --round."
            )
    return notes


def _print_sample(one: SampleState, *, is_decided: bool) -> None:
    """The labels of a sample so far, and when it is read next."""
    drawn = "drawn pairs" if one.question.unit == "pair" else "pairs of drawn queries"
    have = "has" if one.answered == 1 else "have"
    say(f"{one.answered:,} of {one.pairs:,} {drawn} {have} a label ({one.name}).")
    if not one.answered and one.waiting:
        some = f"{one.waiting:,} of them {'is' if one.waiting == 1 else 'are'}"
        who = "They are" if one.waiting == one.pairs > 1 else some
        say(f"{who} first in the queue of the labelling app.")
    say(folded(" ".join(filter(None, [_measured_on(one), _of_values(one)]))))
    if one.excluded:
        say(
            folded(
                f"Annotators could not decide about {plural(one.excluded, 'pair')}. The interval holds whatever the "
                "answers are."
            )
        )
    if one.contradicted:
        say(f"Not counted: the labels of {plural(one.contradicted, 'pair')} contradict each other.")
    if one.left and is_decided and one.look:
        say("This decides. The drawn pairs without a label are not needed for it.")
    elif one.left and is_decided:
        more = one.round_queries != one.queries
        then = "replace it, and can be less exact" if more else "make it more exact"
        say(f"The result above is from earlier rounds, and decides. The labels of this round {then}.")
    elif one.left:
        to_the_end = one.pairs - one.answered
        final = f", the final one {to_the_end:,}" if to_the_end > one.left else ""
        say(f"The {'next ' if final else ''}result needs {plural(one.left, 'more label')}{final}.")


def _measured_on(one: SampleState) -> str:
    """Which queries the value is of."""
    queries, there = plural(one.queries, "query", "queries"), f"{one.catalog_queries:,}"
    if one.question.population == "sample":
        return f"Measured on {queries}, a sample of {there}: the interval includes the differences between queries."
    if one.queries == one.catalog_queries:
        return f"Measured on all {queries}."
    return f"Measured on these {queries} only, of {there} in the catalog."


def _of_values(one: SampleState) -> str:
    """What the values will be of, or what they use beside the labels."""
    if one.answered < one.pairs and one.round_queries != one.queries:
        drawn = plural(one.round_queries, "query", "queries")
        return f"The pool has more queries since: the new pairs are of {drawn}, and so is the next result."
    if one.answered < one.pairs and one.complete:
        return "All open pairs are drawn. Once all have a label, the value is exact for these queries."
    return "" if all_exact(one.values) else _guess(one.question)


def _guess(question: SampleQuestion) -> str:
    """The guess of the answers that a sample uses."""
    of_judge = question.covariate.removeprefix("judge:")
    if question.covariate == "none":
        return ""
    guess = (
        f"{question.measure} corrected"
        if of_judge == question.covariate
        else f"the judge {of_judge.partition('@')[0]}"
    )
    return f"The scores of {guess} are used as a guess of the answers."


def _print_forecast(found: SampledResult) -> None:
    """The precision that more labels give."""
    question, exact = found.question, "exact"
    what = f"{question.measure} of {question.encoders[0]}"
    if len(question.encoders) > 1:
        what = f"The difference in {question.measure}"
    queries, pairs = plural(found.queries, "query", "queries"), plural(found.open, "pair")
    say(f"{what} on {queries} depends on {pairs} without a label.")

    def interval(labels: int, half: float) -> str:
        if labels == found.open and question.population == "fixed":
            return exact
        return f"± {half:.3f}" if half < 1 else "none"  # NaN too: fewer than two queries

    rows = [
        (f"{step.labels:,}", *(interval(step.labels, half) for half in (step.pairs, step.whole_queries)))
        for step in found.steps
    ]
    say("", "Expected interval of drawn pairs, and of drawn queries with all their pairs:")
    table(["labels", "pairs", "queries"], rows, left=0)
    if question.population == "sample":
        say(
            folded(
                f"These {queries} are a sample of the catalog's, so the interval includes the differences between "
                "queries, even with all labels. Lists of more queries make it narrower: lookalike discover with more "
                "--queries."
            )
        )
    if found.wanted is not None:
        say(f"An interval of ± {WIDTH / 2:g} needs about {plural(found.wanted.labels, 'label')}.")
