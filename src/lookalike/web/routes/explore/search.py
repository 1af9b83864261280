"""The search page: a gallery to choose a query from, and the results of several encoders side by side."""

import io
import time
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Depends, Form, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.annotate.protocol import OPEN
from lookalike.catalog.photos.boxes import Box, box_of
from lookalike.core.checks import strings
from lookalike.core.errors import ArgumentError, LookalikeError
from lookalike.core.filters import matching
from lookalike.core.text import plural
from lookalike.core.types import Catalog
from lookalike.discover.questions import Questions
from lookalike.store.labelling.discussion.lists import blind_images
from lookalike.store.labelling.queue import CHOSEN, states_of
from lookalike.web.access.dependencies import (
    CSRF_FIELD,
    LARGEST,
    LEADS,
    SIGNED_IN,
    ActorPart,
    PersonPart,
    SitePart,
    person,
)
from lookalike.web.access.identity import CSRF_HEADER, check_csrf
from lookalike.web.pages.render import page
from lookalike.web.pages.search_view import (
    MOST_ENCODERS,
    MOST_K,
    Column,
    K,
    Wanted,
    columns_shown,
    encoder_chips,
    filter_chips,
    unjudged,
)
from lookalike.web.pages.status import must_be_raised
from lookalike.web.routes.explore.gallery import gallery
from lookalike.web.routes.explore.query import Queried, queried
from lookalike.web.safety import MULTIPART
from lookalike.web.serving.photos import require_inside, sent_photo, uploaded_photo
from lookalike.web.site import Site
from lookalike.workflows.label.queue import ask_first
from lookalike.workflows.search.searcher import SearchAnswer, Searcher

router = APIRouter(prefix="/search", dependencies=SIGNED_IN, include_in_schema=False)
upload_router = APIRouter(prefix="/search", dependencies=[Depends(person)], include_in_schema=False)
lead_router = APIRouter(prefix="/search", dependencies=LEADS, include_in_schema=False)
AT_FIRST = 3  # encoders that are shown unless others are chosen
SIZES = (5, 10, 20, 50)

Text = Annotated[str, Query(max_length=1000)]
Texts = Annotated[list[str] | None, Query(max_length=50)]
Whole = Annotated[int, Query(ge=0, le=LARGEST)]


def wanted_of(
    image: Text = "",
    photo: Text = "",
    box: Texts = None,
    encoder: Texts = None,
    k: Annotated[int, Query(ge=-LARGEST, le=LARGEST)] = K,
    filter: Texts = None,
    words: Text = "",
    after: Whole = 0,
) -> Wanted:
    """What an address asks for. A box is "x0,y0,x1,y1", or the four numbers of a form."""
    filters = tuple(dict.fromkeys(one for one in filter or () if one))
    encoders = tuple(dict.fromkeys(one for one in encoder or () if one))
    region = ",".join(part.strip() for part in box or () if part.strip())
    return Wanted(image, photo, region, encoders, k, filters, words, after)


WantedPart = Annotated[Wanted, Depends(wanted_of)]


@router.get("")
async def search_page(
    request: Request, site: SitePart, person: PersonPart, wanted: WantedPart, asked: Whole = 0
) -> Response:
    """The gallery, or the results for a query."""
    return await _page(request, site, person.reads_as, wanted, asked=asked)


@upload_router.post("/photo")
async def upload(request: Request, site: SitePart, person: PersonPart, wanted: WantedPart) -> Response:
    """Hold a photo for an hour, and search with it."""
    token = request.headers.get(CSRF_HEADER, "")
    in_form = not token and request.headers.get("content-type", "").startswith(MULTIPART)
    if not in_form:
        check_csrf(request, token)
    try:
        async with site.service.upload():
            sent = await sent_photo(request)
            if in_form:
                check_csrf(request, "".join(sent.fields.get(CSRF_FIELD, [])))
            most = site.options.upload_megapixels
            found = await site.service.photos.run(lambda: uploaded_photo(sent.content, most))
    except ArgumentError as error:
        return await _page(request, site, person.reads_as, wanted, error)
    name = site.uploads.keep(found)
    return RedirectResponse(wanted.address(image="", photo=name, box="", words="", after=0), 303)


@router.get("/photo/{name}")
def uploaded(site: SitePart, name: str) -> Response:
    """An uploaded photo, made smaller, until it is deleted."""
    return Response(site.uploads.get(name).preview, media_type="image/jpeg")


@lead_router.post("/label")
async def label_first(
    site: SitePart, by: ActorPart, wanted: WantedPart, candidate: Annotated[list[str], Form()]
) -> Response:
    """For leads: put the pairs of a query and some of its results in front of the labelling queue."""
    catalog = (await run_in_threadpool(site.exploring.now)).workspace.catalog
    shown = [one for one in map(unquote, candidate) if one in catalog.row][: MOST_K * MOST_ENCODERS]
    if wanted.image not in catalog.row or not shown:
        raise ArgumentError(
            "These images are no longer in the catalog.", fix="Go back, reload the page and try again."
        )
    items = catalog.item[[catalog.row[one] for one in shown]]
    drawn = Questions(strings([wanted.image] * len(shown)), strings(shown), items)
    ends = [(min(wanted.image, one), max(wanted.image, one)) for one in shown]

    def ask(connection: Any) -> int:  # noqa: ANN401 - a database connection
        ask_first(connection, catalog, drawn, [False] * len(shown), CHOSEN)
        by.log(connection, "chose pairs to label first", f"{plural(len(shown), 'result')} of {wanted.image}")
        return sum(state == OPEN for state in states_of(connection, ends).values())

    return RedirectResponse(f"{wanted.address()}&asked={await site.write(ask)}", 303)


async def _page(
    request: Request,
    site: Site,
    reader: int | None,
    wanted: Wanted,
    failure: LookalikeError | None = None,
    asked: int = 0,
) -> Response:
    """The page; what is wrong with the address is shown on it, above the gallery."""
    service = site.service.searchers
    names = await run_in_threadpool(lambda: site.workspace.encoders)
    best = [service.served] if service.served in names else []
    shown = wanted.encoders or tuple(dict.fromkeys((*best, *names)))[:AT_FIRST]
    opened: dict[str, Searcher | LookalikeError] = {}
    if (wanted.image or wanted.photo) and failure is None:
        for name in shown[:MOST_ENCODERS]:
            try:
                opened[name] = (await service.get(name))[0]
            except LookalikeError as error:
                if must_be_raised(error):
                    raise
                opened[name] = error
    frame = {
        "wanted": wanted,
        "served": service.served,
        "asked": asked,
        "sizes": SIZES,
        "failure": failure,
        "encoders": encoder_chips(wanted, tuple(dict.fromkeys((*names, *shown))), shown),
        "query": None,
        "columns": [],
    }
    return await run_in_threadpool(lambda: _rendered(request, site, reader, wanted, opened, frame))


def _rendered(
    request: Request,
    site: Site,
    reader: int | None,
    wanted: Wanted,
    opened: Mapping[str, Searcher | LookalikeError],
    values: dict[str, Any],
) -> Response:
    now = site.exploring.now()
    catalog, values["filters"] = now.workspace.catalog, filter_chips(wanted, now.facets)
    try:
        require_sensible(wanted)
        query = queried(site, catalog, wanted)
        if query is not None and values["failure"] is None:
            found = _found(site, reader, wanted, query, catalog, opened)
            return page(request, "explore/search.html.j2", **values | found)
    except LookalikeError as error:
        if must_be_raised(error):
            raise
        values["failure"] = error
    return page(request, "explore/search.html.j2", **values | gallery(catalog, wanted, values["failure"]))


def _found(
    site: Site,
    reader: int | None,
    wanted: Wanted,
    query: Queried,
    catalog: Catalog,
    opened: Mapping[str, Searcher | LookalikeError],
) -> dict[str, Any]:
    box, failure = None, None
    try:
        box = box_of(wanted.box)
        if box is not None and query.width:
            require_inside(box, query.width, query.height)
    except LookalikeError as error:  # the photo stays, so that another box can be drawn
        box, failure, opened = None, error, {}
    if wanted.filters:
        matching(catalog, wanted.where)
    began = time.perf_counter()
    columns = [_column(site, wanted, query, box, *one) for one in opened.items()]
    took = time.perf_counter() - began
    labels = {} if query.image is None else labels_for(site, catalog, query.image, reader)
    made = columns_shown(wanted, catalog, columns, labels)
    items = {hit["item"] for one in made for hit in one["hits"]}
    open_ends = unjudged(made) if query.image is not None and reader is None else []
    return {
        "query": query,
        "box": box,
        "failure": failure,
        "columns": made,
        "took": round(1000 * took),
        "shown": len(items),
        "judged": len(items & labels.keys()),
        "to_label": [quote(one, safe="") for one in open_ends],
    }


def labels_for(site: Site, catalog: Catalog, image: str, reader: int | None) -> dict[str, int]:
    """The labels of a query image by item. Annotators do not see those that would answer their hidden checks."""
    blind = site.database.fetch(lambda connection: blind_images(connection, image, reader))
    hidden = {str(catalog.item[catalog.row[one]]) for one in blind if one in catalog.row}
    judged = site.exploring.judged().items()
    return {item: label for (query, item), label in judged if query == image and item not in hidden}


def _column(
    site: Site, wanted: Wanted, query: Queried, box: Box | None, name: str, found: Searcher | LookalikeError
) -> Column:
    if isinstance(found, LookalikeError):
        return Column(name, None, problem=found)
    try:
        answer, is_stale = _answer(site, wanted, query, box, found), name in site.service.searchers.stale
        return Column(name, answer, found.promise, is_stale)
    except LookalikeError as error:
        if must_be_raised(error):
            raise
        return Column(name, None, problem=error)


def _answer(site: Site, wanted: Wanted, query: Queried, box: Box | None, searcher: Searcher) -> SearchAnswer:
    """The answer of one encoder. Photos are decoded and embedded by a few threads, whatever the number of requests."""
    if query.image is not None and box is None:
        return searcher.by_image(query.image, wanted.k, wanted.where)

    def embed() -> SearchAnswer:
        photo = io.BytesIO(query.read())
        return searcher.by_photo(photo, wanted.k, wanted.where, box=box, name=query.item, image=query.image)

    return site.decoders.submit(embed).result()


def require_sensible(wanted: Wanted) -> None:
    """Raise ArgumentError for a number of results or encoders that no page shows."""
    if not 1 <= wanted.k <= MOST_K:
        raise ArgumentError(f"The number of results is {wanted.k}.", fix=f"Use 1 to {MOST_K}.")
    if len(wanted.encoders) > MOST_ENCODERS:
        raise ArgumentError(
            f"The address names {len(wanted.encoders)} encoders.", fix=f"Compare at most {MOST_ENCODERS}."
        )
