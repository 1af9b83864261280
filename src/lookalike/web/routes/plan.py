"""The plan, for leads: hours left, what another vote or more labels would buy, which pairs to ask first."""

import multiprocessing
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.core.errors import ArgumentError
from lookalike.recipes.ahead import MOST_ENCODERS, ahead, ask_for
from lookalike.recipes.plan import plan
from lookalike.store.access import record
from lookalike.store.campaigns import read_campaign
from lookalike.web.deps import LEADS, PersonPart, SitePart, address_of
from lookalike.web.render import page
from lookalike.web.site import Site

router = APIRouter(prefix="/plan", dependencies=LEADS, include_in_schema=False)
AGAIN = (
    "3; url=/plan?look={}#more-labels"  # a new address: one that differs in nothing would not be loaded again
)


@dataclass
class Work:
    """What is being worked out in a process of its own, or was last."""

    encoders: tuple[str, ...]
    begun: int
    future: "Future[dict[str, Any]]"

    @property
    def found(self) -> dict[str, Any] | None:
        """The result, None while it is worked out."""
        if not self.future.done():
            return None
        if self.future.exception() is not None:
            return {
                "problem": "The work was stopped before its end.",
                "fix": "Start it again.",
                "encoders": [],
            }
        return self.future.result()


@router.get("")
def plan_page(request: Request, site: SitePart, asked: bool = False) -> Response:
    """Hours left, errors to expect, and what was last worked out of more labels."""
    with site.database.read() as connection:
        campaign = read_campaign(connection)
    work: Work | None = site.work
    return page(
        request,
        "plan.html.j2",
        headers={"Refresh": AGAIN.format(site.now())} if work is not None and work.found is None else {},
        found=plan(site.database, campaign, site.now()),
        campaign=campaign,
        encoders=site.workspace.encoders,
        most=MOST_ENCODERS,
        asked=asked,
        work=work,
        ahead=None if work is None else work.found,
    )


@router.post("/ahead")
def begin(request: Request, site: SitePart, encoder: Annotated[list[str] | None, Form()] = None) -> Response:
    """Begin to work out what more labels would buy; one such work at a time."""
    chosen = tuple(dict.fromkeys(encoder or ()))
    unknown = [name for name in chosen if name not in site.workspace.encoders]
    if unknown or not 1 <= len(chosen) <= MOST_ENCODERS:
        raise ArgumentError(
            f"There is no encoder {unknown[0]!r} here." if unknown else f"{len(chosen)} encoders are chosen.",
            fix=f"Choose one to {MOST_ENCODERS} of those on the page.",
        )
    if site.work is None or site.work.future.done():
        site.work = Work(chosen, site.now(), _beside(site).submit(ahead, site.workspace.folder, chosen))
    return RedirectResponse("/plan#more-labels", 303)


@router.post("/first")
async def ask_first(request: Request, site: SitePart, person: PersonPart) -> Response:
    """Put the pairs that would tell the chosen encoders apart in front of the queue."""
    found = None if site.work is None else site.work.found
    settling = None if found is None else found.get("settling")
    if not settling or not settling["pairs"]:
        raise ArgumentError("There are no such pairs at hand.", fix="Work them out first, on the plan page.")
    new = await run_in_threadpool(ask_for, site.workspace.folder, settling["pairs"])
    now, address = site.now(), address_of(request)

    def note(connection: Connection) -> None:
        record(
            connection, now, person.id, "asked first", f"{len(settling['pairs'])} pairs, {new} new", address
        )

    await site.write(note)
    return RedirectResponse("/plan?asked=1#more-labels", 303)


def _beside(site: Site) -> ProcessPoolExecutor:
    """The one process for such work: it must not hold up votes."""
    if site.beside is None:
        site.beside = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
    return site.beside
