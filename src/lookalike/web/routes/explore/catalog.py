"""The state of the catalog: its parts, splits, duplicates, photos left out, and encoders that are stale."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from lookalike.core.types import SPLITS
from lookalike.encode.spec import parse, without_folders
from lookalike.store.promotions import promoted
from lookalike.store.sql.left_out import left_out_kinds
from lookalike.web.access.dependencies import LARGEST, SIGNED_IN, SitePart
from lookalike.web.pages.render import page
from lookalike.web.routes.explore.pictures import pictures
from lookalike.workflows.explore.colours import by_column, columns_of
from lookalike.workflows.start.status import duplicates, encoder_status

router = APIRouter(prefix="/catalog", dependencies=SIGNED_IN, include_in_schema=False)
GROUPS, MOST_PHOTOS = 12, 8
After = Annotated[int, Query(ge=0, le=LARGEST)]


@router.get("")
def catalog_page(request: Request, site: SitePart) -> Response:
    """The catalog in figures, each with a link to its pictures."""
    workspace = site.exploring.workspace
    catalog = workspace.catalog
    columns = {
        name: list(zip(found.groups, found.sizes, strict=True))
        for name in columns_of(catalog)
        if name != "split" and (found := by_column(catalog, name))
    }
    images = workspace.catalog.images_fingerprint
    encoders = [encoder_status(workspace, name, images) for name in workspace.encoders]
    return page(
        request,
        "explore/catalog.html.j2",
        images=len(catalog),
        items=len(catalog.item_codes[0]),
        queries=int(catalog.is_query().sum()),
        candidates=int(catalog.is_gallery().sum()),
        splits=[(name, int((catalog.split == name).sum())) for name in SPLITS],
        columns=columns,
        duplicates=duplicates(catalog),
        left_out=site.database.fetch(left_out_kinds),
        encoders=encoders,
        served=site.service.searchers.served,
        promoted=site.database.fetch(promoted) is not None,
        specs={one.name: str(without_folders(parse(one.spec))) if one.spec else "" for one in encoders},
        is_stale=any(one.state.startswith("stale") for one in encoders),
        listing=lambda by, group: f"/map/list?{urlencode({'by': by, 'group': group})}",
    )


@router.get("/duplicates")
def duplicates_page(request: Request, site: SitePart, after: After = 0) -> Response:
    """The groups of photos that are one photo, those across items first."""
    catalog = site.exploring.workspace.catalog
    groups = duplicates(catalog).groups
    shown = [
        (group, pictures(catalog, [catalog.row[one.image] for one in group.photos[:MOST_PHOTOS]]))
        for group in groups[after : after + GROUPS]
    ]
    following = f"/catalog/duplicates?after={after + GROUPS}" if after + GROUPS < len(groups) else ""
    return page(
        request,
        "explore/duplicates.html.j2",
        total=len(groups),
        groups=shown,
        following=following,
        kinds={"first": "first photo", "exact": "exact duplicate", "near": "near duplicate"},
    )
