"""Images of the catalog for programs: add, remove. A change is searchable when its request is answered."""

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request

from lookalike.core.errors import ArgumentError
from lookalike.core.text import plural
from lookalike.web.access.dependencies import ActorPart, SitePart
from lookalike.web.openapi import PROBLEMS
from lookalike.web.routes.api.limits import CATALOG_PROGRAMS, ServicePart
from lookalike.web.routes.api.schemas import (
    MOST_IMAGES,
    CatalogChanged,
    Id,
    ImageToAdd,
    from_fields,
    upload_body,
)
from lookalike.web.serving.photos import require_photo, sent_photo
from lookalike.workflows.start.uploads import NewImage

lead_router = APIRouter(prefix="/api/v1", dependencies=CATALOG_PROGRAMS, tags=["catalog"], responses=PROBLEMS)


@lead_router.post("/images", openapi_extra=upload_body(ImageToAdd))
async def add(request: Request, site: SitePart, by: ActorPart, service: ServicePart) -> CatalogChanged:
    """Add a photo to the catalog, or replace one. It is kept in the workspace until the image is removed.

    Images that are sent at the same time are added in one change, which is faster.
    """
    async with service.upload():
        photo = await sent_photo(request)
        sent: ImageToAdd = from_fields(ImageToAdd, dict(photo.fields))
        most = min(site.options.upload_megapixels, site.workspace.settings.max_megapixels)
        kind = await service.photos.run(lambda: require_photo(photo.content, most).kind)
    pairs = [one.partition("=") for one in sent.set]
    if not all(name and sign for name, sign, _ in pairs):
        raise ArgumentError('A value of "set" is not COLUMN=VALUE.', fix="Write it as COLUMN=VALUE.")
    values = {name: value for name, _, value in pairs}
    about = sent.model_dump(include={"image", "item", "category", "role", "replace"})
    changed, stale = await service.add(NewImage(photo.content, kind, values=values, **about))
    await site.write(lambda connection: by.log(connection, "added image", sent.image))
    return CatalogChanged(images=changed.images, stale=list(stale))


@lead_router.delete("/images")
async def remove(
    site: SitePart,
    by: ActorPart,
    service: ServicePart,
    image: Annotated[list[Id], Query(min_length=1, max_length=MOST_IMAGES, description="Ids of images.")],
) -> CatalogChanged:
    """Remove images from the catalog. Photos that programs added are deleted; votes and labels are kept."""
    changed, stale = await service.remove(image)
    subject = plural(len(image), "image") if len(image) > 1 else image[0]
    await site.write(lambda connection: by.log(connection, "removed images", subject))
    return CatalogChanged(images=changed.images, stale=list(stale))
