"""Search for programs: by the id of a catalog image, by many ids, by a photo."""

import io
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from lookalike.catalog.photos.boxes import box_of
from lookalike.web.openapi import PROBLEMS
from lookalike.web.routes.api.limits import PROGRAMS, ServicePart, spend
from lookalike.web.routes.api.schemas import (
    BatchFound,
    BatchSearch,
    EncoderShown,
    ImageSearch,
    PhotoSearch,
    SearchFound,
    from_fields,
    search_found,
    upload_body,
)
from lookalike.web.serving.photos import require_photo, sent_photo
from lookalike.web.site import site_of
from lookalike.workflows.search.searcher import SearchAnswer

router = APIRouter(prefix="/api/v1", dependencies=PROGRAMS, tags=["search"], responses=PROBLEMS)


@router.get("/encoders")
async def encoders(request: Request, service: ServicePart) -> list[EncoderShown]:
    """The encoders that have vectors."""
    names = await run_in_threadpool(lambda: site_of(request).workspace.encoders)
    known = service.searchers
    return [EncoderShown(name=one, served=one == known.served, loaded=one in known.loaded) for one in names]


@router.get("/search")
async def by_image(sent: Annotated[ImageSearch, Query()], service: ServicePart) -> SearchFound:
    """The K most similar distinct items for an image of the catalog. Its own item is left out."""
    where = sent.where
    searcher, loaded = await service.searchers.get(sent.encoder)
    answer = await service.searches.run(partial(searcher.by_image, sent.image, sent.k, where))
    return search_found(searcher, answer, loaded=loaded, stale=searcher.name in service.searchers.stale)


@router.post("/search")
async def by_images(request: Request, sent: BatchSearch, service: ServicePart) -> BatchFound:
    """The same for several images. Each counts as one request."""
    spend(request, len(sent.images) - 1)
    where = sent.where
    searcher, loaded = await service.searchers.get(sent.encoder)
    found = await service.batches.run(partial(searcher.many, sent.images, sent.k, where))
    return BatchFound(
        answers=[
            search_found(searcher, one, loaded=loaded, stale=searcher.name in service.searchers.stale)
            for one in found
        ]
    )


@router.post("/search/photo", openapi_extra=upload_body(PhotoSearch))
async def by_photo(request: Request, service: ServicePart) -> SearchFound:
    """The K most similar distinct items for a photo, or for the part of it in a box. The photo is not kept.

    Send the bytes of the photo as the body, with the options in the address; or a multipart form.
    """
    async with service.upload():
        photo = await sent_photo(request)
        sent: PhotoSearch = from_fields(PhotoSearch, dict(photo.fields))
        box, where = box_of(sent.box), sent.where
        searcher, loaded = await service.searchers.get(sent.encoder)
        most = site_of(request).options.upload_megapixels

        def work() -> SearchAnswer:
            require_photo(photo.content, most, box)
            return searcher.by_photo(io.BytesIO(photo.content), sent.k, where, box=box, name="photo")

        return search_found(
            searcher,
            await service.photos.run(work),
            loaded=loaded,
            stale=searcher.name in service.searchers.stale,
        )
