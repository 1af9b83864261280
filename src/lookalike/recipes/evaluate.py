"""`evaluate`: measures of encoders on the workspace's labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.core.errors import LabelsError
from lookalike.core.progress import Progress
from lookalike.core.types import JudgedRanks, Rule, Scores
from lookalike.evaluate.measures import evaluate as score_all
from lookalike.evaluate.measures import parse
from lookalike.rank.pairs import Unusable, judged_pairs
from lookalike.rank.runs import rank_run
from lookalike.recipes import values
from lookalike.recipes.evaluate_files import absences, read_runs
from lookalike.store.workspace import Workspace


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores of several encoders on one basis.

    `measures` are the names as asked for; `printed` maps them to the measures' own names. `generators` fed
    the pool; `unusable` are labels left out, by reason. `judged` are the ranks the scores were folded from, `absences`
    say what of each run and of the labels did not meet.
    """

    measures: tuple[str, ...]
    scores: tuple[Scores, ...]
    generators: tuple[str, ...]
    labels: int
    unusable: tuple[Unusable, ...]
    judged: tuple[JudgedRanks, ...] = ()
    absences: tuple[str, ...] = ()

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
    runs: Sequence[Path] = (),
    progress: Progress | None = None,
) -> Evaluation:
    """Rank each encoder once (all of them by default) and score it by every measure.

    `runs` are TREC run files of other systems, which stand in the same table on the same basis.
    """
    asked = [parse(name) for name in measures]
    labels = workspace.labels()
    if len(labels) == 0:
        raise LabelsError(
            "There are no labels yet, so there is nothing to measure against.",
            fix="Import some: lookalike labels import labels.csv (columns query, candidate, label)",
        )
    pairs = judged_pairs(workspace.catalog, labels, rule or Rule())
    names = list(dict.fromkeys(encoders or workspace.encoders))
    if not names and not runs:
        raise LabelsError(
            "There are no encoders to measure.", fix="Make vectors first: lookalike embed ENCODER"
        )
    others = [rank_run(workspace.catalog, run, pairs) for run in read_runs(runs, names)]
    vectors = [workspace.embeddings(name) for name in names]
    judged = [
        *values.ranks(workspace.catalog, vectors, pairs, progress=progress),
        *(o.judged for o in others),
    ]
    pool = workspace.pool()
    return Evaluation(
        measures=tuple(measures),
        scores=tuple(score_all(one, asked) for one in judged),
        generators=() if pool is None else pool.generators,
        labels=len(pairs),
        unusable=pairs.unusable,
        judged=tuple(judged),
        absences=tuple(said for other in others for said in absences(other)),
    )
