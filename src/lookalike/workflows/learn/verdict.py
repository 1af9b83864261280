"""Whether training helped in a workspace: one verdict, from labels of pairs drawn at random on the test split."""

from collections.abc import Sequence

from lookalike.api.samples import SampleQuestion
from lookalike.api.training_verdict import verdict_of
from lookalike.audit.training_verdict import BOTH_BOUNDS, LABELS, MARGIN, MEASURE, TrainingVerdict
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.compare import sample_encoders
from lookalike.workflows.decide.sample_state import read_estimate
from lookalike.workflows.decide.trained import TEST, trained_encoders


def verdict_on(workspace: Workspace, name: str, base: str, margin: float = MARGIN) -> TrainingVerdict:
    """The verdict on the encoder `name` that was trained on `base`. It reads a sample and draws none.

    A sample of earlier vectors or of an earlier catalog tells nothing. Where no pair is open the labels decide exactly.
    """
    question = SampleQuestion((name, base), MEASURE, split=TEST)
    found = read_estimate(workspace, question, level=BOTH_BOUNDS)
    if found is None:
        planned = sample_encoders(workspace, question)
        if planned.values:
            return verdict_of(planned.values[0], name, margin, labels=0)
        return TrainingVerdict(margin=margin, left=min(LABELS, planned.open))
    if found.notes:
        return TrainingVerdict(margin=margin, sample="outdated")
    if not found.values:
        return TrainingVerdict(margin=margin, left=found.left, sample="drawn")
    return verdict_of(found.values[0], name, margin, labels=found.answered, left=found.left)


def verdict_among(workspace: Workspace, encoders: Sequence[str]) -> tuple[str, str, TrainingVerdict] | None:
    """Of two encoders, the one that was trained on the other, that other one, and the verdict. None: neither was."""
    for one in trained_encoders(workspace):
        if len(encoders) == 2 and {one.name, one.base} == set(encoders):
            return one.name, one.base, verdict_on(workspace, one.name, one.base)
    return None
