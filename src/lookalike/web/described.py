"""What the OpenAPI description says of routes that read and write JSON by hand, and of what goes wrong anywhere."""

from typing import Any

from pydantic import BaseModel

from lookalike.annotate.protocol import ANSWERS
from lookalike.annotate.question import SKIP

Schema = dict[str, Any]


class Wrong(BaseModel):
    """What went wrong, and the way out."""

    kind: str
    code: str
    problem: str
    fix: str


class Problem(BaseModel):
    """The answer where something went wrong."""

    error: Wrong


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": words}
    for status, words in {
        400: "It does not fit, or the rules do not allow it.",
        401: "Nobody is logged in, or the token does not work.",
        403: "This is not for you, or the account was removed.",
        404: "There is no such thing.",
        409: "The rules of labelling refuse it; `code` says which.",
        413: "It is too large.",
        422: "It does not fit.",
        429: "Too much at once; Retry-After says when.",
        503: "The database cannot be used at the moment; Retry-After says when to try again.",
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
GIVEN: Schema = {"type": "array", "items": PAIR, "description": "The pairs that are yours to answer now."}
COUNTS = ("answered", "today", "open", "discussion", "settled", "excluded")
PROGRESS = _object(**{name: WHOLE for name in COUNTS}, per_hour={"type": ["number", "null"]})
RECEIPT = _object(token=TEXT, answer=SAID, at=WHOLE)
ANSWER = {
    **_object(token=TOKEN, answer=SAID),
    "description": "`took`: milliseconds from showing to answering.",
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
    """Arguments of a GET route that answers with this."""
    extra: dict[str, Any] = {}
    if midnight:
        words = "When today began where you are, in milliseconds since 1970; without it, midnight UTC."
        asked = {"name": "midnight", "in": "query", "schema": MILLISECONDS, "description": words}
        extra["parameters"] = [{**asked, "required": False}]
    return {"responses": _responses(result), "openapi_extra": extra}


def takes(sent: str, result: str) -> dict[str, Any]:
    """Arguments of a POST route that is sent this and answers with that."""
    content = {"application/json": {"schema": BODIES[sent]}}
    return {
        "responses": _responses(result),
        "openapi_extra": {"requestBody": {"required": True, "content": content}},
    }


def _responses(result: str) -> dict[int | str, dict[str, Any]]:
    content = {"application/json": {"schema": ANSWERED[result]}}
    return {**PROBLEMS, 200: {"description": "Done.", "content": content}}
