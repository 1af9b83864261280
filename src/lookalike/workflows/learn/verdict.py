"""Whether training helped in a workspace: one verdict, from labels of pairs drawn at random on the test split."""

import math
from collections.abc import Sequence

from lookalike.api.samples import SampleQuestion
from lookalike.api.training_verdict import has_results, verdict_of
from lookalike.audit.training_verdict import BOTH_BOUNDS, LABELS, MARGIN, MEASURE, TrainingVerdict
from lookalike.core.text import plural
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.sample_state import read_estimate
from lookalike.workflows.decide.sampled import sample_encoders
from lookalike.workflows.decide.trained import TEST, trained_encoders

PROMOTE = "lookalike promote "


def verdict_on(workspace: Workspace, name: str, base: str, margin: float = MARGIN) -> TrainingVerdict:
    """The verdict on the encoder `name` that was trained on `base`. It reads a sample and draws none.

    A sample of earlier vectors or of an earlier catalog tells nothing. Where no pair is open the labels decide exactly.
    """
    question = SampleQuestion((name, base), MEASURE, split=TEST)
    if not has_results(workspace.catalog):
        return TrainingVerdict(margin=margin, left=0)
    found = read_estimate(workspace, question, level=BOTH_BOUNDS)
    if found is None:
        planned = sample_encoders(workspace, question)
        if planned.values and planned.queries:
            return verdict_of(planned.values[0], name, margin, labels=0)
        return TrainingVerdict(margin=margin, left=min(LABELS, planned.open))
    if found.notes:
        return TrainingVerdict(margin=margin, sample="outdated")
    if not found.values:
        return TrainingVerdict(margin=margin, left=found.left, sample="drawn")
    return verdict_of(found.values[0], name, margin, labels=found.values[0].labels, left=found.left)


def verdict_among(workspace: Workspace, encoders: Sequence[str]) -> tuple[str, str, TrainingVerdict] | None:
    """Of two encoders, the one that was trained on the other, that other one, and the verdict. None: neither was."""
    for one in trained_encoders(workspace):
        if len(encoders) == 2 and {one.name, one.base} == set(encoders):
            return one.name, one.base, verdict_on(workspace, one.name, one.base)
    return None


def winner_on(workspace: Workspace, base: str) -> tuple[str, str] | None:
    """An encoder that was trained on `base` and won, with its verdict as a sentence; the promoted one first."""
    heads = sorted(trained_encoders(workspace), key=lambda one: one.name != workspace.promoted)
    for one in heads:
        if one.base == base and (found := verdict_on(workspace, one.name, base)).word == "won":
            return one.name, verdict_sentence(one.name, base, found)
    return None


def with_trained(workspace: Workspace, commands: Sequence[str]) -> tuple[str, ...]:
    """Next commands in which the encoder that was trained on the best one, and won, is promoted instead of it.

    Nothing is promoted over an encoder that was trained on the best one and is promoted already.
    """
    promoted, found = workspace.promoted, list[str]()
    on = next((one.base for one in trained_encoders(workspace) if one.name == promoted), "")
    for command in commands:
        base = command.removeprefix(PROMOTE)
        won = winner_on(workspace, base) if command.startswith(PROMOTE) else None
        name = won[0] if won is not None else base
        if not command.startswith(PROMOTE):
            found.append(command)
        elif name != promoted and (won is not None or on != base):
            found.append(f"{PROMOTE}{name}")
    return tuple(found)


def verdict_sentence(name: str, base: str, found: TrainingVerdict) -> str:
    """Whether training helped, by labels of pairs that were drawn at random."""
    if math.isnan(found.value):
        return (
            f"Whether {name} is better than {base} cannot be told. Its true {MEASURE} can fall while the measures of "
            "the pool's labels rise."
        )
    is_exact = found.low == found.high
    told = (
        f"from {plural(found.labels, 'label')} of drawn pairs"
        if found.labels and not is_exact
        else "with a label for each pair of these queries"
    )
    if found.word in ("won", "lost"):
        way, least = ("higher", found.low) if found.word == "won" else ("lower", -found.high)
        bound = "" if is_exact else f"at least {least:.3f} (one-sided 95%), "
        only = " It is exact for these queries; other queries can differ." if is_exact else ""
        return (
            f"{name} {found.word}: its {MEASURE} on the queries of the test split is {way} than that of {base} by "
            f"{abs(found.value):.3f}, {bound}{told}.{only}"
        )
    bounds = "" if is_exact else f", with one-sided 95% bounds {found.low:+.3f} and {found.high:+.3f}"
    differs = (
        f"its {MEASURE} on the queries of the test split minus that of {base} is {found.value:+.3f}{bounds}"
    )
    if found.word == "not worse":
        return f"{name} is not worse than {base} by more than {found.margin:g}: {differs}, {told}."
    return f"Whether {name} is better than {base} cannot be told: {differs}, {told}."
