"""Pairs on which experts differ: the list, one pair with its votes and its thread, proposals and verdicts."""

import secrets
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.annotate.protocol import DISCUSSION, EXCLUDED, SETTLED
from lookalike.annotate.question import VERDICTS
from lookalike.core.errors import LookalikeError
from lookalike.store import discussions as store
from lookalike.store.people import Person
from lookalike.web.deps import SIGNED_IN, PersonPart, lead
from lookalike.web.failures import status_of
from lookalike.web.labelling import Labelling, labelling_of
from lookalike.web.render import page
from lookalike.web.shown import pictures

router = APIRouter(prefix="/discuss", dependencies=SIGNED_IN, include_in_schema=False)
STATES = (DISCUSSION, SETTLED, EXCLUDED)
PAGE = 24
Word = Annotated[str, Form()]
LeadPart = Annotated[Person, Depends(lead)]


@router.get("")
def discussions_page(
    request: Request, person: PersonPart, state: str = DISCUSSION, whose: str = "", category: str = "", after: int = 0
) -> Response:  # fmt: skip
    """The pairs of a state, a page at a time."""
    labelling = labelling_of(request)
    state = state if state in STATES else DISCUSSION
    after = min(max(after, 0), (1 << 63) - 1)
    who, only = person.id if whose == "mine" else None, category.replace("\0", "") or None
    with labelling.site.database.read() as connection:
        found = store.discussions(
            connection,
            state=state,
            after=after,
            who=who,
            category=only,
            reader=person.reads_as,
            limit=PAGE + 1,
        )
        values: dict[str, Any] = {
            "pairs": pictures(connection, labelling, found[:PAGE]),
            "categories": store.categories(connection),
            "waiting": store.waiting(connection),
            "protocol": labelling.rules.campaign.protocol.name,
        }
    older = found[PAGE - 1].question if len(found) > PAGE else None
    asked: dict[str, Any] = {
        "state": state,
        "whose": "mine" if who else "",
        "category": only or "",
        "after": after,
    }
    return page(request, "discussions.html.j2", **values, older=older, states=STATES, **asked)


@router.get("/{which}")
def discussion_page(request: Request, person: PersonPart, which: int) -> Response:
    """One pair: both photos, the votes with names, what was said."""
    return _pair(request, labelling_of(request), person, which)


@router.post("/{which}/comments")
async def comment(
    request: Request, person: PersonPart, which: int, text: Word = "", token: Word = ""
) -> Response:
    """Add to the thread; a form sent twice is there once."""
    now = labelling_of(request).site.now()
    key = f"{person.id}:{token or secrets.token_urlsafe(12)}"
    return await _done(
        request,
        person,
        which,
        lambda c: store.add_comment(c, _number(which), person.id, text, key, now),
        text,
    )


@router.post("/{which}/proposals")
async def propose(request: Request, person: PersonPart, which: int, verdict: Word = "") -> Response:
    """Say what one who voted thinks of it now."""
    now = labelling_of(request).site.now()
    return await _done(
        request, person, which, lambda c: store.add_proposal(c, _number(which), person.id, verdict, now)
    )


@router.post("/{which}/decisions")
async def decide(request: Request, by: LeadPart, which: int, verdict: Word = "") -> Response:
    """A lead's verdict, or that it is discussed again."""
    now = labelling_of(request).site.now()
    return await _done(
        request, by, which, lambda c: store.add_decision(c, _number(which), by.id, verdict, now)
    )


async def _done(
    request: Request, person: Person, which: int, call: Callable[[Connection], None], text: str = ""
) -> Response:
    labelling = labelling_of(request)
    try:
        await labelling.site.write(call)
    except LookalikeError as failure:
        if getattr(failure, "code", "") in ("unknown", "removed") or status_of(failure) == 503:
            raise
        return await run_in_threadpool(_pair, request, labelling, person, which, failure, text)
    return RedirectResponse(f"/discuss/{which}", 303)


def _pair(
    request: Request, labelling: Labelling, person: Person, which: int,
    failure: LookalikeError | None = None, text: str = "",
) -> Response:  # fmt: skip
    with labelling.site.database.read() as connection:
        pair = store.discussed(connection, _number(which), person.reads_as)
        said = store.thread(connection, which, person.reads_as)
        shown = pictures(connection, labelling, [pair])[0]
        following = _following(connection, person, which)
    votes = [one for one in said if one.kind == "vote"]
    values: dict[str, Any] = {
        "shown": shown, "pair": pair, "votes": votes, "thread": said[len(votes) :], "failure": failure, "text": text,
        "voted": any(one.annotator == person.id for one in votes), "verdicts": VERDICTS, "following": following,
        "once": secrets.token_urlsafe(12), "is_discussed": pair.state == DISCUSSION,
    }  # fmt: skip
    status = status_of(failure) if failure else 200
    return page(request, "discussion.html.j2", status=status, **values)


def _following(connection: Connection, person: Person, which: int) -> int | None:
    """The next pair in discussion: a lead's next of all, anybody else's of their own."""
    who = None if person.is_lead else person.id
    found = store.discussions(connection, after=which, who=who, reader=person.reads_as, limit=1)
    return found[0].question if found else None


def _number(which: int) -> int:
    """A number that a database can hold; others are of no pair."""
    return which if 0 <= which < 1 << 63 else 0
