"""Gold pairs, for leads, as a page and as JSON: hidden pairs with a known answer, and who gives that answer."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.core.errors import LookalikeError
from lookalike.store.labelling.gold import Gold, gold_pairs, gold_scores
from lookalike.store.labelling.images import find_images
from lookalike.store.people.people import Person
from lookalike.web import actions
from lookalike.web.access.dependencies import LEADS, ActorPart, After, Number, PersonPart, SitePart
from lookalike.web.openapi import PROBLEMS
from lookalike.web.pages.forms import FormPart, submitted, with_chosen_images
from lookalike.web.pages.pair_view import LIST, pictures, resolved_pairs
from lookalike.web.pages.render import page
from lookalike.web.routes.images import image_address
from lookalike.web.schemas import Done, ImageShown, NewGold
from lookalike.web.site import site_of

router = APIRouter(prefix="/guidelines/gold", dependencies=LEADS, include_in_schema=False)
api = APIRouter(prefix="/api/gold", dependencies=LEADS, tags=["gold"], responses=PROBLEMS)
HERE = "/guidelines/gold"
LABELS = {
    "query": "First image",
    "candidate": "Second image",
    "answer": "Known answer",
    "note": "Note for leads",
}


@router.get("")
def gold_page(request: Request, person: PersonPart, after: After = 0) -> Response:
    """All gold pairs, the share of correct answers, and resolved pairs to choose from."""
    return _gold(request, person, after)


@router.post("")
async def add_form(request: Request, site: SitePart, by: ActorPart, form: FormPart) -> Response:
    """Make a pair a gold pair."""
    sent = with_chosen_images(form)
    return await submitted(
        NewGold, sent, lambda pair: add_gold(site, by, pair), HERE,
        lambda failure: _gold(request, by.person, failure=failure, sent=sent), LABELS,
    )  # fmt: skip


@router.post("/{question}/remove")
async def remove_form(site: SitePart, by: ActorPart, question: Number) -> Response:
    """Stop using a pair as a gold pair."""
    await remove_gold(site, by, question)
    return RedirectResponse(HERE, 303)


@api.get("")
def gold(site: SitePart) -> list[Gold]:
    """For leads: the gold pairs."""
    return list(site.database.fetch(gold_pairs))


@api.post("")
async def add_gold(site: SitePart, by: ActorPart, pair: NewGold) -> Done:
    """For leads: make a pair a gold pair."""
    await site.write(lambda connection: actions.add_gold(connection, by, pair))
    return Done()


@api.get("/images")
def images(
    site: SitePart, search: str = "", limit: Annotated[int, Query(ge=1, le=100)] = 24
) -> list[ImageShown]:
    """For leads: images to choose from. `search`: words of their ids, items and categories. Without it: recent ones."""
    with site.database.read() as connection:
        found = find_images(connection, search, limit)
        hashes = site.hashes(connection, (one.image for one in found))
    return [
        ImageShown(**asdict(one), small_url=image_address(one.image, hashes[one.image], LIST))
        for one in found
    ]


@api.delete("/{question}")
async def remove_gold(site: SitePart, by: ActorPart, question: Number) -> Done:
    """For leads: stop using a pair as a gold pair."""
    await site.write(lambda connection: actions.remove_gold(connection, by, question))
    return Done()


def _gold(
    request: Request,
    person: Person,
    after: int = 0,
    failure: LookalikeError | None = None,
    sent: Mapping[str, str] | None = None,
) -> Response:
    site = site_of(request)
    with site.database.read() as connection:
        listed = gold_pairs(connection)
        shown = resolved_pairs(connection, site, person, after, but=(pair.question for pair in listed))
        shown |= {"gold": pictures(connection, site, listed), "scores": gold_scores(connection)}
    shown |= {"failure": failure, "sent": sent or {}, "labels": LABELS}
    return page(request, "guidelines/gold.html.j2", **shown, every=site.rules.campaign.gold_every)
