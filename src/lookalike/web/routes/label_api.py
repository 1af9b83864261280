"""Labelling for the page's script and for programs: an answer and the next pairs in one request and one transaction.

Bodies are read and written by hand: these routes are what fifty experts at full speed call.
"""

import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from lookalike.annotate.pace import DAY_MS
from lookalike.annotate.protocol import ANSWERS
from lookalike.annotate.question import SKIP
from lookalike.core.errors import ArgumentError
from lookalike.store.people import Person
from lookalike.store.standing import report_photo, standing
from lookalike.store.votes import LONGEST_TOOK, answer, next_pairs, take_answer_back
from lookalike.web.claimant import CSRF_HEADER, SAFE, Who, by_token, check_csrf, claimant
from lookalike.web.described import gives, takes
from lookalike.web.labelling import Labelling, labelling_of
from lookalike.web.shown import given_pairs


class ByHand(APIRoute):
    """A route whose function reads the request and makes the response itself; FastAPI only describes it."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The function as it is."""
        handler: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return handler


router = APIRouter(prefix="/api/label", tags=["label"], route_class=ByHand)
SAID = (*ANSWERS, SKIP)
LATEST = 1 << 53
LONGEST_TOKEN = 200


@router.get("/next", **gives("GivenAndProgress", midnight=True))
async def following(request: Request) -> Response:
    """The pairs that are yours to answer now, oldest first; none: nothing is left for you."""
    labelling = labelling_of(request)
    now = labelling.site.now()
    midnight = _whole(request.query_params.get("midnight", now - now % DAY_MS), "midnight")

    def give(connection: Connection, person: Person) -> dict[str, Any]:
        given = next_pairs(connection, labelling.rules, person.id, now, labelling.draw)
        stands = asdict(standing(connection, person.id, now, midnight))
        return {"given": given_pairs(connection, labelling, given), "progress": stands}

    return await _done(request, labelling, give)


@router.post("/answer", **takes("Answer", "Receipt"))
async def take(request: Request) -> Response:
    """Answer a pair you were given and get the next ones. The same answer sent again gets the same receipt."""
    labelling = labelling_of(request)
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

    return await _done(request, labelling, vote)


@router.post("/undo", **takes("Undo", "Given"))
async def undo(request: Request) -> Response:
    """Take back the answer that you gave under a token; its pair comes first of those that are yours now."""
    labelling = labelling_of(request)
    token = _token(await _sent(request, {"token"}))
    now = labelling.site.now()

    def back(connection: Connection, person: Person) -> dict[str, Any]:
        first = take_answer_back(connection, labelling.rules, person.id, token, now)
        given = next_pairs(connection, labelling.rules, person.id, now, labelling.draw)
        others = (pair for pair in given if pair.token != first.token)
        return {"given": given_pairs(connection, labelling, (first, *others))}

    return await _done(request, labelling, back)


@router.post("/missing", **takes("Missing", "Reported"))
async def missing(request: Request) -> Response:
    """Tell the leads that a photo cannot be shown; it goes into the audit log, once for each image."""
    labelling = labelling_of(request)
    image = (await _sent(request, {"image"})).get("image")
    if not isinstance(image, str) or not image or "\0" in image:
        raise _unfit("image", "the image's id")
    now, address = labelling.site.now(), request.client.host if request.client else ""

    def tell(connection: Connection, person: Person) -> dict[str, Any]:
        known = labelling.hashes(connection, [image])[image]
        if not known:
            raise _unfit("image", "one of the catalog")
        return {"new": report_photo(connection, image, person.id, now, address)}

    return await _done(request, labelling, tell)


async def _done(
    request: Request, labelling: Labelling, call: Callable[[Connection, Person], dict[str, Any]]
) -> Response:
    """What a call makes of whoever asks, in one transaction; it is on the disk before this answers."""
    who = _who(request)
    result = await labelling.site.write(lambda connection: call(connection, who(connection)))
    return Response(json.dumps(result, separators=(",", ":")), media_type="application/json")


def _who(request: Request) -> Who:
    """What finds out who asks; where it is a page's script, that the page is this session's."""
    who = claimant(request)
    if request.method not in SAFE and not by_token(request):
        check_csrf(request, request.headers.get(CSRF_HEADER, ""))
    return who


async def _sent(request: Request, names: set[str]) -> Mapping[str, Any]:
    _who(request)  # before the body is read: who is nobody is told that first
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
    """A whole number from 0 on, of a body or of an address."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 17:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LATEST:
        raise _unfit(name, "a whole number of milliseconds, 0 or more")
    return value


def _unfit(name: str, rule: str) -> ArgumentError:
    return ArgumentError(f"What was sent does not fit: {name}.", fix=f"{name} must be {rule}.")
