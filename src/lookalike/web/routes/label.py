"""The labelling page. Its script makes it fast; without one it is a plain form."""

import json
from dataclasses import asdict
from hashlib import blake2b
from typing import Annotated, Any

from fastapi import APIRouter, Form
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.annotate.pace import DAY_MS
from lookalike.annotate.protocol import ANSWERS
from lookalike.annotate.question import SKIP
from lookalike.core.errors import ArgumentError, VoteError
from lookalike.store.guidelines import examples, read_guideline
from lookalike.store.people import Person
from lookalike.store.standing import Standing, standing
from lookalike.store.unit_of_work import Foreseen, UnitOfWork
from lookalike.store.votes import answer, foresee, next_pairs, take_answer_back
from lookalike.web.deps import SIGNED_IN, PersonPart
from lookalike.web.labelling import Labelling, labelling_of
from lookalike.web.markup import marked_up
from lookalike.web.render import page
from lookalike.web.shown import given_pairs, pictures

router = APIRouter(dependencies=SIGNED_IN, include_in_schema=False)
HERE = "/label"
UNDO = "undo"
Word = Annotated[str, Form()]


@router.get(HERE)
async def label_page(request: Request, person: PersonPart) -> Response:
    """The pair that is to be answered, or why there is none."""
    return await _shown(request, labelling_of(request), person)


@router.post(HERE)
async def label_form(
    request: Request, person: PersonPart, token: Word = "", answer_: Annotated[str, Form(alias="answer")] = ""
) -> Response:
    """Take the form's answer (or undo), and show the next pair."""
    if answer_ not in (*ANSWERS, SKIP, UNDO):
        raise ArgumentError(
            "No answer was pressed.", fix="Go back and press Similar, Dissimilar, Unsure, Skip or Undo."
        )
    labelling = labelling_of(request)
    now = labelling.site.now()

    def take(work: UnitOfWork) -> None:
        if answer_ == UNDO:
            take_answer_back(work, labelling.rules, person.id, token, now)
        else:
            answer(work, labelling.rules, person.id, token, answer_, now, labelling.draw)

    try:
        await labelling.site.label(take, foresee(labelling.rules, person.id, token))
    except VoteError as refusal:
        return await _shown(request, labelling, person, refusal)
    done = "" if answer_ == UNDO else f"?last={token}"
    return RedirectResponse(HERE + done, 303)


async def _shown(
    request: Request, labelling: Labelling, person: Person, refusal: VoteError | None = None
) -> Response:
    now = labelling.site.now()

    def give(work: UnitOfWork) -> tuple[list[dict[str, Any]], Standing]:
        given = next_pairs(work, labelling.rules, person.id, now, labelling.draw)
        stands = standing(work.reading(), person.id, now, now - now % DAY_MS)
        return given_pairs(work, labelling, given), stands

    given, stands = await labelling.site.label(give, Foreseen(person.id))
    guidance = await run_in_threadpool(_guidance, labelling)
    last = request.query_params.get("last", "")[:200]
    state = {
        "workspace": workspace_id(labelling.site.key), "person": person.id, "given": given, "progress": asdict(stands),
        "break_minutes": labelling.rules.campaign.break_minutes,
    }  # fmt: skip
    status = 200 if refusal is None else 409
    return page(
        request, "label.html.j2", status=status, given=given, standing=stands, state=json.dumps(state), last=last,
        refusal=refusal, protocol=labelling.rules.campaign.protocol.name, **guidance,
    )  # fmt: skip


def workspace_id(key: str) -> str:
    """What a browser tells workspaces apart by that are served at one address; the signing key cannot be had from it.

    >>> workspace_id("a key"), workspace_id("another") == workspace_id("a key")
    ('00c0085b9ad4', False)
    """
    return blake2b(key.encode(), digest_size=6, person=b"workspace").hexdigest()


def _guidance(labelling: Labelling) -> dict[str, Any]:
    """The guidelines as the page shows them over the photos."""
    with labelling.site.database.read() as connection:
        shown = pictures(connection, labelling, examples(connection))
        return {"guideline": marked_up(read_guideline(connection).text), "examples": shown}
