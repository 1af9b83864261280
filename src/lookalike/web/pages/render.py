"""Pages from templates. Every value is escaped, and every page knows the person who reads it."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from lookalike.annotate.protocol import DISCUSSION, EXCLUDED, OPEN, SETTLED
from lookalike.core import text
from lookalike.web.pages.status import headers_of, status_of
from lookalike.web.site import site_of

STATIC = Path(__file__).parents[1] / "static"
NAVIGATION = (
    ("Search", "/search", False),
    ("Map", "/map", False),
    ("Results", "/results", True),
    ("Catalog", "/catalog", False),
    ("Label", "/label", False),
    ("Discuss", "/discuss", False),
    ("Team", "/team", False),
    ("Guidelines", "/guidelines", False),
    ("Plan", "/plan", True),
)
"""Words, address, and whether it is for leads only."""

STATE_WORDS = {OPEN: "open", DISCUSSION: "in discussion", SETTLED: "resolved", EXCLUDED: "excluded"}

NUMBERS = {
    "count": text.count,
    "plural": text.plural,
    "coefficient": text.coefficient,
    "duration": text.duration,
    "hours": text.hours,
    "percent": partial(text.percent, decimals=0, missing=text.DASH),
    "small_percent": partial(text.percent, missing=text.DASH),
    "value": text.value,
}
"""How templates write numbers."""


def page(
    request: Request,
    template: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    **values: Any,  # noqa: ANN401 - values of the template
) -> HTMLResponse:
    """A page for the sender of the request; one that shows a `failure` has its status."""
    failure = values.get("failure")
    if failure is not None and status == 200:
        status, headers = status_of(failure), headers_of(failure) | dict(headers or {})
    body = environment().get_template(template).render(**(_shared(request) | values))
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
    """The templates. An undefined name is an error, not an empty string."""
    made = Environment(
        loader=PackageLoader("lookalike.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"static": static, "moment": moment, "state_words": STATE_WORDS} | NUMBERS
    return made


@cache
def static(name: str) -> str:
    """The address of a static file. Other content has another address."""
    return f"/static/{name}?v={hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:8]}"


def moment(milliseconds: int | None) -> str:
    """A time in UTC; "" for none.

    >>> moment(0)
    '1970-01-01 00:00 UTC'
    """
    if milliseconds is None:
        return ""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
