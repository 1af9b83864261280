"""The plan and the stop rule: hours left, what a vote more on each pair would buy, and what more labels would."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from lookalike.annotate import agreement, pace
from lookalike.annotate.campaign import Campaign
from lookalike.annotate.consistency import consistency, gold, together
from lookalike.annotate.errors import (
    Expected,
    error_of_one,
    error_of_slips,
    expected_errors,
    wrong_together,
)
from lookalike.annotate.figure import Figure
from lookalike.annotate.pace import Pace
from lookalike.annotate.patterns import Counts
from lookalike.annotate.plan import Forecast, discussed, expected_end, forecast, hours_left
from lookalike.core.checks import codes
from lookalike.core.progress import Progress
from lookalike.core.types import Labels, Rule
from lookalike.rank.pairs import judged_pairs
from lookalike.recipes.evaluate import evaluate
from lookalike.recipes.settle import Settling, settle
from lookalike.store import figures
from lookalike.store.database import Database
from lookalike.store.workspace import Workspace

MEASURES = ("DCS", "EHR@5")


@dataclass(frozen=True)
class LabelErrors:
    """What a vote more on each pair would buy, once for each way to know how often one vote is wrong.

    `from_agreement` and `from_slips` assume independent errors, and are lower bounds; `wrong_together` is the share
    of wrong labels that two equal votes leave by the gold pairs, without that assumption.
    """

    of_one_vote: float
    of_one_slip: float
    from_agreement: tuple[Expected, ...]
    from_slips: tuple[Expected, ...]
    wrong_together: Figure


@dataclass(frozen=True)
class Plan:
    """How much is left and what it costs. Times are milliseconds since 1970, NaN where unknown.

    `votes` and `checks` are answers still to be given; `spent` and `left` are active hours, against `planned` (0: no
    plan).
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
        """Hours by which spent and left together go beyond the plan; negative: below it; NaN: no plan or no pace."""
        return self.spent + self.left.value - self.planned if self.planned else nan


@dataclass(frozen=True, eq=False)
class Ahead:
    """What more labels buy: for the share of similar pairs, for each encoder's measures, for telling two apart.

    `settling` is None for fewer than two encoders.
    """

    similar: Forecast
    measures: Mapping[tuple[str, str], Forecast]
    settling: Settling | None


def plan(database: Database, campaign: Campaign, now: int, *, seed: int = 0) -> Plan:
    """The plan from the small tables, in one snapshot.

    Votes left are those that open questions need, less those given and not counted in a settled one: an estimate, which
    undone votes make a little too low.
    """
    with database.read() as connection:
        progress = figures.read_progress(connection)
        votes = figures.read_counts(connection)
        worked = figures.read_worked(connection)
        done, due = figures.read_checks(connection)
        repeats = together(figures.read_repeats(connection).values())
        golds = [row for rows in figures.read_gold(connection).values() for row in rows]
    waiting = figures.open_questions(progress)
    settled = int((votes.said.sum(axis=1) * votes.pairs).sum())
    needed = waiting * campaign.protocol.votes
    given = min(max(0, sum(row.answers for row in worked) - done - settled), needed)
    found = pace.pace(worked)
    left = hours_left(needed - given + due, found.per_hour)
    end, low, high = expected_end(left, worked, now)
    talked = discussed(votes, campaign.protocol)
    errors = label_errors(
        votes,
        campaign.protocol.name,
        slips=consistency(repeats, seed=seed).flips.value,
        right=gold(golds).right,
    )
    return Plan(
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
        discussed=talked,
        to_discuss=talked.value * waiting,
        errors=errors,
    )


def label_errors(votes: Counts, protocol: str, *, slips: float, right: Figure) -> LabelErrors:
    """Expected errors of labels from the votes themselves, from repeats, and from gold pairs."""
    agreed = agreement.agreement(votes, replicates=0)["percent"].value
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
) -> Ahead:
    """What more labels would buy, from the labels there are: ranks encoders, so it is work for the background.

    The queries that may still be labelled are the pool's, or all where there is no pool.
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
    settling = settle(workspace, encoders, progress=progress) if len(encoders) > 1 else None
    return Ahead(similar_share(labels, most), made, settling)


def similar_share(labels: Labels, most: int) -> Forecast:
    """The share of similar pairs among the labels, with queries as the sample."""
    names, code = codes(labels.query)
    similar = np.bincount(code, weights=labels.label, minlength=len(names)).astype(np.float64)
    every = np.bincount(code, minlength=len(names)).astype(np.float64)
    return forecast(similar, every, labels=len(labels), most=max(most, len(names)))


def _similar_votes(votes: Counts) -> float:
    """The share of definite votes that say similar; NaN where there are none."""
    dissimilar, similar, _ = (votes.said * votes.pairs[:, None]).sum(axis=0).tolist()
    return similar / (similar + dissimilar) if similar + dissimilar else nan
