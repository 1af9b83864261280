"""Errors as pages for people and as JSON for programs, each with its status code."""

import logging
from collections.abc import Mapping

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import TimeoutError as NoConnectionError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from lookalike.core.errors import AccessError, LookalikeError, WorkspaceError
from lookalike.web.access.identity import identity_of
from lookalike.web.pages.render import page
from lookalike.web.pages.status import SIGNED_OUT, headers_of, status_of
from lookalike.web.site import site_of

HTTP_WORDS = {
    400: ("The server cannot read this request.", "Go back, reload the page and try again."),
    404: ("This page does not exist.", "Check the address, or go to the start page."),
    405: ("This address does not support this method.", "Go back and use the buttons of the page."),
    413: ("The request is too large.", "Send less data at once."),
}
log = logging.getLogger("lookalike.web")


def handle_failures(app: FastAPI) -> None:
    """Register the handlers of all errors that a request may end with."""
    app.add_exception_handler(LookalikeError, _refused)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _unfit)
    app.add_exception_handler(NoConnectionError, _crowded)


def wants_json(request: Request) -> bool:
    """Whether the request comes from a program."""
    accepted = request.headers.get("accept", "")
    return request.url.path.startswith("/api/") or (
        "application/json" in accepted and "text/html" not in accepted
    )


def is_navigation(request: Request) -> bool:
    """Whether the answer becomes the page of a browser, and not a photo or data of a page that is already open."""
    return request.method in ("GET", "HEAD") and "text/html" in request.headers.get("accept", "")


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
    """The answer that describes an error."""
    if wants_json(request):
        error = {"kind": kind, "code": code, "problem": problem, "fix": fix}
        return JSONResponse({"error": error}, status, dict(headers or {}))
    shown = {"problem": problem, "fix": fix, "detail": detail, "number": status}
    return page(request, "problem.html.j2", status=status, headers=headers, **shown)


def refusal(request: Request, error: LookalikeError) -> Response:
    """The answer to an error of ours."""
    if isinstance(error, WorkspaceError):
        return _unavailable(request, error)
    code = error.code
    if code == SIGNED_OUT and is_navigation(request) and not wants_json(request):
        return RedirectResponse(f"/login?{_next(request)}", 303)
    kind = "AccessError" if isinstance(error, AccessError) else type(error).__name__
    headers = headers_of(error)
    return answer(request, status_of(error), error.problem, error.fix, kind=kind, code=code, headers=headers)


def unknown_host(request: Request) -> Response:
    """The answer to a request with a host name that the app was not started for; it does not repeat the name."""
    return answer(
        request, 400, "This server does not accept this host name.",
        "Open the address that the server printed, or start the server with --allow-host NAME.",
        kind="AccessError", code="host",
    )  # fmt: skip


def too_large(request: Request, most: int) -> Response:
    """The answer to a body over the limit. It ends the connection, because the rest of the body is not read."""
    return answer(
        request, 413, f"The request is larger than {most:,} bytes.", "Send less data at once.",
        kind="ArgumentError", code="too-large", headers={"Connection": "close"},
    )  # fmt: skip


def unfit_text(request: Request, problem: str) -> Response:
    """The answer to a text that cannot be kept."""
    fix = "Go back, correct the text and send it again."
    return answer(request, 400, problem, fix, kind="ArgumentError", code="text")


def unexpected(request: Request) -> Response:
    """The answer to an unexpected error."""
    return answer(
        request, 500, "An unexpected error occurred on the server.",
        "No saved data is lost. Try again. If the error stays, tell a lead: the log of the server has the details.",
        kind="UnexpectedError", code="unexpected",
    )  # fmt: skip


def _unavailable(request: Request, error: WorkspaceError) -> Response:
    log.error("%s %s: %s", request.method, request.url.path, error.problem)
    return answer(
        request, 503, "The database is not available, so this change is not saved. Earlier changes are safe.",
        "Try again in a moment. If the error stays, tell a lead.",
        kind=type(error).__name__, code="unavailable", headers=headers_of(error), detail=error.problem,
    )  # fmt: skip


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, LookalikeError)  # noqa: S101 - registered for these
    return refusal(request, error)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for these
    problem, fix = HTTP_WORDS.get(
        error.status_code, ("The server cannot answer this request.", "Go back and try again.")
    )
    if not wants_json(request):
        await run_in_threadpool(_recognize, request)
    return answer(
        request, error.status_code, problem, fix, kind="HTTPError", code=str(error.status_code),
        headers=error.headers,
    )  # fmt: skip


def _recognize(request: Request) -> None:
    """Identify the reader where no route does, so that the error page has their navigation."""
    try:
        request.state.person = site_of(request).database.fetch(identity_of(request).found)
    except (LookalikeError, NoConnectionError):
        return  # nobody is, or the database is not available: the page is shown without navigation


async def _unfit(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for these
    fields = sorted({str(one["loc"][-1]) for one in error.errors() if one["loc"]})
    return answer(
        request, 422, f"Invalid value for: {', '.join(fields)[:200] or 'the body'}.",
        "Go back, correct these values and send them again.", kind="ArgumentError", code="unfit",
    )  # fmt: skip


async def _crowded(request: Request, error: Exception) -> Response:
    return _unavailable(request, WorkspaceError(f"All database connections are in use: {error}", fix="Wait."))


def _next(request: Request) -> str:
    from urllib.parse import urlencode

    query = f"?{request.url.query}" if request.url.query else ""
    return urlencode({"next": request.url.path + query})
