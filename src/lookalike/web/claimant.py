"""Who asks: by the cookie of their browser, or by a program's token. The one place where either is believed.

The cookie's signature and the token's shape are looked at before a connection is there; whether the account still
stands is asked of the connection that the answer is written with, so nobody answers after their removal.
"""

import hmac
from collections.abc import Callable

from sqlalchemy import Connection
from starlette.requests import Request

from lookalike.core.errors import AccessError
from lookalike.store.access import TOKEN, token_owner
from lookalike.store.people import Person, of_session
from lookalike.web.failures import SIGNED_OUT
from lookalike.web.sessions import Session, read
from lookalike.web.site import site_of

SAFE = ("GET", "HEAD", "OPTIONS")
BY_TOKEN = ("/api/", "/images/")  # where a program's token is let in
CSRF_HEADER = "x-csrf-token"
Who = Callable[[Connection], Person]


def claimant(request: Request) -> Who:
    """What finds out, by a connection, who asks. Raises AccessError for nobody, as what is returned does."""
    given = request.headers.get("authorization", "")
    if given and request.url.path.startswith(BY_TOKEN):
        return _by_token(request, given)
    site = site_of(request)
    session = read(request, site.key, https=site.options.https, now=site.now())
    if session is None or session.annotator is None:
        raise _signed_out()
    request.state.session = session
    number, epoch = session.annotator, session.epoch

    def find(connection: Connection) -> Person:
        found = of_session(connection, number, epoch)
        if found is None:
            raise _signed_out()
        return found

    return find


def by_token(request: Request) -> bool:
    """Whether a program asks by its token, as `claimant` or `person` has found: it sends no form of a page's."""
    return getattr(request.state, "by_token", False)


def check_csrf(request: Request, given: str) -> None:
    """That what is sent comes from a page of this session: it carries the session's token.

    Raises AccessError where it does not.
    """
    session: Session = request.state.session
    expected = session.csrf(site_of(request).key)
    if not hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode()):
        raise AccessError(
            "This page has expired, or what was sent does not come from a page of yours.",
            fix="Reload the page and send it again; nothing you answered is lost.",
            code="csrf",
        )


def _by_token(request: Request, given: str) -> Who:
    scheme, _, token = given.partition(" ")
    token = token.strip()
    request.state.by_token = True

    def find(connection: Connection) -> Person:
        good = scheme.lower() == "bearer" and token.startswith(TOKEN)
        found = token_owner(connection, token) if good else None
        if found is None:
            raise AccessError(
                "This token does not work.",
                fix="Make one on your account page, and send it as: Authorization: Bearer TOKEN",
                code="token",
            )
        return found

    return find


def _signed_out() -> AccessError:
    return AccessError("You are not logged in.", fix="Log in at /login.", code=SIGNED_OUT)
