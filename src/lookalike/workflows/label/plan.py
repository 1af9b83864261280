"""The plan: hours left, and the effect of another vote on each pair."""

from dataclasses import dataclass
from math import nan

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
from lookalike.annotate.agreement.pace import AnnotatorPace
from lookalike.annotate.agreement.patterns import Counts
from lookalike.annotate.agreement.plan import discussed, expected_end, hours_left
from lookalike.annotate.campaign import Campaign
from lookalike.store.labelling import statistics
from lookalike.store.labelling.progress import count_open
from lookalike.store.sql.database import Database

ENOUGH_PAIRS = 30  # with fewer, "100 % agree" says little of the error of one vote


@dataclass(frozen=True)
class LabelErrors:
    """Expected label errors with one more vote per pair, by each estimate of how often one vote is wrong.

    `agreed` pairs have two definite votes, and `repeated` pairs two answers of the same annotator. An estimate from
    fewer than `ENOUGH_PAIRS` is NaN. `from_agreement` and `from_slips` assume independent errors, and are lower bounds.
    `wrong_together` does not: it is the share of wrong labels among pairs with two equal votes, estimated from gold
    pairs.
    """

    of_one_vote: float
    of_one_slip: float
    from_agreement: tuple[Expected, ...]
    from_slips: tuple[Expected, ...]
    wrong_together: Figure
    agreed: int
    repeated: int

    @property
    def needed(self) -> int:
        """How many more pairs with two definite votes the estimate from agreement needs."""
        return max(0, ENOUGH_PAIRS - self.agreed)


@dataclass(frozen=True)
class LabellingPlan:
    """The work that is left. Times are milliseconds since 1970, NaN if unknown.

    `votes` and `checks` are the answers still needed, and `people` those who worked. `spent` and `left` are active
    hours, and `planned` is 0 without a plan.
    """

    questions: int
    votes: int
    checks: int
    people: int
    pace: AnnotatorPace
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


def plan(database: Database, campaign: Campaign, now: int, *, seed: int = 0) -> LabellingPlan:
    """The plan from the small tables, in one snapshot.

    Votes left are those that open questions need, minus those given on questions that are still open. Votes that were
    undone make this estimate a little too low.
    """
    with database.read() as connection:
        waiting = count_open(connection)
        votes = statistics.read_counts(connection)
        worked = statistics.read_worked(connection)
        done, due = statistics.read_checks(connection)
        repeats = together(statistics.read_repeats(connection).values())
        golds = [row for rows in statistics.read_gold(connection).values() for row in rows]
    resolved = int((votes.answers.sum(axis=1) * votes.pairs).sum())
    needed = waiting * campaign.protocol.votes
    given = min(max(0, sum(row.answers for row in worked) - done - resolved), needed)
    found = pace.pace(worked)
    left = hours_left(needed - given + due, found.per_hour)
    end, low, high = expected_end(left, worked, now)
    in_discussion = discussed(votes, campaign.protocol)
    errors = label_errors(
        votes,
        campaign.protocol.name,
        slips=consistency(repeats, seed=seed).flips,
        correct=gold(golds).correct,
    )
    return LabellingPlan(
        questions=waiting,
        votes=needed - given,
        checks=due,
        people=len({row.annotator for row in worked}),
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


def label_errors(votes: Counts, protocol: str, *, slips: Figure, correct: Figure) -> LabelErrors:
    """Expected errors of labels, from agreement, from repeats, and from gold pairs."""
    agreed = by_group.agreement(votes, replicates=0)["percent"]
    similar = _similar_votes(votes)
    one, slip = error_of_one(_known(agreed)), error_of_slips(_known(slips))
    return LabelErrors(
        of_one_vote=one,
        of_one_slip=slip,
        from_agreement=expected_errors(one, protocol, similar),
        from_slips=expected_errors(slip, protocol, similar),
        wrong_together=wrong_together(correct, agreed.value),
        agreed=agreed.count,
        repeated=slips.count,
    )


def _known(found: Figure) -> float:
    """A share, NaN from too few pairs."""
    return found.value if found.count >= ENOUGH_PAIRS else nan


def _similar_votes(votes: Counts) -> float:
    """The share of similar votes among those that are not unsure. NaN without such votes."""
    dissimilar, similar, _ = (votes.answers * votes.pairs[:, None]).sum(axis=0).tolist()
    return similar / (similar + dissimilar) if similar + dissimilar else nan
