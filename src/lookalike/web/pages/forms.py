"""Forms: their fields, and the answer when one is sent."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, TypeVar

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.core.errors import LookalikeError
from lookalike.core.settings import Declared
from lookalike.web.access.dependencies import CSRF_FIELD
from lookalike.web.pages.status import must_be_raised

M = TypeVar("M", bound=Declared)


async def form_fields(request: Request) -> dict[str, str]:
    """The text fields of a form, without its CSRF token."""
    sent = (await request.form()).items()
    return {name: value for name, value in sent if name != CSRF_FIELD and isinstance(value, str)}


FormPart = Annotated[dict[str, str], Depends(form_fields)]


async def submitted(
    model: type[M],
    form: Mapping[str, str],
    action: Callable[[M], Awaitable[object]],
    then: str,
    again: Callable[[LookalikeError], Response],
) -> Response:
    """Do what a form asks and redirect to `then`; where it is refused, show the page `again` with the error."""
    try:
        await action(model(**form))
    except LookalikeError as error:
        if must_be_raised(error):
            raise
        return await run_in_threadpool(again, error)
    return RedirectResponse(then, 303)
