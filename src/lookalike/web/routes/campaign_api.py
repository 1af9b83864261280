"""The campaign and the queue for programs of leads."""

from fastapi import APIRouter
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from lookalike.recipes.queue import count_waiting, queue_pairs
from lookalike.store.access import record
from lookalike.store.campaigns import read_campaign, write_campaign
from lookalike.store.questions import count_questions
from lookalike.store.workspace import Workspace
from lookalike.web.deps import LEADS, PersonPart, address_of
from lookalike.web.described import PROBLEMS
from lookalike.web.labelling import labelling_of
from lookalike.web.schemas import CampaignBody, Done, Joined, Queue
from lookalike.web.settings_form import campaign_of, values_of

router = APIRouter(prefix="/api", dependencies=LEADS, tags=["campaign"], responses=PROBLEMS)


@router.get("/campaign")
def campaign(request: Request) -> CampaignBody:
    """For leads: how the labelling is run."""
    with labelling_of(request).site.database.read() as connection:
        return CampaignBody(**values_of(read_campaign(connection)))


@router.put("/campaign")
async def change_campaign(request: Request, by: PersonPart, sent: CampaignBody) -> Done:
    """For leads: change how the labelling is run. Pairs in the queue keep the number of votes they came with."""
    labelling = labelling_of(request)
    new = campaign_of(sent.model_dump())
    now, address = labelling.site.now(), address_of(request)

    def write(connection: Connection) -> None:
        write_campaign(connection, new)
        record(connection, now, by.id, "settings", address=address)

    await labelling.site.write(write)
    await labelling.refresh()
    return Done()


@router.get("/queue")
def queue(request: Request) -> Queue:
    """For leads: the pairs of each state, and those that wait to join."""
    site = labelling_of(request).site
    with site.database.read() as connection:
        states = dict(count_questions(connection))
    return Queue(states=states, waiting=count_waiting(Workspace(site.workspace.folder)))


@router.post("/queue")
async def join_queue(request: Request) -> Joined:
    """For leads: put what was discovered and has no label yet into the queue."""
    labelling = labelling_of(request)
    done = await run_in_threadpool(lambda: queue_pairs(Workspace(labelling.site.workspace.folder)))
    await labelling.refresh()
    return Joined(new=done.new, withdrawn=done.withdrawn)
