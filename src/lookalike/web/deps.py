"""What routes ask for: who it is, that they lead, that the form is their own.

A router says once who may use its routes: `APIRouter(dependencies=SIGNED_IN)` or `dependencies=LEADS`.
Both check the CSRF token of everything that is not a GET.
"""

import hmac
from typing import Annotated

from fastapi import Depends, Path
from starlette.requests import Request

from lookalike.core.errors import AccessError
from lookalike.store.access import TOKEN, token_owner
from lookalike.store.people import Person, of_session
from lookalike.web.failures import SIGNED_OUT
from lookalike.web.sessions import Session, begin, keep, read
from lookalike.web.site import Site, site_of

SAFE = ("GET", "HEAD", "OPTIONS")
BY_TOKEN = ("/api/", "/images/")  # where a program's token is let in
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
HEADER, FIELD = "x-csrf-token", "csrf"


def visitor(request: Request) -> Session:
    """The session of whoever it is; one begins here, so that the form of the login page is their own too."""
    site = site_of(request)
    found = read(request, site.key, https=site.options.https, now=site.now())
    if found is None:
        found = begin(None, 0, site.now())
        keep(request, found, site.key)
    request.state.session = found
    return found


def person(request: Request) -> Person:
    """Who asks, by their cookie, or by a token where programs ask."""
    site = site_of(request)
    if request.headers.get("authorization") and request.url.path.startswith(BY_TOKEN):
        found = _by_token(request, site)
    else:
        found = _by_cookie(request, site)
    request.state.person = found
    return found


def lead(found: Annotated[Person, Depends(person)]) -> Person:
    """Who asks, and that they lead."""
    if not found.is_lead:
        raise AccessError("This is for leads only.", fix="Ask a lead to do it.", code="lead-only")
    return found


async def own_form(request: Request) -> None:
    """That what is sent comes from a page of this session: every form carries its token."""
    if request.method in SAFE or getattr(request.state, "by_token", False):
        return
    session: Session = request.state.session
    given = request.headers.get(HEADER) or await _field(request)
    if not hmac.compare_digest(given.encode("utf-8", "replace"), session.csrf(site_of(request).key).encode()):
        raise AccessError(
            "This form has expired, or was not sent from a page of yours.",
            fix="Reload the page and send it again.",
            code="csrf",
        )


SIGNED_IN = [Depends(person), Depends(own_form)]
LEADS = [Depends(lead), Depends(own_form)]
ANYBODY = [Depends(visitor), Depends(own_form)]

Number = Annotated[int, Path(ge=0, le=2**63 - 1)]
"""A number in an address that is asked for in the database."""

SitePart = Annotated[Site, Depends(site_of)]
PersonPart = Annotated[Person, Depends(person)]
SessionPart = Annotated[Session, Depends(visitor)]


def address_of(request: Request) -> str:
    """Where a request comes from, for the audit log and for throttling."""
    return request.client.host if request.client else ""


async def _field(request: Request) -> str:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() not in FORMS:
        return ""
    found = (await request.form()).get(FIELD, "")
    return found if isinstance(found, str) else ""


def _by_cookie(request: Request, site: Site) -> Person:
    session = read(request, site.key, https=site.options.https, now=site.now())
    found = None
    if session is not None and session.annotator is not None:
        with site.database.read() as connection:
            found = of_session(connection, session.annotator, session.epoch)
    if session is None or found is None:
        raise AccessError("You are not logged in.", fix="Log in at /login.", code=SIGNED_OUT)
    request.state.session = session
    return found


def _by_token(request: Request, site: Site) -> Person:
    scheme, _, token = request.headers["authorization"].partition(" ")
    found = None
    if scheme.lower() == "bearer" and token.strip().startswith(TOKEN):
        with site.database.read() as connection:
            found = token_owner(connection, token.strip())
    if found is None:
        raise AccessError(
            "This token does not work.", fix="Make one on your account page, and send it as: "
            "Authorization: Bearer TOKEN", code="token",
        )  # fmt: skip
    request.state.by_token = True
    return found
