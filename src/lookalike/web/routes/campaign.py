"""How the labelling is run, for leads: the settings, and the queue of pairs."""

from typing import Annotated

from fastapi import APIRouter, Form
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.core.errors import LookalikeError
from lookalike.recipes.queue import count_waiting, queue_pairs
from lookalike.store.access import record
from lookalike.store.campaigns import read_campaign, write_campaign
from lookalike.store.questions import count_questions
from lookalike.store.workspace import Workspace
from lookalike.web.deps import LEADS, PersonPart, address_of
from lookalike.web.failures import status_of
from lookalike.web.labelling import labelling_of
from lookalike.web.render import page
from lookalike.web.settings_form import SETTINGS, campaign_of, values_of

router = APIRouter(prefix="/plan", dependencies=LEADS, include_in_schema=False)
HERE = "/plan/campaign"
Word = Annotated[str, Form()]


@router.get("/campaign")
def campaign_page(request: Request, joined: str = "") -> Response:
    """The settings, and how many pairs wait to join the queue."""
    return _campaign(request, joined=joined[:20] if joined.isdecimal() else "")


@router.post("/campaign")
async def change_campaign(request: Request, by: PersonPart) -> Response:
    """Keep the settings."""
    labelling = labelling_of(request)
    sent = {name: str(value) for name, value in (await request.form()).items()}
    now, address = labelling.site.now(), address_of(request)
    try:
        new = campaign_of(sent)

        def write(connection: Connection) -> None:
            write_campaign(connection, new)
            record(connection, now, by.id, "settings", address=address)

        await labelling.site.write(write)
    except LookalikeError as failure:
        if status_of(failure) == 503:
            raise
        return await run_in_threadpool(_campaign, request, failure, sent)
    await labelling.refresh()
    return RedirectResponse(f"{HERE}?joined=", 303)


@router.post("/queue")
async def join_queue(request: Request) -> Response:
    """Put what was discovered and has no label yet into the queue."""
    labelling = labelling_of(request)
    done = await run_in_threadpool(lambda: queue_pairs(Workspace(labelling.site.workspace.folder)))
    await labelling.refresh()
    return RedirectResponse(f"{HERE}?joined={done.new}", 303)


def _campaign(
    request: Request,
    failure: LookalikeError | None = None,
    sent: dict[str, str] | None = None,
    joined: str = "",
) -> Response:
    site = labelling_of(request).site
    with site.database.read() as connection:
        values = sent or values_of(read_campaign(connection))
        states = count_questions(connection)
    waiting = count_waiting(Workspace(site.workspace.folder))
    status = status_of(failure) if failure else 200
    return page(
        request, "campaign.html.j2", status=status, settings=SETTINGS, values=values, states=states,
        waiting=waiting, joined=joined, failure=failure,
    )  # fmt: skip
