"""Pairs on which annotators differ, as pages and as JSON: the list, and one pair with votes, comments and decisions."""

import secrets
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from lookalike.annotate.protocol import DISCUSSION, EXCLUDED, SETTLED
from lookalike.annotate.question import VERDICTS
from lookalike.core.errors import LookalikeError
from lookalike.store.labelling import discussions as store
from lookalike.store.labelling.progress import count_states
from lookalike.store.people.people import Person
from lookalike.web import actions
from lookalike.web.access.dependencies import SIGNED_IN, ActorPart, After, Number, PersonPart, SitePart, lead
from lookalike.web.openapi import PROBLEMS
from lookalike.web.pages.forms import FormPart, submitted
from lookalike.web.pages.pair_view import pair_page, pictures
from lookalike.web.pages.render import page
from lookalike.web.schemas import Decision, Discussion, Done, NewComment, Pairs, Proposal
from lookalike.web.site import site_of

router = APIRouter(prefix="/discuss", dependencies=SIGNED_IN, include_in_schema=False)
api = APIRouter(prefix="/api/discussions", dependencies=SIGNED_IN, tags=["discussions"], responses=PROBLEMS)
STATES = (DISCUSSION, SETTLED, EXCLUDED)
State = Literal["discussion", "settled", "excluded"]
BY_LEAD = [Depends(lead)]


@router.get("")
def discussions_page(
    request: Request,
    site: SitePart,
    person: PersonPart,
    state: str = "",
    whose: str = "",
    category: str = "",
    after: After = 0,
) -> Response:
    """The pairs of a state, a page at a time."""
    query: dict[str, Any] = {
        "state": state if state in STATES else DISCUSSION,
        "category": category,
        "after": after,
    }
    with site.database.read() as connection:
        found = pair_page(connection, person, **query, mine=whose == "mine")
        values: dict[str, Any] = {
            "pairs": pictures(connection, site, found.pairs),
            "categories": store.categories(connection),
            "waiting": count_states(connection)[DISCUSSION],
            "protocol": site.rules.campaign.protocol_name,
        }
    shown = {**query, "whose": whose, "next_after": found.after, "states": STATES}
    return page(request, "discussion/discussions.html.j2", **values, **shown)


@router.get("/{question}")
def discussion_page(request: Request, person: PersonPart, question: Number) -> Response:
    """One pair: both photos, the votes with names, the comments."""
    return _pair(request, person, question)


@router.post("/{question}/comments")
async def comment_form(
    request: Request, site: SitePart, by: ActorPart, question: Number, form: FormPart
) -> Response:
    """Comment on a pair."""

    def again(failure: LookalikeError) -> Response:
        return _pair(request, by.person, question, failure, form.get("text", ""))

    return await submitted(
        NewComment, form, lambda new: comment(site, by, question, new), _address(question), again
    )


@router.post("/{question}/proposals")
async def proposal_form(
    request: Request, site: SitePart, by: ActorPart, question: Number, form: FormPart
) -> Response:
    """Propose an answer."""
    return await submitted(
        Proposal, form, lambda new: propose(site, by, question, new), _address(question),
        lambda failure: _pair(request, by.person, question, failure),
    )  # fmt: skip


@router.post("/{question}/decisions", dependencies=BY_LEAD)
async def decision_form(
    request: Request, site: SitePart, by: ActorPart, question: Number, form: FormPart
) -> Response:
    """End a discussion, or begin it again."""
    return await submitted(
        Decision, form, lambda new: decide(site, by, question, new), _address(question),
        lambda failure: _pair(request, by.person, question, failure),
    )  # fmt: skip


@api.get("")
def discussions(
    site: SitePart,
    person: PersonPart,
    state: State = "discussion",
    mine: bool = False,
    category: str = "",
    after: After = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Pairs:
    """Pairs in a state, in the order of their numbers. `mine`: only those you voted on."""
    with site.database.read() as connection:
        return pair_page(
            connection, person, state=state, mine=mine, category=category, after=after, limit=limit
        )


@api.get("/{question}")
def discussion(site: SitePart, person: PersonPart, question: Number) -> Discussion:
    """A pair that is no longer open, with its votes, comments, proposals and decisions."""
    return site.database.fetch(lambda connection: _read(connection, person, question))


@api.post("/{question}/comments")
async def comment(site: SitePart, by: ActorPart, question: Number, new: NewComment) -> Done:
    """Comment on a pair."""
    await site.write(lambda connection: actions.comment(connection, by, question, new))
    return Done()


@api.post("/{question}/proposals")
async def propose(site: SitePart, by: ActorPart, question: Number, new: Proposal) -> Done:
    """Propose an answer for a pair you voted on. The pair is resolved when all who voted propose the same."""
    await site.write(lambda connection: actions.propose(connection, by, question, new))
    return Done()


@api.post("/{question}/decisions", dependencies=BY_LEAD)
async def decide(site: SitePart, by: ActorPart, question: Number, new: Decision) -> Done:
    """For leads: end a discussion, or begin it again."""
    await site.write(lambda connection: actions.decide(connection, by, question, new))
    return Done()


def _address(question: int) -> str:
    return f"/discuss/{question}"


def _read(connection: Connection, person: Person, question: int) -> Discussion:
    pair = store.discussed(connection, question, person.reads_as)
    return Discussion(pair=pair, entries=list(store.thread(connection, question, person.reads_as)))


def _pair(
    request: Request, person: Person, question: int, failure: LookalikeError | None = None, text: str = ""
) -> Response:
    site = site_of(request)
    with site.database.read() as connection:
        found = _read(connection, person, question)
        shown = pictures(connection, site, [found.pair])[0]
        following = pair_page(connection, person, mine=not person.is_lead, after=question, limit=1).pairs
    votes = [one for one in found.entries if one.kind == "vote"]
    values: dict[str, Any] = {
        "shown": shown, "pair": found.pair, "votes": votes, "thread": found.entries[len(votes) :], "text": text,
        "voted": any(one.annotator == person.id for one in votes), "verdicts": VERDICTS,
        "following": following[0].question if following else None, "once": secrets.token_urlsafe(12),
        "is_discussed": found.pair.state == DISCUSSION, "failure": failure,
    }  # fmt: skip
    return page(request, "discussion/discussion.html.j2", **values)
