"""Labelling for the page's script and for programs: an answer and the next pairs in one request and one transaction.

These routes read and write JSON themselves, because annotators call them most often.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

from fastapi import APIRouter
from fastapi.routing import APIRoute
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from lookalike.annotate.agreement.pace import DAY_MS
from lookalike.core.errors import ArgumentError
from lookalike.core.settings import Declared
from lookalike.store.labelling.giving import next_pairs
from lookalike.store.labelling.progress import annotator_progress, report_photo
from lookalike.store.labelling.votes import answer, take_answer_back
from lookalike.store.people.people import Person
from lookalike.web.access.identity import (
    CSRF_HEADER,
    SAFE,
    ClaimedIdentity,
    by_token,
    check_csrf,
    identity_of,
)
from lookalike.web.openapi import described
from lookalike.web.pages.pair_view import given_pairs
from lookalike.web.schemas import (
    Answer,
    Day,
    GivenAndProgress,
    GivenAndReceipt,
    GivenPairs,
    MissingPhoto,
    Reported,
    Undo,
)
from lookalike.web.site import Site, site_of


class ByHand(APIRoute):
    """A route whose function reads the request and makes the response itself; FastAPI only describes it."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the function as it is."""
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        response = await self.endpoint(Request(scope, receive, send))
        await response(scope, receive, send)


router = APIRouter(prefix="/api/label", tags=["label"], route_class=ByHand)
M = TypeVar("M", bound=Declared)


@router.get("/next", **described(GivenAndProgress, query=Day))
async def following(request: Request) -> Response:
    """The pairs reserved for you, oldest first. An empty list means that there are no pairs for you."""
    site, who = site_of(request), _who(request)  # a request without a login gets that error first
    now = site.now()
    given_midnight = request.query_params.get("midnight")
    midnight = now - now % DAY_MS if given_midnight is None else Day(**{"midnight": given_midnight}).midnight

    def give(connection: Connection, person: Person) -> dict[str, Any]:
        given = next_pairs(connection, site.rules, person.id, now, site.draw)
        done = asdict(annotator_progress(connection, person.id, now, midnight))
        return {"given": given_pairs(connection, site, given), "progress": done}

    return await _done(site, who, give)


@router.post("/answer", **described(GivenAndReceipt, sent=Answer))
async def take(request: Request) -> Response:
    """Answer a pair and get the next pairs. The same answer sent again gets the same receipt."""
    site, who = site_of(request), _who(request)
    sent = await _sent(request, Answer)
    now = site.now()

    def vote(connection: Connection, person: Person) -> dict[str, Any]:
        rules, draw = site.rules, site.draw
        receipt = answer(
            connection, rules, person.id, sent.token, sent.answer, now, draw, took=sent.took, reason=sent.reason
        )  # fmt: skip
        given = next_pairs(connection, rules, person.id, now, draw)
        return {"receipt": asdict(receipt), "given": given_pairs(connection, site, given)}

    return await _done(site, who, vote)


@router.post("/undo", **described(GivenPairs, sent=Undo))
async def undo(request: Request) -> Response:
    """Undo the answer that you gave with a token. Its pair comes first in the list of your pairs."""
    site, who = site_of(request), _who(request)
    token = (await _sent(request, Undo)).token
    now = site.now()

    def back(connection: Connection, person: Person) -> dict[str, Any]:
        first = take_answer_back(connection, site.rules, person.id, token, now)
        given = next_pairs(connection, site.rules, person.id, now, site.draw)
        others = (pair for pair in given if pair.token != first.token)
        return {"given": given_pairs(connection, site, (first, *others))}

    return await _done(site, who, back)


@router.post("/missing", **described(Reported, sent=MissingPhoto))
async def missing(request: Request) -> Response:
    """Report a photo that cannot be shown. The audit log gets one entry per image."""
    site, who = site_of(request), _who(request)
    image = (await _sent(request, MissingPhoto)).image
    now, address = site.now(), request.client.host if request.client else ""

    def report(connection: Connection, person: Person) -> dict[str, Any]:
        known = site.hashes(connection, [image])[image]
        if not known:
            raise ArgumentError(
                f"The catalog has no image {image[:40]!r}.", fix="Send the id of one of its images."
            )
        return {"new": report_photo(connection, image, person.id, now, address)}

    return await _done(site, who, report)


async def _done(
    site: Site, who: ClaimedIdentity, call: Callable[[Connection, Person], dict[str, Any]]
) -> Response:
    """Run a call for the sender of the request, in one transaction that is on disk before the answer."""
    result = await site.write(lambda connection: call(connection, who.found(connection)))
    return Response(json.dumps(result, separators=(",", ":")), media_type="application/json")


def _who(request: Request) -> ClaimedIdentity:
    """The identity that a request claims. A request of a page's script must carry the session's CSRF token."""
    who = identity_of(request)
    if request.method not in SAFE and not by_token(request):
        check_csrf(request, request.headers.get(CSRF_HEADER, ""))
    return who


async def _sent(request: Request, model: type[M]) -> M:
    try:
        sent = json.loads(await request.body())
    except (ValueError, RecursionError):
        sent = None
    if not isinstance(sent, dict):
        raise ArgumentError(
            "The body is not a JSON object.", fix=f"Send an object of {', '.join(model.model_fields)}."
        )
    return model(**sent)
