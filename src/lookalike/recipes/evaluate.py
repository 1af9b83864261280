"""`evaluate`: measures of encoders on the workspace's labels."""

from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.core.errors import LabelsError
from lookalike.core.progress import Progress
from lookalike.core.types import Rule, Scores
from lookalike.evaluate.measures import parse
from lookalike.rank.pairs import Unusable, judged_pairs
from lookalike.recipes import values
from lookalike.store.workspace import Workspace


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores of several encoders on one basis.

    `measures` are the names as asked for; `printed` maps them to the measures' own names. `generators` fed
    the pool; `unusable` are labels left out, by reason.
    """

    measures: tuple[str, ...]
    scores: tuple[Scores, ...]
    generators: tuple[str, ...]
    labels: int
    unusable: tuple[Unusable, ...]

    @property
    def printed(self) -> dict[str, str]:
        """Name as asked for -> printable name."""
        return {name: parse(name).name for name in self.measures}


def evaluate(
    workspace: Workspace,
    encoders: Sequence[str],
    measures: Sequence[str],
    *,
    rule: Rule | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Rank each encoder once (all of them by default) and score it by every measure."""
    for name in measures:
        parse(name)
    labels = workspace.labels()
    if len(labels) == 0:
        raise LabelsError(
            "There are no labels yet, so there is nothing to measure against.",
            fix="Import some: lookalike labels import labels.csv (columns query, candidate, label)",
        )
    pairs = judged_pairs(workspace.catalog, labels, rule or Rule())
    names = list(dict.fromkeys(encoders or workspace.encoders))
    if not names:
        raise LabelsError(
            "There are no encoders to measure.", fix="Make vectors first: lookalike embed ENCODER"
        )
    vectors = [workspace.embeddings(name) for name in names]
    scores = values.score(workspace.catalog, vectors, pairs, list(measures), progress=progress)
    pool = workspace.pool()
    return Evaluation(
        measures=tuple(measures),
        scores=tuple(scores),
        generators=() if pool is None else pool.generators,
        labels=len(pairs),
        unusable=pairs.unusable,
    )
