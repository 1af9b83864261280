"""The limits on requests of programs, checked before a token is looked up."""

from typing import Annotated

from fastapi import Depends, Security
from fastapi.security import HTTPBearer
from starlette.requests import Request

from lookalike.store.people.access import digest
from lookalike.web.access.dependencies import LEADS, SIGNED_IN, address_of
from lookalike.web.access.throttle import network
from lookalike.web.serving.service import Service
from lookalike.web.site import site_of


def service_of(request: Request) -> Service:
    """Search for programs."""
    return site_of(request).service


def spend(request: Request, cost: int = 1) -> None:
    """Count a request for its token or session, and for its address. Raises LaterError if these send too many."""
    site = site_of(request)
    service, now = site.service, site.now()
    service.addresses.spend(network(address_of(request)), cost, now)
    sent = request.headers.get("authorization") or request.headers.get("cookie", "")
    service.tokens.spend(digest(sent), cost, now)


async def within_rate(request: Request) -> None:
    """Count a request."""
    spend(request)


BEARER = Security(HTTPBearer(auto_error=False, description="A token of your account page."))
PROGRAMS = [Depends(within_rate), BEARER, *SIGNED_IN]
CATALOG_PROGRAMS = [Depends(within_rate), BEARER, *LEADS]
ServicePart = Annotated[Service, Depends(service_of)]
