"""The samples of a workspace so far: how many pairs are labelled, and what they tell at the last look reached."""

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isnan

import numpy as np

from lookalike.annotate.protocol import EXCLUDED
from lookalike.api.sampled_values import answers, last_look
from lookalike.api.samples import Sample, SampleQuestion, Value, sample_from
from lookalike.audit.sampling.estimate import LEVEL, Estimate
from lookalike.audit.sampling.rounds import combined, round_weights
from lookalike.audit.sampling.values import MARGIN, SampledValue, sampled_value
from lookalike.core.checks import strings
from lookalike.core.types import Rule
from lookalike.discover.questions import Questions
from lookalike.store.labelling.queue import states_of
from lookalike.store.sql.samples import DrawnPair, StoredSample, read_samples
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.sample_plan import exact_values, places_of


@dataclass(frozen=True)
class SampleState:
    """A sample of encoders' values on a number of `queries` so far.

    The catalog has `catalog_queries`. `answered` of its `pairs` have a label; annotators could not decide about
    `excluded` ones. `look` is the last of the `looks` that was reached (0: none yet), and `left` the number of pairs up
    to the next one. The values are read at this look, together with those of earlier rounds; they are exact where all
    pairs that matter have a label by now. `complete`: all open pairs were drawn.
    """

    name: str
    question: SampleQuestion
    queries: int
    catalog_queries: int
    rounds: int
    pairs: int
    answered: int
    excluded: int
    complete: bool
    looks: tuple[int, ...]
    look: int
    left: int
    values: tuple[SampledValue, ...]
    notes: tuple[str, ...]


def read_estimate(
    workspace: Workspace, question: SampleQuestion, *, margin: float = MARGIN, level: float = LEVEL
) -> SampleState | None:
    """The sample of a question so far: the encoders, the measure and the split decide which. None: there is none."""
    rounds = stored_rounds(workspace, question)
    return _state(workspace, rounds, margin, level) if rounds else None


def all_estimates(workspace: Workspace) -> tuple[SampleState, ...]:
    """Every sample of the workspace so far, each question once."""
    return tuple(_state(workspace, rounds, MARGIN, LEVEL) for rounds in _all_rounds(workspace).values())


def decided_values(workspace: Workspace, measure: str, split: str | None = None) -> tuple[SampledValue, ...]:
    """What samples of a measure have decided about pairs of encoders, as their vectors and the catalog are now."""
    return tuple(
        value
        for state in all_estimates(workspace)
        if state.question.measure == measure and state.question.split == split and not state.notes
        for value in state.values
        if value.decision not in ("open", "")
    )


def open_pairs(workspace: Workspace, question: SampleQuestion) -> Questions:
    """The pairs of a question's newest sample that have no label yet, in the order of labelling."""
    newest = stored_rounds(workspace, question)[-1]
    label = answers(asked_pairs(newest.pairs), workspace.labels(), workspace.catalog)
    return asked_pairs([pair for pair, one in zip(newest.pairs, label.tolist(), strict=True) if isnan(one)])


def asked_pairs(pairs: Sequence[DrawnPair]) -> Questions:
    """Drawn pairs as questions."""
    return Questions(*(strings(pair[end] for pair in pairs) for end in range(3)))


def _state(workspace: Workspace, rounds: Sequence[StoredSample], margin: float, level: float) -> SampleState:
    newest, labels = rounds[-1], workspace.labels()
    same = [one for one in rounds if one.question["vectors"] == newest.question["vectors"]]
    same = [one for one in same if one.catalog == newest.catalog]
    given = [answers(asked_pairs(one.pairs), labels, workspace.catalog) for one in same]
    samples = [sample_from(one.frame or b"", _question(one), one.seed, one.looks) for one in same]
    reached = [last_look(one, label) for one, label in zip(samples, given, strict=True)]
    read = [at for at, look in enumerate(reached) if look]
    question = samples[-1].question
    shares = sum(len(one.looks) for one in samples) * len(question.values)

    def of(value: Value) -> SampledValue:
        found = [samples[at].estimate(value, given[at], reached[at], shares, level) for at in read]
        return sampled_value(question.measure, value, _joined([samples[at] for at in read], found), margin)

    label = given[-1]
    with workspace.database.read() as connection:
        states = states_of(connection, [pair.ends for pair in newest.pairs])
    unanswered = [pair.ends for pair, one in zip(newest.pairs, label, strict=True) if isnan(one)]
    values, notes = (
        tuple(of(value) for value in question.values) if read else (),
        changes_since(workspace, newest),
    )
    if read and reached[-1] == newest.looks[-1] and not notes:
        found = places_of(workspace, question, Rule(split=question.split))
        values = exact_values(question, found, margin, level) or values
    following = next((look for look in newest.looks if look > reached[-1]), 0)
    return SampleState(
        name=newest.name,
        question=question,
        queries=samples[-1].places.queries,
        catalog_queries=int(workspace.catalog.is_query(question.split).sum()),
        rounds=len(same),
        pairs=len(newest.pairs),
        answered=len(newest.pairs) - len(unanswered),
        excluded=sum(states.get(ends) == EXCLUDED for ends in unanswered),
        complete=all(pair.probability == 1.0 for pair in newest.pairs),
        looks=newest.looks,
        look=reached[-1],
        left=int(np.isnan(label[:following]).sum()),
        values=values,
        notes=notes,
    )


def _joined(samples: Sequence[Sample], found: Sequence[Estimate]) -> Estimate:
    """The rounds of one question as one estimate, with weights by their plans."""
    if len(found) == 1:
        return found[0]
    there, counts = [len(one.frame[0]) for one in samples], [len(one.unit) for one in samples]
    if len({one.question.unit for one in samples}) > 1 and not any(map(operator.eq, there, counts)):
        counts = [len(one) for one in samples]  # pairs, which queries and pairs have in common
        there = [2 * sum(counts) - before for before in accumulate([0, *counts[:-1]])]
    return combined(found, round_weights(there, counts))


def stored_rounds(workspace: Workspace, question: SampleQuestion) -> list[StoredSample]:
    """The samples of a question, oldest first. The order of encoders does not matter."""
    return _all_rounds(workspace).get(_same(question), [])


def _all_rounds(workspace: Workspace) -> dict[tuple[object, ...], list[StoredSample]]:
    """The samples of each value; those that were imported, or drawn for a promise, estimate none."""
    found: dict[tuple[object, ...], list[StoredSample]] = {}
    for one in workspace.database.fetch(read_samples):
        if one.frame is not None and "measure" in one.question:
            found.setdefault(_same(_question(one)), []).append(one)
    return found


def _question(stored: StoredSample) -> SampleQuestion:
    known = {name: value for name, value in stored.question.items() if name != "vectors"}
    return SampleQuestion(**known | {"encoders": tuple(known["encoders"])})


def _same(question: SampleQuestion) -> tuple[object, ...]:
    return frozenset(question.encoders), question.measure


def changes_since(workspace: Workspace, stored: StoredSample) -> tuple[str, ...]:
    """What changed since a draw, which the estimate does not know."""
    was, notes = stored.question["vectors"], []
    now = vector_sums(workspace, was)
    if changed := [name for name in was if now[name] != was[name]]:
        notes.append(
            f"{', '.join(changed)}: the vectors changed or are gone since the draw. The estimate is of the earlier "
            "ones; draw again with --round."
        )
    if stored.catalog != workspace.catalog.fingerprint:
        notes.append(
            "The catalog changed since the draw. The estimate is of the earlier one; draw again with --round."
        )
    return tuple(notes)


def vector_sums(workspace: Workspace, names: Iterable[str]) -> dict[str, int]:
    """What identifies the vectors of encoders; 0 for those that are gone."""
    known = set(workspace.encoders)
    return {name: workspace.manifest(name).sum if name in known else 0 for name in names}
