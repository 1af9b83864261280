"""Who asks: by the cookie of their browser, or by a program's token. The one place where either is believed.

The cookie's signature and the token's shape are looked at before a connection is there; whether the account still
stands is asked of the connection that the answer is written with, so nobody answers after their removal.
"""

import hmac
from dataclasses import dataclass

from sqlalchemy import Connection
from starlette.requests import Request

from lookalike.core.errors import AccessError
from lookalike.store.access import TOKEN, token_owner
from lookalike.store.people import Person, of_session
from lookalike.store.unit_of_work import UnitOfWork
from lookalike.web.failures import SIGNED_OUT
from lookalike.web.sessions import Session, read
from lookalike.web.site import site_of

SAFE = ("GET", "HEAD", "OPTIONS")
BY_TOKEN = ("/api/", "/images/")  # where a program's token is let in
CSRF_HEADER = "x-csrf-token"


@dataclass(frozen=True)
class Claimant:
    """Who a request says it is from: an annotator's session of an epoch, or a program's token."""

    annotator: int = 0
    epoch: int = 0
    token: str = ""

    def found(self, connection: Connection) -> Person:
        """Who it is. Raises AccessError where the account or the token has ended, or never was."""
        if self.annotator:
            return self._known(of_session(connection, self.annotator, self.epoch))
        return self._known(token_owner(connection, self.token) if self.token.startswith(TOKEN) else None)

    def found_in(self, work: UnitOfWork) -> Person:
        """The same, by the rows of a unit of work."""
        if self.annotator:
            return self._known(work.of_session(self.annotator, self.epoch))
        return self._known(work.owner(self.token))

    def _known(self, person: Person | None) -> Person:
        if person is not None:
            return person
        if self.annotator:
            raise _signed_out()
        raise AccessError(
            "This token does not work.",
            fix="Make one on your account page, and send it as: Authorization: Bearer TOKEN",
            code="token",
        )


def claimant(request: Request) -> Claimant:
    """Who a request says it is from. Raises AccessError for nobody."""
    given = request.headers.get("authorization", "")
    if given and request.url.path.startswith(BY_TOKEN):
        request.state.by_token = True
        scheme, _, token = given.partition(" ")
        return Claimant(token=token.strip() if scheme.lower() == "bearer" else "")
    site = site_of(request)
    session = read(request, site.key, https=site.options.https, now=site.now())
    if session is None or session.annotator is None:
        raise _signed_out()
    request.state.session = session
    return Claimant(session.annotator, session.epoch)


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


def _signed_out() -> AccessError:
    return AccessError("You are not logged in.", fix="Log in at /login.", code=SIGNED_OUT)
