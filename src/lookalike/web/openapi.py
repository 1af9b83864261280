"""OpenAPI descriptions of the labelling routes, which read and write JSON themselves, and of errors."""

from typing import Any

from pydantic import BaseModel

from lookalike.annotate.protocol import ANSWERS
from lookalike.annotate.question import SKIP

Schema = dict[str, Any]


class Wrong(BaseModel):
    """An error and what to do."""

    kind: str
    code: str
    problem: str
    fix: str


class Problem(BaseModel):
    """The answer to a request that failed."""

    error: Wrong


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": words}
    for status, words in {
        400: "A value is invalid.",
        401: "You are not logged in, or the token is not valid.",
        403: "Your role does not allow this, or the account was removed.",
        404: "The object does not exist.",
        409: "The labelling rules do not allow this. `code` names the rule.",
        413: "The request is too large.",
        422: "A value is invalid or missing.",
        429: "Too many attempts. Retry-After gives the waiting time in seconds.",
        503: "The database is not available. Retry-After gives the waiting time in seconds.",
    }.items()
}


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer", "minimum": 0}
MILLISECONDS: Schema = {"type": "integer", "minimum": 0, "maximum": 1 << 53}
TOKEN: Schema = {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[^\\u0000]+$"}
SAID: Schema = {"type": "string", "enum": [*ANSWERS, SKIP]}
PHOTO = _object(image=TEXT, url=TEXT, zoom_url=TEXT)
PAIR = _object(token=TOKEN, question=WHOLE, until=WHOLE, left=PHOTO, right=PHOTO)
GIVEN: Schema = {"type": "array", "items": PAIR, "description": "The pairs reserved for you."}
COUNTS = ("answered", "today", "open", "discussion", "settled", "excluded")
PROGRESS = _object(**{name: WHOLE for name in COUNTS}, per_hour={"type": ["number", "null"]})
RECEIPT = _object(token=TEXT, answer=SAID, at=WHOLE)
ANSWER = {
    **_object(token=TOKEN, answer=SAID),
    "description": "`took`: milliseconds from showing the pair to the answer.",
}
ANSWER["properties"] = {**ANSWER["properties"], "took": MILLISECONDS}
REPORTED = _object(new={"type": "boolean"})
BODIES = {
    "Answer": ANSWER,
    "Undo": _object(token=TOKEN),
    "Missing": _object(image={"type": "string", "minLength": 1, "pattern": "^[^\\u0000]+$"}),
}
ANSWERED = {
    "GivenAndProgress": _object(given=GIVEN, progress=PROGRESS),
    "Given": _object(given=GIVEN),
    "Receipt": _object(receipt=RECEIPT, given=GIVEN),
    "Reported": REPORTED,
}


def gives(result: str, *, midnight: bool = False) -> dict[str, Any]:
    """Arguments of a GET route with this answer."""
    extra: dict[str, Any] = {}
    if midnight:
        words = "Start of the day in your time zone, in milliseconds since 1970. Default: midnight UTC."
        asked = {"name": "midnight", "in": "query", "schema": MILLISECONDS, "description": words}
        extra["parameters"] = [{**asked, "required": False}]
    return {"responses": _responses(result), "openapi_extra": extra}


def takes(sent: str, result: str) -> dict[str, Any]:
    """Arguments of a POST route with this request and this answer."""
    content = {"application/json": {"schema": BODIES[sent]}}
    return {
        "responses": _responses(result),
        "openapi_extra": {"requestBody": {"required": True, "content": content}},
    }


def _responses(result: str) -> dict[int | str, dict[str, Any]]:
    content = {"application/json": {"schema": ANSWERED[result]}}
    return {**PROBLEMS, 200: {"description": "Success.", "content": content}}
