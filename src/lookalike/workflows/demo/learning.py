"""The demo's last step: a head learns from the labels, and the test split says what that changed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lookalike.api import values
from lookalike.api.finetune import require_learning
from lookalike.core.errors import LearningError, LookalikeError
from lookalike.core.progress import Bar
from lookalike.core.types import Rule, Scores
from lookalike.evaluate.measures.table import DEFAULT
from lookalike.evaluate.significance.summary import Significance, significance
from lookalike.store.workspace import Workspace
from lookalike.studio import Studio
from lookalike.workflows.decide.evaluate import Evaluation, evaluate
from lookalike.workflows.decide.trained import TEST
from lookalike.workflows.decide.verdict import CorrectedRates, corrected_on_pool
from lookalike.workflows.demo.truth import true_pairs
from lookalike.workflows.learn.finetune import TrainingCallbacks, TrainingOutcome, finetune

BASE, NAME = "color", "color-finetuned"
EPOCHS, PROJECTION = 30, 512  # some seconds; all else as `lookalike finetune` has it by default
TRUE = ("HR@5", "AUC_mac")

Tell = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Learned:
    """The training, then encoder and head on the test split: by its labels, and by the truth of all its queries."""

    outcome: TrainingOutcome
    found: Evaluation
    rates: CorrectedRates
    sure: Significance
    truth: tuple[Scores, ...]
    sure_of_truth: Significance


def learn(workspace: Workspace, drawn: Studio, bar: Bar, tell: Tell) -> Learned | None:
    """Train a head on one generator's vectors; if that is impossible, print why and continue without it."""
    try:
        require_learning()
    except LearningError as error:
        tell(f"5. The learning step was left out: {error.problem} {error.fix}")
        return None
    from lookalike.learn.request import TrainingRequest

    request = TrainingRequest(epochs=EPOCHS, seed=workspace.settings.seed, projection=PROJECTION)
    try:
        with bar("Learning") as progress:
            outcome = finetune(
                workspace,
                BASE,
                NAME,
                request,
                device="cpu",
                replace=True,
                callbacks=TrainingCallbacks(step=progress),
            )
    except LookalikeError as error:
        tell(f"5. The learning step was left out: {error.problem}")
        return None
    tell(
        f"5. A head on the vectors of {BASE} learned from the labels of the training split; those of the validation "
        f"split chose epoch {outcome.best} of {len(outcome.history)}."
    )
    found = evaluate(workspace, [BASE, NAME], DEFAULT)
    truth = _truth(workspace, drawn)
    rates = corrected_on_pool(workspace, found.ranked)
    return Learned(outcome, found, rates, rates.significance(found.scores), truth, significance(truth))


def _truth(workspace: Workspace, drawn: Studio) -> tuple[Scores, ...]:
    """Both encoders against the true label of every pair of the test split, each of its images a query."""
    catalog = workspace.catalog
    labels = true_pairs(drawn, catalog, np.flatnonzero(catalog.split == TEST))
    encoders = [workspace.embeddings(name) for name in (BASE, NAME)]
    return tuple(values.score(catalog, encoders, labels, TRUE, rule=Rule(split=TEST)))
