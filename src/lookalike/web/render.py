"""Pages from templates: everything is escaped, and every page knows who reads it."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from lookalike.web import words
from lookalike.web.site import site_of

STATIC = Path(__file__).parent / "static"
NAVIGATION = (
    ("Label", "/label", False),
    ("Discuss", "/discuss", False),
    ("Team", "/team", False),
    ("Guidelines", "/guidelines", False),
    ("Plan", "/plan", True),
)
"""Words, address, and whether it is for leads only."""


def page(
    request: Request,
    template: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,  # noqa: ANN401 - whatever the template shows
) -> HTMLResponse:
    """A page for whoever asks."""
    shared = _shared(request)
    body = environment().get_template(template).render(**(shared | values))
    return HTMLResponse(body, status, dict(headers or {}))


def _shared(request: Request) -> dict[str, Any]:
    state = request.state
    person, session = getattr(state, "person", None), getattr(state, "session", None)
    path = request.url.path
    leads = person is not None and person.is_lead
    return {
        "person": person,
        "csrf": "" if session is None else session.csrf(site_of(request).key),
        "navigation": [
            {"words": words, "address": address, "here": path == address or path.startswith(f"{address}/")}
            for words, address, for_leads in NAVIGATION
            if leads or not for_leads
        ],
        "path": path,
    }


@cache
def environment() -> Environment:
    """The templates; a name that is not there is an error and not an empty place."""
    made = Environment(
        loader=PackageLoader("lookalike.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["static"] = static
    made.filters["moment"] = moment
    for filter in (words.percent, words.coefficient, words.between, words.hours, words.number):
        made.filters[filter.__name__] = filter
    return made


@cache
def static(name: str) -> str:
    """The address of a file of ours; another content has another address."""
    return f"/static/{name}?v={hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:8]}"


def moment(milliseconds: int | None) -> str:
    """A time as people read it, in UTC; "" for none.

    >>> moment(0)
    '1970-01-01 00:00 UTC'
    """
    if milliseconds is None:
        return ""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
