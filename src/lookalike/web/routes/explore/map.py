"""The map: all images of the catalog as points, in colours that say something, and each selection as a list."""

import json
from typing import Annotated, Any
from urllib.parse import urlencode

import numpy as np
from fastapi import APIRouter, Form, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from lookalike.core.errors import ArgumentError, EmbeddingsError
from lookalike.search.plane import METHODS, has_umap
from lookalike.web.access.dependencies import LARGEST, SIGNED_IN, SitePart
from lookalike.web.background import Job
from lookalike.web.pages.render import page
from lookalike.web.routes.explore.pictures import pictures
from lookalike.web.routes.images import CACHED
from lookalike.web.site import Site
from lookalike.workflows.explore import colours
from lookalike.workflows.explore.map import CatalogMap, make_map_beside

router = APIRouter(prefix="/map", dependencies=SIGNED_IN, include_in_schema=False)
SCALE = 65_535  # coordinates are sent as whole numbers of 16 bits
PAGE, TOP = 48, 5
BINARY = "application/octet-stream"
AGAIN = {"Refresh": "2"}
SPECIAL = {
    colours.LABELS: "Labels: none to many",
    colours.VOTES: "Votes: agree or differ",
    colours.SHOWN: f"Results: never shown in the top {TOP}",
}

Words = Annotated[str, Query(max_length=500)]
Rows = Annotated[list[Annotated[int, Field(ge=0, le=LARGEST)]], Query(max_length=PAGE)]


@router.get("")
def map_page(request: Request, site: SitePart, encoder: Words = "", by: Words = "") -> Response:
    """The page: the map of one encoder. Where it has none yet, principal components are computed in the background."""
    workspace = site.exploring.workspace
    encoders = workspace.encoders
    best = site.service.searchers.served
    chosen = encoder or (best if best in encoders else next(iter(encoders), ""))
    columns = list(colours.columns_of(workspace.catalog))
    by = by or next(iter(columns), colours.LABELS)
    found, problem, work = None, None, None
    try:
        found = site.exploring.map(chosen) if chosen else None
        work = site.exploring.background.jobs.get(("map", chosen))
        if chosen and found is None and (work is None or work.outcome is None):
            work = _begin(site, chosen, "pca")
    except EmbeddingsError as error:
        problem = error
    failure = None if work is None or work.outcome is None else work.outcome.failure
    running = work is not None and work.outcome is None
    return page(
        request,
        "explore/map.html.j2",
        headers=AGAIN if running and found is None else {},
        encoders=encoders,
        encoder=chosen,
        columns=columns,
        special=SPECIAL,
        by=by,
        found=found,
        version="" if found is None else site.exploring.map_version(found),
        work=work if running else None,
        problem=problem or ({"problem": failure[0], "fix": failure[1]} if failure else None),
        has_umap=has_umap(),
        images=len(workspace.catalog),
    )


@router.post("")
def compute(
    site: SitePart, encoder: Annotated[str, Form()], method: Annotated[str, Form()] = "umap"
) -> Response:
    """Begin to compute coordinates in the background."""
    site.exploring.workspace.manifest(encoder)
    if method not in METHODS:
        raise ArgumentError(f"Unknown method: {method!r}.", fix=f"Use one of: {', '.join(METHODS)}.")
    _begin(site, encoder, method)
    return RedirectResponse(f"/map?{urlencode({'encoder': encoder})}", 303)


@router.get("/points")
def points(site: SitePart, encoder: Words, v: Words = "") -> Response:
    """The coordinates in catalog order: two whole numbers of 16 bits for each image, x then y, little end first."""
    found = _known(site, encoder, v)
    low, high = found.places.min(0), found.places.max(0)
    side = max(float((high - low).max()), np.finfo(np.float32).tiny)
    margin = (side - (high - low)) / 2  # the smaller side is in the middle
    scaled = np.rint((found.places - low + margin) / side * SCALE).clip(0, SCALE).astype("<u2")
    return Response(scaled.tobytes(), media_type=BINARY, headers={"Cache-Control": CACHED})


@router.get("/colours")
def colouring(site: SitePart, encoder: Words, by: Words, v: Words = "") -> Response:
    """The length of JSON in 4 bytes, the groups as JSON, then a byte for each image; 202 while it is computed."""
    _known(site, encoder, v)
    found = coloured(site, encoder, by)
    if isinstance(found, Job):
        failure = None if found.outcome is None else found.outcome.failure
        return JSONResponse({"failure": failure}, 202)
    head = {"title": found.title, "groups": found.groups, "sizes": found.sizes, "marked": found.marked}
    text = json.dumps(head).encode()
    return Response(len(text).to_bytes(4, "little") + text + found.code.tobytes(), media_type=BINARY)


@router.get("/images")
def images(request: Request, site: SitePart, encoder: Words, row: Rows, v: Words = "") -> Response:
    """Some images by their rows, as a part of the page."""
    _known(site, encoder, v)
    catalog = site.exploring.workspace.catalog
    listed = [one for one in row if one < len(catalog)]
    return page(request, "explore/map_images.html.j2", images=pictures(catalog, listed))


@router.get("/list")
def listing(
    request: Request,
    site: SitePart,
    by: Words,
    encoder: Words = "",
    group: Words = "",
    after: Annotated[int, Query(ge=0, le=LARGEST)] = 0,
) -> Response:
    """The images of a group as a page of its own, without a map."""
    catalog = site.exploring.workspace.catalog
    found = coloured(site, encoder, by)
    if isinstance(found, Job):
        failure = None if found.outcome is None else found.outcome.failure
        problem = {"problem": failure[0], "fix": failure[1]} if failure else None
        shown: dict[str, Any] = {"groups": [], "images": [], "total": 0, "following": "", "group": ""}
        shown |= {"title": "result lists", "work": found, "problem": problem}
        headers = {} if failure else AGAIN
        return page(request, "explore/map_list.html.j2", headers=headers, by=by, encoder=encoder, **shown)
    group = group or found.groups[0]
    rows = np.flatnonzero(found.code == found.groups.index(group)) if group in found.groups else np.empty(0)
    more = {"by": by, "encoder": encoder, "group": group, "after": after + PAGE}
    return page(
        request,
        "explore/map_list.html.j2",
        by=by,
        encoder=encoder,
        group=group,
        title=found.title,
        work=None,
        problem=None,
        groups=[
            (name, size, f"/map/list?{urlencode({'by': by, 'encoder': encoder, 'group': name})}")
            for name, size in zip(found.groups, found.sizes, strict=True)
        ],
        images=pictures(catalog, rows[after : after + PAGE].tolist()),
        total=len(rows),
        following=f"/map/list?{urlencode(more)}" if after + PAGE < len(rows) else "",
    )


def coloured(site: Site, encoder: str, by: str) -> colours.Colouring | Job:
    """Images in groups; where these take long, the computation until its end, or one that failed."""
    workspace = site.exploring.workspace
    if by in colours.COLOURS:
        return colours.COLOURS[by](workspace)
    if by != colours.SHOWN:
        return colours.by_column(workspace.catalog, by)
    key = ("shown", encoder, site.exploring.now().version, workspace.manifest(encoder))
    work = site.exploring.background.jobs.get(key)
    if work is None:
        given = (workspace.folder, encoder, TOP)
        work = site.exploring.background.start(key, colours.shown_times, *given)
    outcome = work.outcome
    if outcome is None or outcome.failure is not None:
        return work
    return colours.by_shown(workspace.catalog, outcome.value)


def _begin(site: Site, encoder: str, method: str) -> Job:
    folder = site.workspace.folder
    return site.exploring.background.start(("map", encoder), make_map_beside, folder, encoder, method)


def _known(site: Site, encoder: str, version: str) -> CatalogMap:
    """The map that a page shows. Raises ArgumentError where the page is of another one."""
    found = site.exploring.map(encoder)
    if found is None or (version and version != site.exploring.map_version(found)):
        raise ArgumentError("The map has changed since this page was opened.", fix="Reload the page.")
    return found
