"""Labelling for the page's script and for programs: an answer and the next pairs in one request and one transaction.

These routes read and write JSON themselves, because annotators call them most often.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from lookalike.annotate.agreement.pace import DAY_MS
from lookalike.annotate.protocol import ANSWERS
from lookalike.annotate.question import SKIP
from lookalike.core.errors import ArgumentError
from lookalike.store.labelling.giving import next_pairs
from lookalike.store.labelling.progress import annotator_progress, report_photo
from lookalike.store.labelling.votes import LONGEST_TOOK, answer, take_answer_back
from lookalike.store.people.people import Person
from lookalike.web.access.identity import (
    CSRF_HEADER,
    SAFE,
    ClaimedIdentity,
    by_token,
    check_csrf,
    identity_of,
)
from lookalike.web.labelling import Labelling, labelling_of
from lookalike.web.openapi import gives, takes
from lookalike.web.pages.pair_view import given_pairs


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
SAID = (*ANSWERS, SKIP)
LATEST = 1 << 53
LONGEST_TOKEN = 200


@router.get("/next", **gives("GivenAndProgress", midnight=True))
async def following(request: Request) -> Response:
    """The pairs reserved for you, oldest first. An empty list means that there are no pairs for you."""
    labelling, who = labelling_of(request), _who(request)  # a request without a login gets that error first
    now = labelling.site.now()
    midnight = _whole(request.query_params.get("midnight", now - now % DAY_MS), "midnight")

    def give(connection: Connection, person: Person) -> dict[str, Any]:
        given = next_pairs(connection, labelling.rules, person.id, now, labelling.draw)
        done = asdict(annotator_progress(connection, person.id, now, midnight))
        return {"given": given_pairs(connection, labelling, given), "progress": done}

    return await _done(labelling, who, give)


@router.post("/answer", **takes("Answer", "Receipt"))
async def take(request: Request) -> Response:
    """Answer a pair and get the next pairs. The same answer sent again gets the same receipt."""
    labelling, who = labelling_of(request), _who(request)
    sent = await _sent(request, {"token", "answer", "took"})
    token, said = _token(sent), sent.get("answer")
    took = sent.get("took", 0)
    if said not in SAID:
        raise _unfit("answer", f"one of {', '.join(SAID)}")
    took = min(_whole(took, "took"), LONGEST_TOOK)
    now = labelling.site.now()

    def vote(connection: Connection, person: Person) -> dict[str, Any]:
        rules, draw = labelling.rules, labelling.draw
        receipt = answer(connection, rules, person.id, token, str(said), now, draw, took=took)
        given = next_pairs(connection, rules, person.id, now, draw)
        kept = {"token": receipt.token, "answer": receipt.answer, "at": receipt.at}
        return {"receipt": kept, "given": given_pairs(connection, labelling, given)}

    return await _done(labelling, who, vote)


@router.post("/undo", **takes("Undo", "Given"))
async def undo(request: Request) -> Response:
    """Undo the answer that you gave with a token. Its pair comes first in the list of your pairs."""
    labelling, who = labelling_of(request), _who(request)
    token = _token(await _sent(request, {"token"}))
    now = labelling.site.now()

    def back(connection: Connection, person: Person) -> dict[str, Any]:
        first = take_answer_back(connection, labelling.rules, person.id, token, now)
        given = next_pairs(connection, labelling.rules, person.id, now, labelling.draw)
        others = (pair for pair in given if pair.token != first.token)
        return {"given": given_pairs(connection, labelling, (first, *others))}

    return await _done(labelling, who, back)


@router.post("/missing", **takes("Missing", "Reported"))
async def missing(request: Request) -> Response:
    """Report a photo that cannot be shown. The audit log gets one entry per image."""
    labelling, who = labelling_of(request), _who(request)
    image = (await _sent(request, {"image"})).get("image")
    if not isinstance(image, str) or not image or "\0" in image:
        raise _unfit("image", "the image's id")
    now, address = labelling.site.now(), request.client.host if request.client else ""

    def tell(connection: Connection, person: Person) -> dict[str, Any]:
        known = labelling.hashes(connection, [image])[image]
        if not known:
            raise _unfit("image", "one of the catalog")
        return {"new": report_photo(connection, image, person.id, now, address)}

    return await _done(labelling, who, tell)


async def _done(
    labelling: Labelling, who: ClaimedIdentity, call: Callable[[Connection, Person], dict[str, Any]]
) -> Response:
    """Run a call for the person who asks, in one transaction that is on disk before the answer."""
    result = await labelling.site.write(lambda connection: call(connection, who.found(connection)))
    return Response(json.dumps(result, separators=(",", ":")), media_type="application/json")


def _who(request: Request) -> ClaimedIdentity:
    """The identity that a request claims. A request of a page's script must carry the session's CSRF token."""
    who = identity_of(request)
    if request.method not in SAFE and not by_token(request):
        check_csrf(request, request.headers.get(CSRF_HEADER, ""))
    return who


async def _sent(request: Request, names: set[str]) -> Mapping[str, Any]:
    try:
        sent = json.loads(await request.body())
    except (ValueError, RecursionError):
        sent = None
    if not isinstance(sent, dict) or not sent.keys() <= names:
        raise _unfit("body", f"a JSON object of {', '.join(sorted(names))}")
    return sent


def _token(sent: Mapping[str, Any]) -> str:
    token = sent.get("token")
    if not isinstance(token, str) or not 1 <= len(token) <= LONGEST_TOKEN or "\0" in token:
        raise _unfit("token", "the text that came with the pair")
    return token


def _whole(value: object, name: str) -> int:
    """A whole number, 0 or more, from a body or an address."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 17:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LATEST:
        raise _unfit(name, "a whole number of milliseconds, 0 or more")
    return value


def _unfit(name: str, rule: str) -> ArgumentError:
    return ArgumentError(f"Invalid value for: {name}.", fix=f"Use {rule}.")
