"""What routes ask for: who it is, that they lead, that the form is their own.

A router says once who may use its routes: `APIRouter(dependencies=SIGNED_IN)` or `dependencies=LEADS`.
Both check the CSRF token of everything that is not a GET.
"""

from typing import Annotated

from fastapi import Depends, Path
from starlette.requests import Request

from lookalike.core.errors import AccessError
from lookalike.store.people import Person
from lookalike.web.claimant import CSRF_HEADER, SAFE, by_token, check_csrf, claimant
from lookalike.web.sessions import Session, begin, keep, read
from lookalike.web.site import Site, site_of

FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
CSRF_FIELD = "csrf"


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
    who = claimant(request)
    with site_of(request).database.read() as connection:
        found = who.found(connection)
    request.state.person = found
    return found


def lead(found: Annotated[Person, Depends(person)]) -> Person:
    """Who asks, and that they lead."""
    if not found.is_lead:
        raise AccessError("This is for leads only.", fix="Ask a lead to do it.", code="lead-only")
    return found


async def own_form(request: Request) -> None:
    """That what is sent comes from a page of this session: every form carries its token."""
    if request.method not in SAFE and not by_token(request):
        check_csrf(request, request.headers.get(CSRF_HEADER) or await _field(request))


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
    found = (await request.form()).get(CSRF_FIELD, "")
    return found if isinstance(found, str) else ""
