"""The settings of the labelling and the queue of pairs, for leads: as a page and as JSON."""

from collections.abc import Mapping

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.annotate.campaign import Campaign
from lookalike.core.errors import LookalikeError
from lookalike.store.labelling.campaigns import read_campaign
from lookalike.store.labelling.progress import count_states
from lookalike.store.workspace import Workspace
from lookalike.web.access.dependencies import LEADS, ActorPart, SitePart
from lookalike.web.actions import change_settings
from lookalike.web.openapi import PROBLEMS
from lookalike.web.pages.forms import FormPart, submitted
from lookalike.web.pages.render import page
from lookalike.web.schemas import Done, Joined, Queue
from lookalike.web.site import Site
from lookalike.workflows.label.queue import count_waiting, queue_pairs

router = APIRouter(prefix="/plan", dependencies=LEADS, include_in_schema=False)
api = APIRouter(prefix="/api", dependencies=LEADS, tags=["campaign"], responses=PROBLEMS)
HERE = "/plan/campaign"


@router.get("/campaign")
def campaign_page(request: Request, site: SitePart, joined: str = "", saved: bool = False) -> Response:
    """The settings, and the number of pairs that can join the queue."""
    return _campaign(request, site, joined=joined[:20] if joined.isdecimal() else "", saved=saved)


@router.post("/campaign")
async def save_form(request: Request, site: SitePart, by: ActorPart, form: FormPart) -> Response:
    """Save the settings."""

    def again(failure: LookalikeError) -> Response:
        return _campaign(request, site, failure, form)

    return await submitted(Campaign, form, lambda new: save(site, by, new), f"{HERE}?saved=1", again)


@router.post("/queue")
async def queue_form(site: SitePart) -> Response:
    """Add discovered pairs without a label to the queue."""
    return RedirectResponse(f"{HERE}?joined={(await join_queue(site)).new}", 303)


@api.get("/campaign")
def campaign(site: SitePart) -> Campaign:
    """For leads: the settings of the labelling."""
    return site.database.fetch(read_campaign)


@api.put("/campaign")
async def save(site: SitePart, by: ActorPart, new: Campaign) -> Done:
    """For leads: change the settings. Pairs already in the queue keep their number of votes."""
    await site.write(lambda connection: change_settings(connection, by, new))
    await site.refresh()
    return Done()


@api.get("/queue")
def queue(site: SitePart) -> Queue:
    """For leads: the number of pairs in each state, and of discovered pairs that are not in the queue yet."""
    return Queue(
        states=site.database.fetch(count_states), waiting=count_waiting(Workspace(site.workspace.folder))
    )


@api.post("/queue")
async def join_queue(site: SitePart) -> Joined:
    """For leads: add discovered pairs without a label to the queue."""
    done = await run_in_threadpool(lambda: queue_pairs(Workspace(site.workspace.folder)))
    await site.refresh()
    return Joined(new=done.new, withdrawn=done.withdrawn)


def _campaign(
    request: Request,
    site: Site,
    failure: LookalikeError | None = None,
    sent: Mapping[str, str] | None = None,
    joined: str = "",
    *,
    saved: bool = False,
) -> Response:
    with site.database.read() as connection:
        kept = read_campaign(connection).model_dump(by_alias=True)
        states = count_states(connection)
    values = sent or {name: f"{one:.15g}" if isinstance(one, float) else one for name, one in kept.items()}
    fields = Campaign.model_json_schema()["properties"]
    shown = {
        "fields": fields,
        "values": values,
        "states": states,
        "joined": joined,
        "saved": saved,
        "failure": failure,
    }
    waiting = count_waiting(Workspace(site.workspace.folder))
    return page(request, "team/campaign.html.j2", waiting=waiting, **shown)
