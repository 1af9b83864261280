"""Health of the server for load balancers, and metrics for Prometheus."""

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from lookalike.web.access.dependencies import SIGNED_IN, SitePart

open_router = APIRouter(tags=["server"])
router = APIRouter(dependencies=SIGNED_IN, tags=["server"])


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
    service, shown = site.service, site.metrics
    shown.ready.set(not service.searchers.problem)
    for work, pool in (("search", service.searches), ("batch", service.batches), ("photo", service.photos)):
        shown.busy.labels(work).set(pool.busy)
    shown.busy.labels("upload").set(service.uploads)
    shown.loaded.clear()
    for name, one in service.searchers.loaded.items():
        served = str(name == service.searchers.served).lower()
        shown.loaded.labels(name, served).set(len(one.catalog))
    return shown.answer()
