"""Labelling by one person: one vote makes a label. Votes that wait for another annotator are counted."""

from dataclasses import replace

from sqlalchemy import Connection, func, select, update

from lookalike.annotate.campaign import Campaign
from lookalike.annotate.protocol import OPEN
from lookalike.annotate.question import SKIP, VOTE, Question
from lookalike.core.clock import now_ms
from lookalike.core.errors import ArgumentError
from lookalike.store.labelling.campaigns import read_campaign, write_campaign
from lookalike.store.labelling.questions import Transition, hold, save
from lookalike.store.people import people
from lookalike.store.sql.labelling_schema import claim, question, vote
from lookalike.store.workspace import Workspace

MANY = 500


def label_alone(workspace: Workspace) -> None:
    """Let one vote make a label, also on pairs in the queue. Pairs that several people answered keep their votes.

    Raises ArgumentError if several people can log in.
    """
    with workspace.database.write() as connection:
        there = people.active(connection)
        if there > 1:
            raise ArgumentError(
                f"{there:,} people can log in, so --alone cannot be used.",
                fix="Leave out --alone, or remove the others: lookalike users remove NAME",
            )
        found = read_campaign(connection)
        write_campaign(connection, Campaign(**{**found.model_dump(by_alias=True), "votes": 1}))
        _need_one_vote(connection, now_ms(), found.grace)


def votes_waiting(connection: Connection) -> int:
    """The number of open pairs that somebody answered and that wait for the answer of another annotator."""
    waits = (claim.c.kind == VOTE, question.c.state == OPEN, question.c.resolves_at.is_(None))
    counted = select(func.count(claim.c.question.distinct())).join(
        question, question.c.id == claim.c.question
    )
    return int(connection.execute(counted.where(*waits)).scalar_one())


def _need_one_vote(connection: Connection, now: int, grace: int) -> None:
    """Lower the votes that open pairs need to one, where no two people ever answered.

    The history of a pair must follow the rules with the votes that it needs now.
    """
    several = (
        select(vote.c.question).group_by(vote.c.question).having(func.count(vote.c.annotator.distinct()) > 1)
    )
    open_pairs = (question.c.state == OPEN, question.c.needed > 1, question.c.id.not_in(several))
    untouched = update(question).where(*open_pairs, question.c.takers == "")
    connection.execute(untouched.values(needed=1, free=1))
    left = connection.execute(select(question.c.id).where(*open_pairs)).scalars().all()
    for first in range(0, len(left), MANY):
        held = hold(connection, left[first : first + MANY])
        changes = [Transition(one, _with_one_vote(one.question, now + grace)) for one in held]
        changes = [change for change in changes if change.after != change.held.question]
        lowered = update(question).where(question.c.id.in_([change.held.which for change in changes]))
        connection.execute(lowered.values(needed=1))
        save(connection, changes, now)


def _with_one_vote(found: Question, resolves_at: int) -> Question:
    """An open pair that needs one vote, unless two people hold it now. If it has its vote, it is to be resolved."""
    if sum(one.kind != SKIP for one in found.claims) > 1:
        return found
    return replace(found, needed=1, resolves_at=resolves_at if found.votes else None)
