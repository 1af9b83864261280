"""The plan: hours left, the effect of another vote on each pair, and the effect of more labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from lookalike.annotate.agreement import by_group, pace
from lookalike.annotate.agreement.consistency import consistency, gold, together
from lookalike.annotate.agreement.figure import Figure
from lookalike.annotate.agreement.label_errors import (
    Expected,
    error_of_one,
    error_of_slips,
    expected_errors,
    wrong_together,
)
from lookalike.annotate.agreement.pace import Pace
from lookalike.annotate.agreement.patterns import Counts
from lookalike.annotate.agreement.plan import Forecast, discussed, expected_end, forecast, hours_left
from lookalike.annotate.campaign import Campaign
from lookalike.api.next_pairs import LabelPlan
from lookalike.core.checks import codes
from lookalike.core.progress import Progress
from lookalike.core.types import Labels, Rule
from lookalike.rank.pairs import judged_pairs
from lookalike.store.labelling import statistics
from lookalike.store.sql.database import Database
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.compare import compare_encoders
from lookalike.workflows.decide.evaluate import evaluate

MEASURES = ("DCS", "EHR@5")


@dataclass(frozen=True)
class LabelErrors:
    """Expected label errors with one more vote per pair, by each estimate of how often one vote is wrong.

    `from_agreement` and `from_slips` assume independent errors, and are lower bounds. `wrong_together` does not: it is
    the share of wrong labels among pairs with two equal votes, estimated from gold pairs.
    """

    of_one_vote: float
    of_one_slip: float
    from_agreement: tuple[Expected, ...]
    from_slips: tuple[Expected, ...]
    wrong_together: Figure


@dataclass(frozen=True)
class LabellingPlan:
    """The work that is left. Times are milliseconds since 1970, NaN if unknown.

    `votes` and `checks` are the answers still needed; `spent` and `left` are active hours, and `planned` is 0 without
    a plan.
    """

    questions: int
    votes: int
    checks: int
    pace: Pace
    spent: float
    left: Figure
    planned: float
    end: float
    end_low: float
    end_high: float
    discussed: Figure
    to_discuss: float
    errors: LabelErrors

    @property
    def over(self) -> float:
        """Spent and left hours minus planned hours. NaN without a plan or a pace."""
        return self.spent + self.left.value - self.planned if self.planned else nan


@dataclass(frozen=True, eq=False)
class LabelForecast:
    """The effect of more labels: on the share of similar pairs, on measures of encoders, on comparing encoders.

    `settling` is None for fewer than two encoders.
    """

    similar: Forecast
    measures: Mapping[tuple[str, str], Forecast]
    settling: LabelPlan | None


def plan(database: Database, campaign: Campaign, now: int, *, seed: int = 0) -> LabellingPlan:
    """The plan from the small tables, in one snapshot.

    Votes left are those that open questions need, minus those given on questions that are still open. Votes that were
    undone make this estimate a little too low.
    """
    with database.read() as connection:
        progress = statistics.read_progress(connection)
        votes = statistics.read_counts(connection)
        worked = statistics.read_worked(connection)
        done, due = statistics.read_checks(connection)
        repeats = together(statistics.read_repeats(connection).values())
        golds = [row for rows in statistics.read_gold(connection).values() for row in rows]
    waiting = statistics.open_questions(progress)
    resolved = int((votes.said.sum(axis=1) * votes.pairs).sum())
    needed = waiting * campaign.protocol.votes
    given = min(max(0, sum(row.answers for row in worked) - done - resolved), needed)
    found = pace.pace(worked)
    left = hours_left(needed - given + due, found.per_hour)
    end, low, high = expected_end(left, worked, now)
    in_discussion = discussed(votes, campaign.protocol)
    errors = label_errors(
        votes,
        campaign.protocol.name,
        slips=consistency(repeats, seed=seed).flips.value,
        right=gold(golds).right,
    )
    return LabellingPlan(
        questions=waiting,
        votes=needed - given,
        checks=due,
        pace=found,
        spent=found.active_hours,
        left=left,
        planned=campaign.planned_hours,
        end=end,
        end_low=low,
        end_high=high,
        discussed=in_discussion,
        to_discuss=in_discussion.value * waiting,
        errors=errors,
    )


def label_errors(votes: Counts, protocol: str, *, slips: float, right: Figure) -> LabelErrors:
    """Expected errors of labels, from agreement, from repeats, and from gold pairs."""
    agreed = by_group.agreement(votes, replicates=0)["percent"].value
    similar = _similar_votes(votes)
    one, slip = (error_of_one(agreed), error_of_slips(slips))
    return LabelErrors(
        of_one_vote=one,
        of_one_slip=slip,
        from_agreement=expected_errors(one, protocol, similar),
        from_slips=expected_errors(slip, protocol, similar),
        wrong_together=wrong_together(right, agreed),
    )


def plan_for(
    workspace: Workspace,
    encoders: Sequence[str] = (),
    *,
    measures: Sequence[str] = MEASURES,
    progress: Progress | None = None,
) -> LabelForecast:
    """The effect of more labels, from the current labels. It ranks encoders, so it is work for the background.

    The queries that can still be labelled are those of the pool, or all queries without a pool.
    """
    pool, labels = workspace.pool(), workspace.labels()
    asked = workspace.catalog.image[workspace.catalog.is_query()] if pool is None else pool.queries
    most = len(asked)
    made = {}
    if encoders and len(judged_pairs(workspace.catalog, labels, Rule())):
        found = evaluate(workspace, list(encoders), list(measures), progress=progress)
        for scores in found.scores:
            for name, score in scores.scores.items():
                if score.pooled is None:
                    made[scores.encoder, name] = forecast(
                        score.numerator, score.denominator, labels=len(labels), most=most
                    )
    settling = compare_encoders(workspace, encoders, progress=progress) if len(encoders) > 1 else None
    return LabelForecast(similar_share(labels, most), made, settling)


def similar_share(labels: Labels, most: int) -> Forecast:
    """The share of similar pairs among the labels; the sample is the queries."""
    names, code = codes(labels.query)
    similar = np.bincount(code, weights=labels.label, minlength=len(names)).astype(np.float64)
    every = np.bincount(code, minlength=len(names)).astype(np.float64)
    return forecast(similar, every, labels=len(labels), most=max(most, len(names)))


def _similar_votes(votes: Counts) -> float:
    """The share of similar votes among those that are not unsure. NaN without such votes."""
    dissimilar, similar, _ = (votes.said * votes.pairs[:, None]).sum(axis=0).tolist()
    return similar / (similar + dissimilar) if similar + dissimilar else nan
