"""Forms: their fields, and the answer when one is sent."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, TypeVar
from urllib.parse import unquote

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lookalike.core.errors import ArgumentError, LookalikeError
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
    labels: Mapping[str, str] | None = None,
) -> Response:
    """Do what a form asks and redirect to `then`; where it is refused, show the page `again` with the error.

    The error names the fields by `labels`, or by their titles.
    """
    try:
        await action(model(**form))
    except LookalikeError as error:
        if must_be_raised(error):
            raise
        return await run_in_threadpool(again, labelled(error, labels or titles(model)))
    return RedirectResponse(then, 303)


def with_chosen_images(form: Mapping[str, str]) -> dict[str, str]:
    """A form with the two images of a pair, typed or chosen.

    Those chosen are also sent percent-encoded: browsers send a line break of an id as two characters, and none of a
    text field. What was typed since then counts.

    >>> with_chosen_images({"query": " a.jpg ", "candidate": "b.jpg", "candidate_chosen": "b%0A.jpg"})
    {'query': 'a.jpg', 'candidate': 'b\\n.jpg'}
    >>> with_chosen_images({"query": "c.jpg", "query_chosen": "b%0A.jpg"})["query"]
    'c.jpg'
    """
    found = dict(form)
    for name in ("query", "candidate"):
        chosen, typed = unquote(found.pop(f"{name}_chosen", "")), found.get(name, "").strip()
        field = chosen.replace("\r", "").replace("\n", "").strip()  # the text that a field shows of it
        found[name] = chosen if typed in ("", field) else typed
    return found


def titles(model: type[Declared]) -> dict[str, str]:
    """The title of each field that has one, by the name that forms and programs use."""
    fields = model.model_fields.items()
    return {field.alias or name: field.title for name, field in fields if field.title}


def labelled(error: LookalikeError, labels: Mapping[str, str]) -> LookalikeError:
    """An error that names fields by the labels of the page: people do not see the names that programs use.

    >>> labelled(ArgumentError('"least" is 3, but "most" is 2.', fix="Correct them."), {"least": "Minimum"}).problem
    '"Minimum" is 3, but "most" is 2.'
    """
    if not isinstance(error, ArgumentError):
        return error
    problem = error.problem
    for name, label in labels.items():
        problem = problem.replace(f'"{name}" ({label})', f'"{label}"').replace(f'"{name}"', f'"{label}"')
    return ArgumentError(problem, fix=error.fix, code=error.code)
