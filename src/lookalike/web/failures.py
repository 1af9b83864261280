"""What went wrong, as a page for people and as JSON for programs, with the status that says whose turn it is."""

import logging
from collections.abc import Mapping

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from lookalike.core.errors import AccessError, LookalikeError, VoteError, WorkspaceError
from lookalike.web.render import page
from lookalike.web.throttle import ThrottledError

SIGNED_OUT = "signed-out"
STATUS = {
    SIGNED_OUT: 401,
    "password": 401,
    "token": 401,
    "name-taken": 409,
    "last-lead": 409,
    "removed-person": 409,
    "throttled": 429,
    "link-ended": 404,
    "unknown-person": 404,
    "unknown-token": 404,
    "unknown-image": 404,
    "photo-missing": 404,
    "unknown": 404,
}
BUSY_SECONDS = "10"
HTTP_WORDS = {
    400: ("The request could not be read.", "Go back, reload the page and try again."),
    404: ("There is no such page.", "Check the address, or go to the start."),
    405: ("This address does not do that.", "Go back and use the page's own buttons."),
    413: ("This is too large.", "Send less at once."),
}
log = logging.getLogger("lookalike.web")


def handle_failures(app: FastAPI) -> None:
    """Register the handlers of all errors that a request may end with."""
    app.add_exception_handler(LookalikeError, _refused)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _unfit)
    app.add_exception_handler(NoConnectionError, _crowded)


def status_of(error: LookalikeError) -> int:
    """The status code of an error.

    >>> status_of(LookalikeError("This is wrong.", fix="Do that."))
    400
    """
    if isinstance(error, WorkspaceError):
        return 503
    code = getattr(error, "code", "")
    if code in STATUS:
        return STATUS[code]
    return {AccessError: 403, VoteError: 409}.get(type(error), 400)


def headers_of(error: LookalikeError) -> dict[str, str]:
    """Headers that belong to an error's answer."""
    if isinstance(error, ThrottledError):
        return {"Retry-After": str(error.seconds)}
    if isinstance(error, WorkspaceError):
        return {"Retry-After": BUSY_SECONDS}
    return {"WWW-Authenticate": "Bearer"} if status_of(error) == 401 else {}


def wants_json(request: Request) -> bool:
    """Whether a program asks."""
    accepted = request.headers.get("accept", "")
    return request.url.path.startswith("/api/") or (
        "application/json" in accepted and "text/html" not in accepted
    )


def answer(
    request: Request,
    status: int,
    problem: str,
    fix: str,
    *,
    kind: str,
    code: str = "",
    detail: str = "",
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The answer that tells what went wrong."""
    if wants_json(request):
        error = {"kind": kind, "code": code, "problem": problem, "fix": fix}
        return JSONResponse({"error": error}, status, dict(headers or {}))
    shown = {"problem": problem, "fix": fix, "detail": detail, "number": status}
    return page(request, "problem.html.j2", status=status, headers=headers, **shown)


def refusal(request: Request, error: LookalikeError) -> Response:
    """The answer to an error of ours."""
    if isinstance(error, WorkspaceError):
        return _unavailable(request, error)
    code = str(getattr(error, "code", ""))
    if code == SIGNED_OUT and request.method in ("GET", "HEAD") and not wants_json(request):
        return RedirectResponse(f"/login?{_next(request)}", 303)
    kind = "AccessError" if isinstance(error, AccessError) else type(error).__name__
    headers = headers_of(error)
    return answer(request, status_of(error), error.problem, error.fix, kind=kind, code=code, headers=headers)


def unknown_host(request: Request) -> Response:
    """The answer to a request in a host's name that the app was not started for; the name is not repeated."""
    return answer(
        request, 400, "This server does not go by that name.",
        "Open it by the address it printed at its start, or start it with --allow-host NAME.",
        kind="AccessError", code="host",
    )  # fmt: skip


def too_large(request: Request, most: int) -> Response:
    """The answer to a body over the limit; the connection ends, for the rest of the body is not read."""
    return answer(
        request, 413, f"What was sent is larger than {most:,} bytes.", "Send less at once.",
        kind="ArgumentError", code="too-large", headers={"Connection": "close"},
    )  # fmt: skip


def unexpected(request: Request) -> Response:
    """The answer to an error nobody foresaw."""
    return answer(
        request, 500, "Something went wrong in the server.",
        "Nothing that was saved is lost. Try again; if it stays so, tell a lead: the server's log says what it was.",
        kind="UnexpectedError", code="unexpected",
    )  # fmt: skip


def _unavailable(request: Request, error: WorkspaceError) -> Response:
    log.error("%s %s: %s", request.method, request.url.path, error.problem)
    return answer(
        request, 503, "The database cannot be used at the moment. What was saved before is safe; this was not saved.",
        "Send it again in a moment. If it stays so, tell a lead.",
        kind=type(error).__name__, code="unavailable", headers=headers_of(error), detail=error.problem,
    )  # fmt: skip


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, LookalikeError)  # noqa: S101 - registered for these
    return refusal(request, error)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for these
    problem, fix = HTTP_WORDS.get(error.status_code, ("This cannot be answered.", "Go back and try again."))
    return answer(
        request, error.status_code, problem, fix, kind="HTTPError", code=str(error.status_code),
        headers=error.headers,
    )  # fmt: skip


async def _unfit(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for these
    fields = sorted({str(one["loc"][-1]) for one in error.errors() if one["loc"]})
    return answer(
        request, 422, f"What was sent does not fit: {', '.join(fields)[:200] or 'the body'}.",
        "Go back, check these fields and send it again.", kind="ArgumentError", code="unfit",
    )  # fmt: skip


async def _crowded(request: Request, error: Exception) -> Response:
    return _unavailable(request, WorkspaceError(f"No connection came free: {error}", fix="Wait."))


def _next(request: Request) -> str:
    from urllib.parse import urlencode

    query = f"?{request.url.query}" if request.url.query else ""
    return urlencode({"next": request.url.path + query})
