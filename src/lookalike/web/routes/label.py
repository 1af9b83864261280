"""The labelling page. It works as a plain form; its script makes it fast."""

import json
from dataclasses import asdict
from hashlib import blake2b
from typing import Annotated

from fastapi import APIRouter, Form
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.annotate.agreement.pace import DAY_MS
from lookalike.annotate.protocol import ANSWERS, REASONS
from lookalike.annotate.question import SKIP
from lookalike.core.errors import ArgumentError, VoteError
from lookalike.store.labelling.giving import next_pairs
from lookalike.store.labelling.progress import AnnotatorProgress, annotator_progress
from lookalike.store.labelling.votes import answer, take_answer_back
from lookalike.store.people.people import Person
from lookalike.web.access.dependencies import SIGNED_IN, PersonPart, Word
from lookalike.web.pages.pair_view import LABELLING_SIZES, given_pairs, guidance, srcset
from lookalike.web.pages.render import page
from lookalike.web.schemas import GivenPair
from lookalike.web.site import Site, site_of

router = APIRouter(dependencies=SIGNED_IN, include_in_schema=False)
HERE = "/label"
UNDO = "undo"


@router.get(HERE)
async def label_page(request: Request, person: PersonPart) -> Response:
    """The pair to answer, or the reason why there is none."""
    return await _shown(request, site_of(request), person)


@router.post(HERE)
async def label_form(
    request: Request, person: PersonPart, token: Word = "", answer_: Annotated[str, Form(alias="answer")] = ""
) -> Response:
    """Save the answer of the form (or undo one), and show the next pair."""
    if answer_ not in (*ANSWERS, SKIP, UNDO):
        raise ArgumentError(
            "The form has no answer.", fix="Go back and press Similar, Dissimilar, Unsure, Skip or Undo."
        )
    site = site_of(request)
    now = site.now()

    def take(connection: Connection) -> None:
        if answer_ == UNDO:
            take_answer_back(connection, site.rules, person.id, token, now)
        else:
            answer(connection, site.rules, person.id, token, answer_, now, site.draw)

    try:
        await site.write(take)
    except VoteError as refusal:
        return await _shown(request, site, person, refusal)
    done = "" if answer_ == UNDO else f"?last={token}"
    return RedirectResponse(HERE + done, 303)


async def _shown(request: Request, site: Site, person: Person, refusal: VoteError | None = None) -> Response:
    now = site.now()

    def give(connection: Connection) -> tuple[list[GivenPair], AnnotatorProgress]:
        given = next_pairs(connection, site.rules, person.id, now, site.draw)
        done = annotator_progress(connection, person.id, now, now - now % DAY_MS)
        return given_pairs(connection, site, given), done

    given, done = await site.write(give)
    guide = await run_in_threadpool(site.database.fetch, lambda connection: guidance(connection, site))
    last = request.query_params.get("last", "")[:200]
    state = {
        "workspace": workspace_id(site.key), "person": person.id, "given": given, "progress": asdict(done),
        "break_minutes": site.rules.campaign.break_minutes, "sizes": LABELLING_SIZES,
        "reasons": site.rules.campaign.reasons,
    }  # fmt: skip
    status = 200 if refusal is None else 409
    return page(
        request, "label.html.j2", status=status, given=given, standing=done, state=json.dumps(state), last=last,
        refusal=refusal, campaign=site.rules.campaign, reasons=REASONS, srcset=srcset, **guide,
    )  # fmt: skip


def workspace_id(key: str) -> str:
    """The id by which a browser separates workspaces served at one address. It does not reveal the signing key.

    >>> workspace_id("a key"), workspace_id("another") == workspace_id("a key")
    ('00c0085b9ad4', False)
    """
    return blake2b(key.encode(), digest_size=6, person=b"workspace").hexdigest()
