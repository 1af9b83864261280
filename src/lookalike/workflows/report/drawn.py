"""A report's part on samples: the values that they tell by now."""

from lookalike.report.content import DrawnValue
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.sample_state import all_estimates


def drawn_values(workspace: Workspace) -> tuple[DrawnValue, ...]:
    """The values of every sample that has reached a look."""
    return tuple(
        DrawnValue(
            state.question.measure,
            one.first,
            one.second,
            one.value,
            one.low,
            one.high,
            one.labels,
            one.decision,
        )
        for state in all_estimates(workspace)
        for one in state.values
    )
