"""Discussions for programs."""

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query
from starlette.requests import Request

from lookalike.store import discussions as store
from lookalike.store.people import Person
from lookalike.web.deps import SIGNED_IN, PersonPart, lead
from lookalike.web.described import PROBLEMS
from lookalike.web.labelling import labelling_of
from lookalike.web.schemas import (
    CommentIn,
    DecisionIn,
    Discussion,
    Done,
    Number,
    PairOut,
    Pairs,
    ProposalIn,
    SaidOut,
    Text,
)

router = APIRouter(
    prefix="/api/discussions", dependencies=SIGNED_IN, tags=["discussions"], responses=PROBLEMS
)
Which = Annotated[int, Path(ge=0, lt=1 << 63, description="The pair's number.")]


@router.get("")
def discussions(
    request: Request,
    person: PersonPart,
    state: Literal["discussion", "settled", "excluded"] = "discussion",
    mine: bool = False,
    category: Text | None = None,
    after: Number = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Pairs:
    """Pairs of a state, in the order of their numbers; `mine`: those you voted on."""
    who = person.id if mine else None
    with labelling_of(request).site.database.read() as connection:
        found = store.discussions(
            connection,
            state=state,
            after=after,
            who=who,
            category=category,
            reader=person.reads_as,
            limit=limit + 1,
        )
    last = found[limit - 1].question if len(found) > limit else None
    return Pairs(pairs=[PairOut(**asdict(one)) for one in found[:limit]], after=last)


@router.get("/{which}")
def discussion(request: Request, person: PersonPart, which: Which) -> Discussion:
    """A pair that is no longer open: its votes, comments and verdicts."""
    reader = person.reads_as
    with labelling_of(request).site.database.read() as connection:
        pair, said = store.discussed(connection, which, reader), store.thread(connection, which, reader)
    return Discussion(pair=PairOut(**asdict(pair)), said=[SaidOut(**asdict(one)) for one in said])


@router.post("/{which}/comments")
async def comment(request: Request, person: PersonPart, which: Which, sent: CommentIn) -> Done:
    """Add a comment."""
    site = labelling_of(request).site
    now, key = site.now(), f"{person.id}:{sent.token}"
    await site.write(lambda c: store.add_comment(c, which, person.id, sent.text, key, now))
    return Done()


@router.post("/{which}/proposals")
async def propose(request: Request, person: PersonPart, which: Which, sent: ProposalIn) -> Done:
    """Say what you, who voted, think of it now; where all who voted think the same, it settles."""
    site = labelling_of(request).site
    now = site.now()
    await site.write(lambda c: store.add_proposal(c, which, person.id, sent.verdict, now))
    return Done()


@router.post("/{which}/decisions")
async def decide(
    request: Request, by: Annotated[Person, Depends(lead)], which: Which, sent: DecisionIn
) -> Done:
    """For leads: end a discussion, or begin it again."""
    site = labelling_of(request).site
    now = site.now()
    await site.write(lambda c: store.add_decision(c, which, by.id, sent.verdict, now))
    return Done()
