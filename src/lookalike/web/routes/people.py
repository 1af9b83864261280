"""For leads: the people of the team, links that let people join, roles, removal, the audit log."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.store.people import access, people
from lookalike.web import actions
from lookalike.web.access.dependencies import LARGEST, LEADS, ActorPart, Number, SitePart, Word
from lookalike.web.pages.render import page
from lookalike.web.site import Site

router = APIRouter(prefix="/team", dependencies=LEADS, include_in_schema=False)
PEOPLE = "/team/people"
LINES = 100
Before = Annotated[int | None, Query(ge=0, le=LARGEST)]


@router.get("/people")
def people_page(request: Request, site: SitePart) -> Response:
    """The people of the team, and what leads can change."""
    return _people(request, site)


@router.post("/people/invite")
async def invite(request: Request, site: SitePart, by: ActorPart, role: Word = people.ANNOTATOR) -> Response:
    """Create a link that lets one person join. Only the page that this answers with shows it."""
    secret = access.new_secret()
    whose = await site.write(lambda connection: actions.invite(connection, by, role, secret))
    return await run_in_threadpool(_people, request, site, link(request, site, secret), whose)


@router.post("/people/{number}/reset")
async def reset(request: Request, site: SitePart, by: ActorPart, number: Number) -> Response:
    """Create a link with which a person sets a new password. Only the page that this answers with shows it."""
    secret = access.new_secret()
    whose = await site.write(lambda connection: actions.reset_password(connection, by, number, secret))
    return await run_in_threadpool(_people, request, site, link(request, site, secret), whose)


@router.post("/people/{number}/role")
async def change_role(site: SitePart, by: ActorPart, number: Number, role: Word) -> Response:
    """Change a person's role."""
    await site.write(lambda connection: actions.change_role(connection, by, number, role))
    return RedirectResponse(PEOPLE, 303)


@router.get("/people/{number}/role")
def ask_to_change_role(request: Request, site: SitePart, number: Number) -> Response:
    """Ask for confirmation."""
    whose = site.database.fetch(lambda connection: people.require_present(connection, number))
    return page(request, "team/role.html.j2", whose=whose)


@router.get("/people/{number}/remove")
def ask_to_remove(request: Request, site: SitePart, number: Number) -> Response:
    """Ask for confirmation."""
    whose = site.database.fetch(lambda connection: people.person(connection, number))
    return page(request, "account/remove.html.j2", whose=whose)


@router.post("/people/{number}/remove")
async def remove(site: SitePart, by: ActorPart, number: Number) -> Response:
    """Remove a person from the team."""
    await site.write(lambda connection: actions.remove_person(connection, by, number))
    return RedirectResponse(PEOPLE, 303)


@router.get("/audit")
def audit_page(request: Request, site: SitePart, before: Before = None) -> Response:
    """Who changed what, the newest first."""
    lines = site.database.fetch(
        lambda connection: access.audit_log(connection, before=before, most=LINES + 1)
    )
    older = lines[LINES - 1].id if len(lines) > LINES else None
    return page(request, "account/audit.html.j2", lines=lines[:LINES], older=older)


def link(request: Request, site: Site, secret: str) -> str:
    """The full address of a link, with the host by which the lead's own browser reaches this server."""
    scheme = "https" if site.options.https else "http"
    return f"{scheme}://{request.headers['host']}/invite/{secret}"


def _people(request: Request, site: Site, link: str = "", whose: str = "") -> Response:
    team = site.database.fetch(people.everyone)
    here = [one for one in team if one.removed is None]
    gone = [one for one in team if one.removed is not None]
    return page(request, "account/people.html.j2", here=here, gone=gone, link=link, whose=whose)
