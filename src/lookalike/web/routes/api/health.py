"""Health of the server for load balancers, and metrics for Prometheus."""

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from lookalike.web.access.dependencies import SIGNED_IN, SitePart
from lookalike.web.serving.metrics import MEDIA_TYPE, Labels

open_router = APIRouter(tags=["server"])
router = APIRouter(dependencies=SIGNED_IN, tags=["server"])
GAUGES = {
    "lookalike_ready": "1: the served encoder is loaded.",
    "lookalike_busy": "Searches, photos and uploads that run or wait.",
    "lookalike_loaded_images": "Images that a loaded encoder searches.",
}


class Health(BaseModel):
    """Whether the server can answer, and what is missing if not."""

    ok: bool
    encoder: str = ""
    problem: str = ""


@open_router.get("/healthz")
async def alive() -> Health:
    """The process answers."""
    return Health(ok=True)


@open_router.get(
    "/readyz", response_model=Health, responses={503: {"model": Health, "description": "Not ready."}}
)
async def ready(site: SitePart) -> Response:
    """The served encoder is loaded, with its index. A workspace without an encoder is not ready to search."""
    known = site.service.searchers
    health = Health(ok=not known.problem, encoder=known.served, problem=known.problem)
    return JSONResponse(health.model_dump(), 200 if health.ok else 503)


@router.get("/metrics", response_class=Response)
async def metrics(site: SitePart) -> Response:
    """Requests, their times, and the state of search, in the text format of Prometheus."""
    service = site.service
    loaded: dict[Labels, float] = {
        (("encoder", name), ("served", str(name == service.searchers.served).lower())): len(one.catalog)
        for name, one in service.searchers.loaded.items()
    }
    busy = {
        "search": service.searches.busy,
        "batch": service.batches.busy,
        "photo": service.photos.busy,
        "upload": service.uploads,
    }
    gauges: dict[str, dict[Labels, float]] = {
        "lookalike_ready": {(): float(not service.searchers.problem)},
        "lookalike_busy": {(("work", name),): count for name, count in busy.items()},
        "lookalike_loaded_images": loaded,
    }
    return Response(site.metrics.text(gauges, GAUGES), media_type=MEDIA_TYPE)
