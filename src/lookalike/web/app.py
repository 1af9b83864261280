"""`create_app`: the labelling app of a workspace."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles

from lookalike.core.version import __version__
from lookalike.store.workspace import Workspace
from lookalike.web.labelling import labelling_runs
from lookalike.web.pages.failures import handle_failures
from lookalike.web.pages.render import STATIC
from lookalike.web.routes import (
    account,
    answers,
    campaign,
    discussions,
    docs,
    gold,
    guidelines,
    images,
    label,
    label_api,
    left_out,
    people,
    plan,
    team,
)
from lookalike.web.routes.api import health, search
from lookalike.web.routes.api import images as api_images
from lookalike.web.routes.explore import catalog as catalog_routes
from lookalike.web.routes.explore import map as map_routes
from lookalike.web.routes.explore import results as results_routes
from lookalike.web.routes.explore import search as search_page
from lookalike.web.safety import Door, SafeAnswers
from lookalike.web.serving.metrics import Measured
from lookalike.web.site import Options, Site

ROUTERS = (  # in the order in which a request is compared with them: the most frequent requests first
    label_api.router,
    images.router,
    label.router,
    search_page.router,
    search_page.upload_router,
    search_page.lead_router,
    account.open_router,
    account.router,
    people.router,
    answers.router,
    answers.api,
    team.router,
    plan.router,
    campaign.router,
    left_out.router,
    campaign.api,
    discussions.router,
    discussions.api,
    guidelines.router,
    guidelines.lead_router,
    guidelines.api,
    guidelines.lead_api,
    gold.router,
    gold.api,
    search.router,
    api_images.lead_router,
    health.router,
    health.open_router,
    map_routes.router,
    results_routes.router,
    catalog_routes.router,
    docs.router,
)


def create_app(workspace: Workspace, options: Options | None = None) -> FastAPI:
    """The app. It opens its database and threads when the server starts, and closes them when it stops."""
    site = Site.of(workspace, options or Options())
    app = FastAPI(
        title="Lookalike",
        version=__version__,
        openapi_url=None,  # served by routes/docs.py, after login only
        docs_url=None,
        redoc_url=None,
        lifespan=_life,
        middleware=[
            Middleware(SafeAnswers, hosts=site.options.hosts, https=site.options.https),
            Middleware(Measured, metrics=site.metrics),
            Middleware(Door, most=site.options.body_limit, most_upload=site.options.upload_limit),
        ],
    )
    app.state.site = site
    handle_failures(app)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    for router in ROUTERS:
        app.include_router(router)
    return app


@asynccontextmanager
async def _life(app: FastAPI) -> AsyncIterator[None]:
    site: Site = app.state.site
    site.open()
    try:
        async with labelling_runs(site), site.service.running():
            yield
    finally:
        site.close()
