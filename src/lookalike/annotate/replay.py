"""The history of one pair is replayed through the rules, which gives its state or the rule that it breaks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lookalike.annotate.protocol import DISCUSSION, EXCLUDED, OPEN, PROTOCOLS, SETTLED, Outcome, Protocol
from lookalike.annotate.question import (
    REOPEN,
    SKIP,
    VOTE,
    Question,
    decide,
    expire,
    propose,
    refused,
    skip,
    undo,
    vote,
)
from lookalike.core.errors import VoteError

UNDO, PROPOSAL, DECISION = "undo", "proposal", "decision"
ANSWERED = (VOTE, SKIP, UNDO)
RULED = (PROPOSAL, DECISION)
NO_END = 2**60  # an undo in the history was in time


@dataclass(frozen=True)
class Event:
    """One action of an annotator on a pair. The `answer` of a proposal or decision is its verdict."""

    event: str
    annotator: int
    answer: str = ""
    token: str = ""
    at: int = 0
    side: int = 0
    reason: str = ""


def replay(events: Sequence[Event], needed: int, ended: Outcome, grace: int = 0) -> Question:
    """The question after a history. Raises VoteError if the rules refuse a step or exclude the given end.

    Answers are replayed first, then verdicts, because a closed pair takes no votes. `ended` is given, since the outcome
    depends on the protocol of that time and pairs are also closed without votes. It is checked against all possible
    outcomes. An open pair with all its votes is resolved `grace` after the last vote.

    >>> votes = [Event("vote", 1, "similar", "t"), Event("vote", 2, "similar", "u", at=5)]
    >>> replay(votes, 2, Outcome("settled", 1)).label
    1
    >>> replay(votes[:1], 2, Outcome("settled", 1))
    Traceback (most recent call last):
    lookalike.core.errors.VoteError: Its votes cannot have led to settled (1).
    The history of this pair is incomplete. Export it again.
    """
    question = Question(needed)
    for event in events:
        if event.event in ANSWERED:
            question = _answered(expire(question, event.at), event)
    question = expire(question, NO_END)
    verdicts = [event for event in events if event.event in RULED]
    if not verdicts:
        return _ended(question, ended, grace)
    question = _closed(question, verdicts[0].answer == REOPEN)
    for event in verdicts:
        if event.event == PROPOSAL:
            question = propose(question, event.annotator, event.answer)
        else:
            question = decide(question, event.answer)
    if question.state == DISCUSSION and ended.state != DISCUSSION:
        question = _agreed(question)
    if Outcome(question.state, question.label) != ended:
        raise _impossible("verdicts", ended)
    return question


def _agreed(question: Question) -> Question:
    """The pair with the verdict on which all who proposed one agree: votes can be imported after it was given."""
    verdicts = {verdict for _, verdict in question.proposals}
    return decide(question, verdicts.pop()) if len(verdicts) == 1 else question


def _answered(question: Question, event: Event) -> Question:
    who, token, at = event.annotator, event.token, event.at
    if event.event == SKIP:
        return skip(question, who, token, at)
    if event.event == UNDO:
        return undo(question, who, token, at, at - 1)
    done = vote(question, who, token, event.answer, at, NO_END, reason=event.reason)
    mine = replace(done.claims[-1], side=event.side)
    return replace(done, claims=(*done.claims[:-1], mine))


def _closed(question: Question, reopened: bool) -> Question:
    """The pair when the first verdict was given."""
    if not reopened and len(question.votes) != question.needed:
        raise refused("closed")
    state = SETTLED if reopened else DISCUSSION
    return replace(question, state=state, resolves_at=None, claims=question.votes)


def _ended(question: Question, ended: Outcome, grace: int) -> Question:
    votes = question.votes
    if ended == Outcome(OPEN):
        full = votes and len(votes) == question.needed
        return replace(question, resolves_at=max(claim.since for claim in votes) + grace if full else None)
    closed = replace(question, state=ended.state, label=ended.label, resolves_at=None, claims=votes)
    withdrawn = ended == Outcome(EXCLUDED)  # a photo is missing, or it is a gold pair
    elsewhere = ended == Outcome(SETTLED)  # its label came from a file
    if withdrawn or elsewhere:
        return closed
    whole = votes and len(votes) == question.needed
    answers = [claim.answer for claim in votes]
    if not whole or ended not in [Protocol(name, len(votes)).outcome(answers) for name in PROTOCOLS]:
        raise _impossible("votes", ended)
    return closed


def _impossible(what: str, ended: Outcome) -> VoteError:
    label = "" if ended.label is None else f" ({ended.label})"
    return VoteError(
        f"Its {what} cannot have led to {ended.state}{label}.",
        fix="The history of this pair is incomplete. Export it again.",
        code="inconsistent",
    )
