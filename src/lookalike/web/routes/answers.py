"""A person's own answers, figures and goal, as a page and as JSON."""

from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from lookalike.annotate.agreement.pace import DAY_MS
from lookalike.annotate.protocol import REASONS
from lookalike.core.errors import LookalikeError
from lookalike.store.labelling.corrections import own_answers
from lookalike.store.labelling.progress import GOAL, annotator_progress, set_goal
from lookalike.store.labelling.votes import Receipt
from lookalike.store.people.people import Person
from lookalike.web import actions
from lookalike.web.access.dependencies import LARGEST, SIGNED_IN, ActorPart, PersonPart, SitePart
from lookalike.web.openapi import PROBLEMS
from lookalike.web.pages.forms import FormPart, submitted
from lookalike.web.pages.pair_view import shown_answers
from lookalike.web.pages.render import page
from lookalike.web.schemas import CorrectedAnswer, Done, NewGoal, OwnAnswers
from lookalike.web.site import Site, site_of

router = APIRouter(prefix="/answers", dependencies=SIGNED_IN, include_in_schema=False)
api = APIRouter(prefix="/api/answers", dependencies=SIGNED_IN, tags=["answers"], responses=PROBLEMS)
HERE = "/answers"
Midnight = Annotated[
    int | None,
    Query(ge=0, le=LARGEST, description="Start of the day in your time zone. Default: midnight UTC."),
]


@router.get("")
def answers_page(request: Request, person: PersonPart) -> Response:
    """Your figures, your goal and your last answers."""
    return _page(request, person)


@router.post("/goal")
async def goal_form(request: Request, site: SitePart, by: ActorPart, form: FormPart) -> Response:
    """Set your goal."""
    return await submitted(
        NewGoal, form, lambda new: goal(site, by, new), HERE, lambda failure: _page(request, by.person, failure)
    )  # fmt: skip


@router.post("")
async def correct_form(request: Request, site: SitePart, by: ActorPart, form: FormPart) -> Response:
    """Correct an answer."""
    return await submitted(
        CorrectedAnswer, form, lambda new: correct(site, by, new), HERE,
        lambda failure: _page(request, by.person, failure),
    )  # fmt: skip


@api.get("")
def answers(site: SitePart, person: PersonPart, midnight: Midnight = None) -> OwnAnswers:
    """Your progress and your last 100 answers."""
    with site.database.read() as connection:
        return _own(connection, site, person, midnight)


@api.post("/correct")
async def correct(site: SitePart, by: ActorPart, new: CorrectedAnswer) -> Receipt:
    """Correct an answer of yours while its pair is open. The history keeps the earlier answer."""
    rules, draw = site.rules, site.draw
    return await site.write(lambda connection: actions.correct_answer(connection, by, rules, new, draw))


@api.put("/goal")
async def goal(site: SitePart, by: ActorPart, new: NewGoal) -> Done:
    """Set how many answers you want to give in a day."""
    await site.write(lambda connection: set_goal(connection, by.person.id, new.goal))
    return Done()


def _own(connection: Connection, site: Site, person: Person, midnight: int | None = None) -> OwnAnswers:
    now = site.now()
    today = now - now % DAY_MS if midnight is None else midnight
    listed = own_answers(connection, site.rules, person.id, now)
    return OwnAnswers(
        progress=annotator_progress(connection, person.id, now, today),
        answers=shown_answers(connection, site, listed),
    )


def _page(request: Request, person: Person, failure: LookalikeError | None = None) -> Response:
    site = site_of(request)
    with site.database.read() as connection:
        own = _own(connection, site, person)
    return page(
        request, "account/answers.html.j2", standing=own.progress, answers=own.answers, default=GOAL, failure=failure,
        reasons=() if site.rules.campaign.reasons == "never" else REASONS,
    )  # fmt: skip
