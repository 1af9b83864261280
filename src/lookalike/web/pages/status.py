"""Status codes and headers of errors."""

from lookalike.core.errors import AccessError, LookalikeError, VoteError, WorkspaceError
from lookalike.web.access.throttle import LaterError

SIGNED_OUT = "signed-out"
STATUS = {
    SIGNED_OUT: 401,
    "password": 401,
    "token": 401,
    "name-taken": 409,
    "image-taken": 409,
    "last-lead": 409,
    "removed-person": 409,
    "throttled": 429,
    "rate": 429,
    "busy": 503,
    "not-ready": 503,
    "too-large": 413,
    "not-a-photo": 415,
    "photo-gone": 404,
    "link-ended": 404,
    "unknown-person": 404,
    "unknown-token": 404,
    "unknown-image": 404,
    "photo-missing": 404,
    "unknown": 404,
}
ENDED = ("removed", "link-ended")
BUSY_SECONDS = "10"


def status_of(error: LookalikeError) -> int:
    """The status code of an error.

    >>> status_of(LookalikeError("This is wrong.", fix="Do that."))
    400
    """
    if isinstance(error, WorkspaceError):
        return 503
    code = error.code
    if code in STATUS:
        return STATUS[code]
    return {AccessError: 403, VoteError: 409}.get(type(error), 400)


def must_be_raised(error: LookalikeError) -> bool:
    """Whether an error ends the request, rather than showing a form again: the database or the account is gone."""
    return isinstance(error, WorkspaceError) or error.code in ENDED


def headers_of(error: LookalikeError) -> dict[str, str]:
    """Headers that belong to an error's answer."""
    if isinstance(error, LaterError):
        return {"Retry-After": str(error.seconds)}
    if isinstance(error, WorkspaceError):
        return {"Retry-After": BUSY_SECONDS}
    if error.code == "too-large":  # the rest of the body is not read
        return {"Connection": "close"}
    return {"WWW-Authenticate": "Bearer"} if status_of(error) == 401 else {}
