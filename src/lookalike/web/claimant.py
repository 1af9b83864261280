"""Who answers, for routes that are called a hundred times a second: checked in the transaction that takes the answer.

The cookie's signature and the CSRF header, or the shape of a token, are looked at before; whether the account still
stands is asked of the same connection, so it costs no second one and nobody answers after their removal.
"""

import hmac
from collections.abc import Callable

from sqlalchemy import Connection
from starlette.requests import Request

from lookalike.core.errors import AccessError
from lookalike.store.access import TOKEN, token_owner
from lookalike.store.people import Person, of_session
from lookalike.web.deps import HEADER, SAFE
from lookalike.web.failures import SIGNED_OUT
from lookalike.web.sessions import read
from lookalike.web.site import site_of

Who = Callable[[Connection], Person]


def claimant(request: Request) -> Who:
    """What finds out, in a transaction, who asks; AccessError for nobody. The check of forms is done here."""
    given = request.headers.get("authorization", "")
    if given:
        return _by_token(given)
    site = site_of(request)
    session = read(request, site.key, https=site.options.https, now=site.now())
    if session is None or session.annotator is None:
        raise _signed_out()
    request.state.session = session
    sent = request.headers.get(HEADER, "").encode("utf-8", "replace")
    if request.method not in SAFE and not hmac.compare_digest(sent, session.csrf(site.key).encode()):
        raise AccessError(
            "This page has expired, or the request was not sent from a page of yours.",
            fix="Reload the page; nothing you answered is lost.",
            code="csrf",
        )
    number, epoch = session.annotator, session.epoch

    def find(connection: Connection) -> Person:
        found = of_session(connection, number, epoch)
        if found is None:
            raise _signed_out()
        return found

    return find


def _by_token(given: str) -> Who:
    scheme, _, token = given.partition(" ")
    token = token.strip()

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
