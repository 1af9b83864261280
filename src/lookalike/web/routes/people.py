"""For leads: who is in the team, links that let people in, roles, removal, the audit log."""

from typing import Annotated

from fastapi import APIRouter, Form, Query
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.store import access, invites, leaving, people
from lookalike.web.deps import LEADS, Number, PersonPart, SitePart, address_of
from lookalike.web.render import page
from lookalike.web.site import Site

router = APIRouter(prefix="/team", dependencies=LEADS, include_in_schema=False)
PEOPLE = "/team/people"
LINES = 100
Word = Annotated[str, Form()]
Before = Annotated[int | None, Query(ge=0, le=2**63 - 1)]


@router.get("/people")
def people_page(request: Request, site: SitePart) -> Response:
    """Everybody who may label, and what can be done about it."""
    return _people(request, site)


@router.post("/people/invite")
async def invite(request: Request, site: SitePart, by: PersonPart, role: Word = people.ANNOTATOR) -> Response:
    """Make a link that lets one person in; it is shown once, on the page this answers with."""
    now, address, secret = site.now(), address_of(request), access.new_secret()

    def make(connection: Connection) -> None:
        invites.invite(connection, role, secret, now, by=by.id)
        access.record(connection, now, by.id, "invite", role, address)

    await site.write(make)
    shown = link(request, site, secret)
    return await run_in_threadpool(_people, request, site, shown, f"a new {role}")


@router.post("/people/{number}/reset")
async def reset(request: Request, site: SitePart, by: PersonPart, number: Number) -> Response:
    """Make a link by which a person sets a new password; shown once."""
    now, address, secret = site.now(), address_of(request), access.new_secret()

    def make(connection: Connection) -> str:
        invites.reset(connection, number, secret, now, by=by.id)
        name = people.person(connection, number).name
        access.record(connection, now, by.id, "password link", name, address)
        return name

    whose = await site.write(make)
    return await run_in_threadpool(_people, request, site, link(request, site, secret), whose)


@router.post("/people/{number}/role")
async def change_role(
    request: Request, site: SitePart, by: PersonPart, number: Number, role: Word
) -> Response:
    """Change a person's role."""
    now, address = site.now(), address_of(request)

    def change(connection: Connection) -> None:
        people.set_role(connection, number, role)
        name = people.person(connection, number).name
        access.record(connection, now, by.id, f"role {role}", name, address)

    await site.write(change)
    return RedirectResponse(PEOPLE, 303)


@router.get("/people/{number}/remove")
def ask_to_remove(request: Request, site: SitePart, number: Number) -> Response:
    """Whether that is meant."""
    with site.database.read() as connection:
        whose = people.person(connection, number)
    return page(request, "remove.html.j2", whose=whose)


@router.post("/people/{number}/remove")
async def remove(request: Request, site: SitePart, by: PersonPart, number: Number) -> Response:
    """Shut a person out."""
    now, address = site.now(), address_of(request)

    def do(connection: Connection) -> None:
        leaving.remove(connection, number, now)
        access.record(connection, now, by.id, "removed", people.person(connection, number).name, address)

    await site.write(do)
    return RedirectResponse(PEOPLE, 303)


@router.get("/audit")
def audit_page(request: Request, site: SitePart, before: Before = None) -> Response:
    """Who did what about accounts, the newest first."""
    with site.database.read() as connection:
        lines = access.audit_log(connection, before=before, most=LINES + 1)
    older = lines[LINES - 1].id if len(lines) > LINES else None
    return page(request, "audit.html.j2", lines=lines[:LINES], older=older)


def link(request: Request, site: Site, secret: str) -> str:
    """The whole address of a link, as the lead's own browser reaches this server."""
    scheme = "https" if site.options.https else "http"
    return f"{scheme}://{request.headers['host']}/invite/{secret}"


def _people(request: Request, site: Site, link: str = "", whose: str = "") -> Response:
    with site.database.read() as connection:
        team = people.everyone(connection)
    here = [one for one in team if one.removed is None]
    gone = [one for one in team if one.removed is not None]
    return page(request, "people.html.j2", here=here, gone=gone, link=link, whose=whose)
