"""The guidelines: everybody reads them; leads edit them, keep their versions, and choose example pairs."""

from typing import Annotated, Any

from fastapi import APIRouter, Form
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.annotate.protocol import SETTLED
from lookalike.core.errors import LookalikeError, VoteError
from lookalike.store import guidelines as store
from lookalike.store.access import record
from lookalike.store.discussions import discussions
from lookalike.web.deps import LEADS, SIGNED_IN, PersonPart, address_of
from lookalike.web.failures import status_of
from lookalike.web.labelling import labelling_of
from lookalike.web.markup import marked_up
from lookalike.web.render import page
from lookalike.web.shown import pictures

router = APIRouter(dependencies=SIGNED_IN, include_in_schema=False)
lead_router = APIRouter(prefix="/guidelines", dependencies=LEADS, include_in_schema=False)
HERE = "/guidelines"
PAGE = 24
Word = Annotated[str, Form()]


@router.get(HERE)
def guidelines_page(request: Request) -> Response:
    """The text and the example pairs."""
    labelling = labelling_of(request)
    with labelling.site.database.read() as connection:
        now_is = store.read_guideline(connection)
        shown = pictures(connection, labelling, store.examples(connection))
    return page(request, "guidelines.html.j2", guideline=now_is, words=marked_up(now_is.text), examples=shown)


@lead_router.get("/edit")
def edit_page(request: Request) -> Response:
    """The text in a field."""
    with labelling_of(request).site.database.read() as connection:
        now_is = store.read_guideline(connection)
    return _edit(request, now_is.text, now_is.version)


@lead_router.post("/edit")
async def edit(
    request: Request, by: PersonPart, text: Word = "", based_on: Annotated[int, Form()] = 0, do: Word = "save"
) -> Response:
    """Show how the text will look, or keep it as a new version."""
    site = labelling_of(request).site
    if do == "preview":
        return _edit(request, text, based_on, preview=True)
    now, address = site.now(), address_of(request)

    def write(connection: Connection) -> None:
        version = store.write_guideline(connection, text, by.id, based_on, now)
        record(connection, now, by.id, "guidelines", f"version {version}", address)

    try:
        await site.write(write)
    except LookalikeError as failure:
        if status_of(failure) == 503:
            raise
        return _edit(request, text, based_on, failure=failure)
    return RedirectResponse(HERE, 303)


@lead_router.get("/versions")
def versions_page(request: Request) -> Response:
    """All versions, the newest first."""
    with labelling_of(request).site.database.read() as connection:
        listed = store.guideline_versions(connection)
    return page(request, "versions.html.j2", versions=listed)


@lead_router.get("/versions/{version}")
def version_page(request: Request, version: int) -> Response:
    """One version as it looked."""
    with labelling_of(request).site.database.read() as connection:
        found = store.read_guideline(connection, _number(version))
        newest = store.read_guideline(connection).version
    return page(request, "version.html.j2", guideline=found, words=marked_up(found.text), newest=newest)


@lead_router.post("/versions/{version}/restore")
async def restore(request: Request, by: PersonPart, version: int) -> Response:
    """Make the text of a version the newest again; nothing between is lost."""
    site = labelling_of(request).site
    now, address = site.now(), address_of(request)

    def write(connection: Connection) -> None:
        old = store.read_guideline(connection, _number(version))
        newest = store.read_guideline(connection).version
        store.write_guideline(connection, old.text, by.id, newest, now)
        record(connection, now, by.id, "guidelines", f"version {version} again", address)

    await site.write(write)
    return RedirectResponse(HERE, 303)


@lead_router.get("/examples")
def examples_page(request: Request, after: int = 0) -> Response:
    """The example pairs, and settled pairs to choose from."""
    return _examples(request, after)


@lead_router.post("/examples")
async def add_example(
    request: Request, query: Word = "", candidate: Word = "", label: Word = "", note: Word = ""
) -> Response:
    """Show a pair with the guidelines."""
    labels = {"similar": 1, "dissimilar": 0}

    def write(connection: Connection) -> None:
        if label not in labels:
            raise VoteError("An example is similar or dissimilar.", fix="Choose one.", code="unknown")
        store.add_example(connection, query, candidate, labels[label], note)

    try:
        await labelling_of(request).site.write(write)
    except LookalikeError as failure:
        if status_of(failure) == 503:
            raise
        return await run_in_threadpool(_examples, request, 0, failure)
    return RedirectResponse("/guidelines/examples", 303)


@lead_router.post("/examples/{which}/remove")
async def remove_example(request: Request, which: int) -> Response:
    """Show a pair no longer."""
    await labelling_of(request).site.write(lambda c: store.remove_example(c, _number(which)))
    return RedirectResponse("/guidelines/examples", 303)


def _examples(request: Request, after: int, failure: LookalikeError | None = None) -> Response:
    labelling = labelling_of(request)
    with labelling.site.database.read() as connection:
        chosen = pictures(connection, labelling, store.examples(connection))
        found = discussions(connection, state=SETTLED, after=_number(after), limit=PAGE + 1)
        settled = pictures(connection, labelling, found[:PAGE])
    older = found[PAGE - 1].question if len(found) > PAGE else None
    status = status_of(failure) if failure else 200
    return page(
        request,
        "examples.html.j2",
        status=status,
        examples=chosen,
        settled=settled,
        older=older,
        failure=failure,
    )


def _edit(
    request: Request,
    text: str,
    based_on: int,
    *,
    preview: bool = False,
    failure: LookalikeError | None = None,
) -> Response:
    words = marked_up(text) if preview else None
    status = status_of(failure) if failure else 200
    values: dict[str, Any] = {"text": text, "based_on": based_on, "words": words, "failure": failure}
    return page(request, "edit.html.j2", status=status, **values)


def _number(which: int) -> int:
    """A number that a database can hold; others are of nothing."""
    return which if 0 <= which < 1 << 63 else (1 << 63) - 1
