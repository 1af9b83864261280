"""What an endpoint replied: an answer, or a failure and whether another call can help."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from lookalike.judge.endpoint import KEY, Endpoint
from lookalike.judge.prompt import JudgeAnswer, read_answer

TOO_LARGE = re.compile(
    r"too (large|big|long)|context.{0,10}length|maximum.{0,40}(size|pixels|tokens)", re.IGNORECASE
)
Then = Literal["again", "wait", "once more", "smaller", "fail", "stop"]
TRIES: dict[Then, int] = {"again": 5, "wait": 20, "once more": 2}
OF_STATUS: dict[int, Then] = {
    **dict.fromkeys((402, 404, 405), "stop"),
    **dict.fromkeys((429, 503, 529), "wait"),
    **dict.fromkeys((408, 409, 425, 500, 502, 504), "again"),
}
SHOWN = 200
MOST_COUNTED = 10**9  # tokens of a call
CHECK = (
    "Check the address, the model and the server. Then run the same command again: kept answers cost nothing."
)


@dataclass(frozen=True)
class Reply:
    """An answer, or why there is none.

    `then` is what to do without one: try again, with all calls waiting ("wait"), once more, or with smaller photos;
    "fail": another try cannot help; "stop": no other call can succeed either. `wait` is how many seconds the endpoint
    asks for. `detail` is the endpoint's own text, for the error message only.
    """

    failure: str = ""
    answer: JudgeAnswer | None = None
    then: Then = "fail"
    wait: float = 0.0
    detail: str = ""
    fix: str = CHECK
    tokens_in: int = 0
    tokens_out: int = 0
    version: str = ""
    seconds: float = 0.0


def reply_of(status: int, headers: Mapping[str, str], text: str, endpoint: Endpoint) -> Reply:
    """What a response means. No text of the reply contains the key."""
    found = _json(text)
    if status == 200:
        return _answered(found, endpoint)
    if 300 <= status < 400:
        there = endpoint.cleaned(headers.get("location", "another address"))[:SHOWN]
        fix = "Give the final address as --endpoint."
        return Reply(f"it redirects to {there}, and redirects are not followed", then="stop", fix=fix)
    if status in (401, 403):  # without its text, which often repeats a part of the key
        failure = "the key is refused" if endpoint.key else "it requires a key"
        fix = f"Set the environment variable {KEY} to a valid key. Kept answers are not lost."
        return Reply(f"{failure} (status {status})", then="stop", fix=fix)
    detail = _shown(found.get("error", text), endpoint)
    if status == 413 or (status in (400, 422) and TOO_LARGE.search(detail)):
        return Reply("the photos are too large, also as smaller copies", then="smaller", detail=detail)
    then: Then = "stop" if "insufficient_quota" in text else OF_STATUS.get(status, "fail")
    return Reply(f"status {status}", then=then, wait=_wait(headers.get("retry-after", "")), detail=detail)


def _answered(found: Mapping[str, Any], endpoint: Endpoint) -> Reply:
    usage = found.get("usage")
    tokens_in, tokens_out = (_whole(usage, name) for name in ("prompt_tokens", "completion_tokens"))
    names = [found.get("model"), found.get("system_fingerprint")]
    version = " ".join(_shown(name, endpoint) for name in names if isinstance(name, str))
    try:
        content = found["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        content = None
    answer = read_answer(content)
    reply = Reply(tokens_in=tokens_in, tokens_out=tokens_out, version=version)
    if answer is not None:
        return replace(reply, answer=answer.model_copy(update={"reason": endpoint.cleaned(answer.reason)}))
    failure = "the answer is not JSON in the requested format"
    detail = _shown(content or found.get("error", ""), endpoint)
    return replace(reply, failure=failure, then="once more", detail=detail)


def _shown(words: object, endpoint: Endpoint) -> str:
    """The beginning of the endpoint's own words, on one line."""
    text = words.get("message", words) if isinstance(words, dict) else words
    return " ".join(endpoint.cleaned(str(text)).split())[:SHOWN].rstrip(".")


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _whole(usage: object, name: str) -> int:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and 0 <= value <= MOST_COUNTED else 0


def _wait(text: str) -> float:
    """The seconds of Retry-After; 0 for anything else, for which the usual waits are used.

    >>> _wait("2.5"), _wait("Wed, 21 Oct 2015 07:28:00 GMT"), _wait("nan")
    (2.5, 0.0, 0.0)
    """
    try:
        seconds = float(text)
    except ValueError:
        return 0.0
    return seconds if seconds > 0 else 0.0
