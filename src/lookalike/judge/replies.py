"""What an endpoint replied: an answer, or a failure and whether another call can help."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from lookalike.judge.endpoint import KEY, Endpoint
from lookalike.judge.prompt import JudgeAnswer, read_answer

TOO_LARGE = re.compile(
    r"too (large|big|long)|context.{0,10}length|maximum.{0,40}(size|pixels|tokens)", re.IGNORECASE
)
LATER = (408, 409, 425, 500, 502, 504)
TRIES, BUSY_TRIES = 5, 20
SHOWN = 200
CHECK = (
    "Check the address, the model and the server. Then run the same command again: kept answers cost nothing."
)


@dataclass(frozen=True)
class Reply:
    """An answer, or why there is none.

    `tries` is how often the pair is tried while it fails like this; `busy`: all calls wait first; `wait` is how many
    seconds the endpoint asks for. `fatal`: no call can succeed. `detail` is the endpoint's own text, for the error
    message only.
    """

    failure: str = ""
    answer: JudgeAnswer | None = None
    tries: int = 1
    busy: bool = False
    wait: float = 0.0
    fatal: bool = False
    too_large: bool = False
    detail: str = ""
    fix: str = CHECK
    tokens_in: int = 0
    tokens_out: int = 0
    version: str = ""


def reply_of(status: int, headers: Mapping[str, str], text: str, endpoint: Endpoint) -> Reply:
    """What a response means. `text` is without the key."""
    if status == 200:
        return _answered(text)
    if 300 <= status < 400:
        there = urlsplit(headers.get("location", "")).hostname or "another address"
        fix = "Give the final address as --endpoint."
        return Reply(f"it redirects to {there}, and redirects are not followed", fatal=True, fix=fix)
    if status in (401, 403):  # without its text, which often repeats a part of the key
        failure = "the key is refused" if endpoint.key else "it wants a key"
        fix = f"Set the environment variable {KEY} to a valid key. Kept answers are not lost."
        return Reply(f"{failure} (status {status})", fatal=True, fix=fix)
    detail = _message(text)
    if status == 413 or (status in (400, 422) and TOO_LARGE.search(detail)):
        return Reply("the photos are too large, also as smaller copies", too_large=True, detail=detail)
    busy = status in (429, 503, 529)
    return Reply(
        f"status {status}",
        tries=BUSY_TRIES if busy else TRIES if status in LATER else 1,
        busy=busy,
        wait=_wait(headers.get("retry-after", "")),
        fatal=status in (402, 404, 405) or "insufficient_quota" in text,
        detail=detail,
    )


def _answered(text: str) -> Reply:
    found = _json(text)
    usage = found.get("usage")
    spent = [_whole(usage, name) for name in ("prompt_tokens", "completion_tokens")]
    names = [found.get("model"), found.get("system_fingerprint")]
    version = " ".join(name[:SHOWN] for name in names if isinstance(name, str))
    try:
        answer = read_answer(found["choices"][0]["message"]["content"])
    except (KeyError, IndexError, TypeError):
        answer = None
    failure = "" if answer else "the answer is not the JSON that was asked for"
    return Reply(failure, answer, tries=2, tokens_in=spent[0], tokens_out=spent[1], version=version)


def _message(text: str) -> str:
    """The endpoint's own words about an error, on one line."""
    error = _json(text).get("error", text)
    words = error.get("message", text) if isinstance(error, dict) else error
    return " ".join(str(words).split())[:SHOWN].rstrip(".")


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _whole(usage: object, name: str) -> int:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and value >= 0 else 0


def _wait(text: str) -> float:
    """The seconds of Retry-After, which is a number or a date; 0 for anything else.

    >>> _wait("2.5"), _wait("Wed, 21 Oct 2015 07:28:00 GMT"), _wait("soon")
    (2.5, 0.0, 0.0)
    """
    try:
        return max(float(text), 0.0)
    except ValueError:
        pass
    try:
        return max((parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return 0.0
