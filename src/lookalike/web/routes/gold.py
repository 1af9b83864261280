"""Gold pairs, for leads: pairs whose answer is known, hidden among the others, and who gives it."""

from typing import Annotated

from fastapi import APIRouter, Form
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.annotate.protocol import SETTLED
from lookalike.core.errors import LookalikeError
from lookalike.store.access import record
from lookalike.store.discussions import discussions
from lookalike.store.gold import gold_pairs, gold_scores, make_gold, remove_gold
from lookalike.web.deps import LEADS, PersonPart, address_of
from lookalike.web.failures import status_of
from lookalike.web.labelling import labelling_of
from lookalike.web.render import page
from lookalike.web.shown import pictures

router = APIRouter(prefix="/guidelines/gold", dependencies=LEADS, include_in_schema=False)
HERE = "/guidelines/gold"
PAGE = 24
Word = Annotated[str, Form()]


@router.get("")
def gold_page(request: Request, after: int = 0) -> Response:
    """All gold pairs, how often they are answered rightly, and settled pairs to choose from."""
    return _gold(request, after)


@router.post("")
async def add(
    request: Request,
    by: PersonPart,
    query: Word = "",
    candidate: Word = "",
    answer: Word = "",
    note: Word = "",
) -> Response:
    """Make a pair a gold pair."""
    site = labelling_of(request).site
    now, address = site.now(), address_of(request)

    def write(connection: Connection) -> None:
        make_gold(connection, query.strip(), candidate.strip(), answer, note, by.id, now)
        record(connection, now, by.id, "gold", f"{query} · {candidate}: {answer}", address)

    try:
        await site.write(write)
    except LookalikeError as failure:
        if status_of(failure) == 503:
            raise
        return await run_in_threadpool(_gold, request, 0, failure)
    return RedirectResponse(HERE, 303)


@router.post("/{which}/remove")
async def remove(request: Request, by: PersonPart, which: int) -> Response:
    """Make it no gold pair any more."""
    site = labelling_of(request).site
    now, address = site.now(), address_of(request)

    def write(connection: Connection) -> None:
        remove_gold(connection, which if 0 <= which < 1 << 63 else 0)
        record(connection, now, by.id, "gold removed", f"pair {which}", address)

    await site.write(write)
    return RedirectResponse(HERE, 303)


def _gold(request: Request, after: int, failure: LookalikeError | None = None) -> Response:
    labelling = labelling_of(request)
    after = min(max(after, 0), (1 << 63) - 1)
    with labelling.site.database.read() as connection:
        listed = gold_pairs(connection)
        shown = pictures(connection, labelling, listed)
        found = discussions(connection, state=SETTLED, after=after, limit=PAGE + 1)
        known = {pair.question for pair in listed}
        settled = pictures(
            connection, labelling, [pair for pair in found[:PAGE] if pair.question not in known]
        )
        scores = gold_scores(connection)
    older = found[PAGE - 1].question if len(found) > PAGE else None
    status = status_of(failure) if failure else 200
    return page(
        request, "gold.html.j2", status=status, gold=shown, settled=settled, scores=scores, older=older,
        failure=failure, every=labelling.rules.campaign.gold_every,
    )  # fmt: skip
