"""`create_app`: the labelling app of one workspace."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.staticfiles import StaticFiles

import lookalike
from lookalike.store.workspace import Workspace
from lookalike.web.failures import handle_failures
from lookalike.web.labelling import Labelling, labelling_runs
from lookalike.web.render import STATIC
from lookalike.web.routes import (
    account,
    api,
    campaign,
    campaign_api,
    discuss,
    discuss_api,
    docs,
    gold,
    guidelines,
    guidelines_api,
    images,
    label,
    label_api,
    people,
    plan,
    team,
)
from lookalike.web.safety import BodyLimit, KnownHosts, NoTraceback, StrictHeaders
from lookalike.web.sessions import SessionCookies
from lookalike.web.site import Options, Site

ROUTERS = (  # routes are looked through in this order: first those that are asked for a hundred times a second
    label_api.router,
    images.router,
    label.router,
    account.open_router,
    account.router,
    people.router,
    team.router,
    plan.router,
    api.router,
    discuss.router,
    discuss_api.router,
    guidelines.router,
    guidelines.lead_router,
    gold.router,
    campaign.router,
    guidelines_api.router,
    guidelines_api.lead_router,
    campaign_api.router,
    docs.router,
)


def create_app(workspace: Workspace, options: Options | None = None) -> FastAPI:
    """The app; it opens its database and its threads when the server starts it, and closes them at the end."""
    site = Site.of(workspace, options or Options())
    app = FastAPI(
        title="Lookalike",
        version=lookalike.__version__,
        openapi_url=None,  # served by routes/api.py, to people only
        docs_url=None,
        redoc_url=None,
        lifespan=_life,
        middleware=[
            Middleware(StrictHeaders, https=site.options.https),
            Middleware(NoTraceback),
            Middleware(KnownHosts, hosts=site.options.hosts),
            Middleware(BodyLimit, most=site.options.body_limit),
            Middleware(SessionCookies, https=site.options.https),
        ],
    )
    app.state.site = site
    app.state.labelling = Labelling(site)
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
        async with labelling_runs(app.state.labelling):
            yield
    finally:
        site.close()
