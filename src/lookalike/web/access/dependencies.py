"""Dependencies of routes: the sender of the request, that they are a lead, that the form comes from their own page.

A router declares once who can use its routes: `APIRouter(dependencies=SIGNED_IN)` or `dependencies=LEADS`.
Both check the CSRF token of every request that is not a GET.
"""

from typing import Annotated

from fastapi import Depends, Form, Path, Query
from starlette.requests import Request

from lookalike.core.errors import AccessError
from lookalike.store.people.people import Person
from lookalike.web.access.identity import CSRF_HEADER, SAFE, by_token, check_csrf, identity_of
from lookalike.web.access.sessions import Session, begin, keep, read
from lookalike.web.actions import Actor
from lookalike.web.site import Site, site_of

FORM = "application/x-www-form-urlencoded"
CSRF_FIELD = "csrf"
LARGEST = 2**63 - 1


def visitor(request: Request) -> Session:
    """The session of a visitor. A new one begins here, so that the login form has a CSRF token too."""
    site = site_of(request)
    found = read(request, site.key, https=site.options.https, now=site.now())
    if found is None:
        found = begin(None, site.now())
        keep(request, found, site.key)
    request.state.session = found
    return found


def person(request: Request) -> Person:
    """The sender of the request, known by the cookie of a browser or the token of a program."""
    found = site_of(request).database.fetch(identity_of(request).found)
    request.state.person = found
    return found


def lead(request: Request, found: Annotated[Person, Depends(person)]) -> Person:
    """The sender of the request, who must be a lead."""
    if not found.is_lead:
        fix = 'Use a token of a lead with the scope "lead".' if by_token(request) else "Ask a lead."
        raise AccessError("Only leads can do this.", fix=fix, code="lead-only")
    return found


async def own_form(request: Request) -> None:
    """Check that the request comes from a page of this session: every form carries its token."""
    if request.method not in SAFE and not by_token(request):
        check_csrf(request, request.headers.get(CSRF_HEADER) or await _field(request))


SIGNED_IN = [Depends(person), Depends(own_form)]
LEADS = [Depends(lead), Depends(own_form)]
ANYBODY = [Depends(visitor), Depends(own_form)]

Word = Annotated[str, Form()]
"""A text field of a form."""

Number = Annotated[int, Path(ge=0, le=LARGEST)]
"""A number in an address, not larger than a database can hold."""

After = Annotated[int, Query(ge=0, le=LARGEST)]
"""The number after which a page of a list begins."""


def actor(request: Request, person: Annotated[Person, Depends(person)]) -> Actor:
    """The sender of the request, with the time and the network address of the request."""
    return Actor(person, site_of(request).now(), address_of(request))


SitePart = Annotated[Site, Depends(site_of)]
PersonPart = Annotated[Person, Depends(person)]
ActorPart = Annotated[Actor, Depends(actor)]
SessionPart = Annotated[Session, Depends(visitor)]


def address_of(request: Request) -> str:
    """The network address of a request, for the audit log and for throttling."""
    return request.client.host if request.client else ""


async def _field(request: Request) -> str:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        return ""
    found = (await request.form()).get(CSRF_FIELD, "")
    return found if isinstance(found, str) else ""
