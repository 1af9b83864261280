"""One pair in the queue: claims, votes, discussion, label. A pure state machine; the store saves its results.

    open --(all votes in, undo time over)--> settled | discussion | excluded
    discussion --(all who voted propose the same, or a lead decides)--> settled | excluded
    settled, excluded --(a lead reopens)--> discussion

A pair has one seat for each vote that it needs. A lease holds a seat for minutes, a vote holds it permanently. At
every moment live leases + votes <= needed, and nobody has two claims on one pair. Times are in milliseconds.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lookalike.annotate.protocol import (
    ANSWERS,
    DISCUSSION,
    EXCLUDED,
    LABELS,
    OPEN,
    SETTLED,
    Outcome,
    Protocol,
)
from lookalike.core.checks import one_of
from lookalike.core.errors import VoteError

LEASE, VOTE, SKIP = "lease", "vote", "skip"
EXCLUDE, REOPEN = "exclude", "reopen"
VERDICTS = (*LABELS, EXCLUDE)
SKEW = 5_000  # milliseconds by which two readings of the clock may differ although it was not set back


@dataclass(frozen=True)
class Claim:
    """One annotator on one pair: a lease with its end, a vote with its answer, or a skip."""

    annotator: int
    kind: str
    token: str
    since: int
    until: int = 0
    answer: str = ""
    side: int = 0
    reason: str = ""

    def is_live(self, now: int) -> bool:
        """Whether a lease still holds its seat. A lease from the future has ended: the clock was set back."""
        return self.kind == LEASE and self.since - SKEW <= now <= self.until


@dataclass(frozen=True)
class Question:
    """One pair and its claims. Votes are resolved at `resolves_at` and can be undone until then."""

    needed: int
    state: str = OPEN
    claims: tuple[Claim, ...] = ()
    label: int | None = None
    resolves_at: int | None = None
    proposals: tuple[tuple[int, str], ...] = ()  # in discussion: annotator and current proposal

    @property
    def free(self) -> int:
        """Seats that neither a vote nor a lease holds; 0 for a pair that is not open."""
        held = sum(claim.kind != SKIP for claim in self.claims)
        return self.needed - held if self.state == OPEN else 0

    @property
    def votes(self) -> tuple[Claim, ...]:
        """The live votes."""
        return tuple(claim for claim in self.claims if claim.kind == VOTE)

    def of(self, annotator: int) -> Claim | None:
        """An annotator's claim."""
        return next((claim for claim in self.claims if claim.annotator == annotator), None)


def lease(question: Question, annotator: int, token: str, now: int, until: int, side: int) -> Question:
    """Hold a seat for an annotator who has not voted on the pair. They may have skipped it."""
    question = expire(question, now)
    had = question.of(annotator)
    if question.state != OPEN or question.free < 1 or (had is not None and had.kind != SKIP):
        raise refused("taken")
    return _with(question, Claim(annotator, LEASE, token, now, until, side=side))


def renew(question: Question, annotator: int, now: int, until: int) -> Question:
    """Start the time of a lease again, also if it ended and nobody has taken the seat."""
    had = question.of(annotator)
    if question.state != OPEN or had is None or had.kind != LEASE:
        raise refused("taken")
    return _with(question, replace(had, since=min(had.since, now), until=until))


def vote(
    question: Question, annotator: int, token: str, answer: str, now: int, grace: int, side: int = 0, reason: str = "",
) -> Question:  # fmt: skip
    """Turn an annotator's lease into a vote. The last vote that is needed starts the time until the pair is resolved.

    A lease that ended counts if nobody else has taken the seat, so an expert who was offline loses nothing. A lease
    that was taken back counts if a seat is free; `side` is the side on which its pair was shown.
    """
    one_of(answer, ANSWERS, "answer")
    had = question.of(annotator)
    if had is not None and had.kind == VOTE:
        raise refused("answered")
    if question.state != OPEN:
        raise refused("closed")
    if had is None or had.kind == SKIP:
        question = expire(question, now)
        if question.free < 1:
            raise refused("full")
    side = had.side if had is not None else side
    done = _with(question, Claim(annotator, VOTE, token, now, answer=answer, side=side, reason=reason))
    return replace(done, resolves_at=now + grace) if len(done.votes) == done.needed else done


def skip(question: Question, annotator: int, token: str, now: int, side: int = 0) -> Question:
    """Give the seat back. This annotator gets the pair again only when nothing else is left."""
    had = question.of(annotator)
    if had is not None and had.kind == VOTE:
        raise refused("answered")
    if question.state != OPEN:
        raise refused("closed")
    side = had.side if had is not None else side
    return _with(question, Claim(annotator, SKIP, token, now, side=side))


def undo(question: Question, annotator: int, token: str, now: int, until: int) -> Question:
    """Turn a vote back into a lease until the pair is resolved, or a skip if a seat is still free."""
    had = question.of(annotator)
    if had is None or had.kind == LEASE:
        raise refused("nothing-to-undo")
    if had.kind == SKIP:
        question = expire(question, now)
        if question.state == OPEN and question.free < 1:
            raise refused("taken")
    if question.state != OPEN or (question.resolves_at is not None and now > question.resolves_at):
        raise refused("settled")
    back = _with(question, Claim(annotator, LEASE, token, now, until, side=had.side))
    return replace(back, resolves_at=None)


def expire(question: Question, now: int) -> Question:
    """Drop leases that have ended."""
    kept = tuple(claim for claim in question.claims if claim.kind != LEASE or claim.is_live(now))
    return question if len(kept) == len(question.claims) else replace(question, claims=kept)


def release(question: Question, annotator: int) -> Question:
    """Drop what an annotator holds but has not answered."""
    kept = tuple(claim for claim in question.claims if claim.annotator != annotator or claim.kind == VOTE)
    return replace(question, claims=kept)


def resolve(question: Question, protocol: Protocol, now: int, grace: int) -> Question:
    """Resolve the votes once all are in and the time to undo is over; before that, return the question as it is.

    The wait is never longer than `grace`, also if the clock was set back.
    """
    if (
        question.state != OPEN
        or question.resolves_at is None
        or 0 < question.resolves_at - now <= grace + SKEW
    ):
        return question
    return _close(question, protocol.outcome([claim.answer for claim in question.votes]))


def propose(question: Question, annotator: int, verdict: str) -> Question:
    """Propose a verdict in discussion. If all annotators who voted propose the same, it becomes the verdict."""
    one_of(verdict, VERDICTS, "verdict")
    if question.state != DISCUSSION:
        raise refused("closed")
    voters = {claim.annotator for claim in question.votes}
    if annotator not in voters:
        raise refused("no-voter")
    others = tuple(given for given in question.proposals if given[0] != annotator)
    question = replace(question, proposals=(*others, (annotator, verdict)))
    agreed = {given for _, given in question.proposals}
    if {who for who, _ in question.proposals} == voters and len(agreed) == 1:
        return decide(question, verdict)
    return question


def decide(question: Question, verdict: str) -> Question:
    """Apply a lead's verdict to a pair in discussion. `reopen` returns a settled or excluded pair to discussion."""
    one_of(verdict, (*VERDICTS, REOPEN), "verdict")
    if verdict == REOPEN:
        if question.state not in (SETTLED, EXCLUDED):
            raise refused("closed")
        return replace(question, state=DISCUSSION, label=None, proposals=())
    if question.state != DISCUSSION:
        raise refused("closed")
    if verdict == EXCLUDE:
        return _close(question, Outcome(EXCLUDED))
    return _close(question, Outcome(SETTLED, LABELS[verdict]))


def _close(question: Question, outcome: Outcome) -> Question:
    """Close a pair. Only votes remain as claims."""
    return replace(
        question, state=outcome.state, label=outcome.label, resolves_at=None, claims=question.votes
    )


def _with(question: Question, claim: Claim) -> Question:
    others: Iterable[Claim] = (had for had in question.claims if had.annotator != claim.annotator)
    return replace(question, claims=(*others, claim))


REFUSALS = {
    "in-work": (
        "This pair is open or in discussion, so it cannot be a gold pair.",
        "Choose a resolved pair, or a pair that is not in the queue.",
    ),
    "taken": ("This pair is no longer available to you.", "Continue with the next pair."),
    "answered": (
        "You have already answered this pair.",
        "Undo that answer if it is wrong. You can undo it until the pair is resolved.",
    ),
    "closed": ("This pair is no longer open.", "Continue with the next pair. A lead can reopen this one."),
    "full": (
        "Your reservation of this pair ended and others answered it. Your answer does not count.",
        "Continue with the next pair.",
    ),
    "not-leased": (
        "This pair is not reserved for you.",
        "Open the label page and answer the pair that it shows.",
    ),
    "nothing-to-undo": ("You have no answer to undo.", "Continue with the next pair."),
    "settled": (
        "This answer can no longer be changed: its pair is resolved.",
        "If the answer is wrong, ask a lead to reopen the pair.",
    ),
    "no-voter": (
        "Only annotators who voted on a pair can propose its label.",
        "Write a comment, or ask a lead.",
    ),
    "unknown": ("This pair does not exist, or you cannot see it.", "Go back to the list."),
}


def refused(code: str) -> VoteError:
    """The error of a refusal, by its code."""
    problem, fix = REFUSALS[code]
    return VoteError(problem, fix=fix, code=code)
