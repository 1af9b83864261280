"""For leads: the photos that the catalog leaves out, with the reasons."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from lookalike.store.sql.left_out import left_out_kinds, left_out_page
from lookalike.web.access.dependencies import LARGEST, LEADS, SitePart
from lookalike.web.pages.render import page

router = APIRouter(prefix="/catalog", dependencies=LEADS, include_in_schema=False)
ROWS = 100
LEFT_OUT = "/catalog/left-out"
Kind = Annotated[str, Query(max_length=200)]
After = Annotated[int, Query(ge=-1, le=LARGEST)]


@router.get("/left-out")
def left_out(request: Request, site: SitePart, kind: Kind = "", after: After = -1) -> Response:
    """The photos, of one kind of reason or of all, some hundred at a time."""
    kinds, found = site.database.fetch(
        lambda connection: (left_out_kinds(connection), left_out_page(connection, kind, after, ROWS))
    )
    following = (
        None if found.after is None else f"{LEFT_OUT}?{urlencode({'kind': kind, 'after': found.after})}"
    )
    return page(
        request,
        "team/left_out.html.j2",
        photos=found.photos,
        kinds=kinds,
        kind=kind,
        total=sum(kinds.values()),
        following=following,
    )
