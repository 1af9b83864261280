"""The guidelines with their versions and example pairs, as pages and as JSON. Everybody reads them; leads edit them."""

from collections.abc import Mapping
from dataclasses import asdict

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.core.errors import LookalikeError
from lookalike.store.labelling import guidelines as store
from lookalike.store.people.people import Person
from lookalike.web import actions
from lookalike.web.access.dependencies import (
    LEADS,
    SIGNED_IN,
    ActorPart,
    After,
    Number,
    PersonPart,
    SitePart,
)
from lookalike.web.openapi import PROBLEMS
from lookalike.web.pages.forms import FormPart, submitted, with_chosen_images
from lookalike.web.pages.markup import rendered
from lookalike.web.pages.pair_view import pictures, resolved_pairs
from lookalike.web.pages.render import page
from lookalike.web.schemas import Done, Guidelines, NewExample, NewGuidelines
from lookalike.web.site import site_of

router = APIRouter(dependencies=SIGNED_IN, include_in_schema=False)
lead_router = APIRouter(prefix="/guidelines", dependencies=LEADS, include_in_schema=False)
api = APIRouter(prefix="/api/guidelines", dependencies=SIGNED_IN, tags=["guidelines"], responses=PROBLEMS)
lead_api = APIRouter(prefix="/api/guidelines", dependencies=LEADS, tags=["guidelines"], responses=PROBLEMS)
HERE = "/guidelines"
EXAMPLES = "/guidelines/examples"


@router.get(HERE)
def guidelines_page(request: Request, site: SitePart) -> Response:
    """The text and the example pairs."""
    with site.database.read() as connection:
        newest = store.read_guideline(connection)
        shown = pictures(connection, site, store.examples(connection))
    return page(
        request,
        "guidelines/guidelines.html.j2",
        guideline=newest,
        words=rendered(newest.text),
        examples=shown,
    )


@lead_router.get("/edit")
def edit_page(request: Request, site: SitePart) -> Response:
    """The text in a field."""
    newest = site.database.fetch(store.read_guideline)
    return _edit(request, newest.text, str(newest.version))


@lead_router.post("/edit")
async def edit_form(request: Request, site: SitePart, by: ActorPart, form: FormPart) -> Response:
    """Show how the text will look, or save it as a new version."""
    text, based_on = form.get("text", ""), form.get("based_on", "")
    if form.get("do") == "preview":
        return _edit(request, text, based_on, preview=True)
    return await submitted(
        NewGuidelines, {"text": text, "based_on": based_on}, lambda new: write_guidelines(site, by, new), HERE,
        lambda failure: _edit(request, text, based_on, failure=failure),
    )  # fmt: skip


@lead_router.get("/versions")
def versions_page(request: Request, site: SitePart) -> Response:
    """All versions, the newest first."""
    return page(
        request, "guidelines/versions.html.j2", versions=site.database.fetch(store.guideline_versions)
    )


@lead_router.get("/versions/{version}")
def version_page(request: Request, site: SitePart, version: Number) -> Response:
    """One version."""
    with site.database.read() as connection:
        found = store.read_guideline(connection, version)
        newest = store.read_guideline(connection).version
    return page(
        request, "guidelines/version.html.j2", guideline=found, words=rendered(found.text), newest=newest
    )


@lead_router.post("/versions/{version}/restore")
async def restore_form(site: SitePart, by: ActorPart, version: Number) -> Response:
    """Save the text of an older version as the newest version."""
    await site.write(lambda connection: actions.restore_guidelines(connection, by, version))
    return RedirectResponse(HERE, 303)


@lead_router.get("/examples")
def examples_page(request: Request, person: PersonPart, after: After = 0) -> Response:
    """The example pairs, and resolved pairs to choose from."""
    return _examples(request, person, after)


@lead_router.post("/examples")
async def example_form(request: Request, site: SitePart, person: PersonPart, form: FormPart) -> Response:
    """Show a pair beside the guidelines."""
    sent = with_chosen_images(form)
    return await submitted(
        NewExample, sent, lambda pair: add_example(site, pair), EXAMPLES,
        lambda failure: _examples(request, person, failure=failure, sent=sent),
    )  # fmt: skip


@lead_router.post("/examples/{example}/remove")
async def remove_example_form(site: SitePart, example: Number) -> Response:
    """Remove a pair from the examples."""
    await remove_example(site, example)
    return RedirectResponse(EXAMPLES, 303)


@api.get("")
def guidelines(site: SitePart) -> Guidelines:
    """The guidelines for annotators."""
    with site.database.read() as connection:
        text, pairs = store.read_guideline(connection), store.examples(connection)
    return Guidelines(**asdict(text), examples=list(pairs))


@lead_api.post("")
async def write_guidelines(site: SitePart, by: ActorPart, new: NewGuidelines) -> Done:
    """For leads: save a new version. Status 409 means that somebody changed the guidelines since `based_on`."""
    await site.write(lambda connection: actions.write_guidelines(connection, by, new))
    return Done()


@lead_api.post("/examples")
async def add_example(site: SitePart, pair: NewExample) -> Done:
    """For leads: show a pair beside the guidelines."""
    await site.write(lambda connection: actions.add_example(connection, pair))
    return Done()


@lead_api.delete("/examples/{example}")
async def remove_example(site: SitePart, example: Number) -> Done:
    """For leads: remove a pair from the examples."""
    await site.write(lambda connection: store.remove_example(connection, example))
    return Done()


def _edit(
    request: Request,
    text: str,
    based_on: str,
    *,
    preview: bool = False,
    failure: LookalikeError | None = None,
) -> Response:
    words = rendered(text) if preview else None
    return page(
        request, "guidelines/edit.html.j2", text=text, based_on=based_on, words=words, failure=failure
    )


def _examples(
    request: Request,
    person: Person,
    after: int = 0,
    failure: LookalikeError | None = None,
    sent: Mapping[str, str] | None = None,
) -> Response:
    site = site_of(request)
    with site.database.read() as connection:
        chosen = pictures(connection, site, store.examples(connection))
        resolved = resolved_pairs(connection, site, person, after)
    shown = {"examples": chosen, **resolved, "failure": failure, "sent": sent or {}}
    return page(request, "guidelines/examples.html.j2", **shown)
