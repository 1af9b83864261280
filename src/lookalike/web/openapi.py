"""OpenAPI descriptions of the labelling routes, which read and write JSON themselves, and of errors."""

from typing import Any

from pydantic import BaseModel


class Wrong(BaseModel):
    """An error and what to do."""

    kind: str
    code: str
    problem: str
    fix: str


class Problem(BaseModel):
    """The answer to a request that failed."""

    error: Wrong


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": words}
    for status, words in {
        400: "A value is invalid.",
        401: "You are not logged in, or the token is not valid.",
        403: "Your role does not allow this, or the account was removed.",
        404: "The object does not exist.",
        409: "The labelling rules do not allow this. `code` names the rule.",
        413: "The request is too large.",
        422: "A value is invalid or missing.",
        429: "Too many attempts. Retry-After gives the waiting time in seconds.",
        503: "The database is not available. Retry-After gives the waiting time in seconds.",
    }.items()
}


def described(
    answered: Any,  # noqa: ANN401 - a type
    *,
    sent: type[BaseModel] | None = None,
    query: type[BaseModel] | None = None,
) -> dict[str, Any]:
    """Arguments of a labelling route: the types of its answer, of the body and of the query of the request."""
    extra: dict[str, Any] = {}
    if sent is not None:
        content = {"application/json": {"schema": sent.model_json_schema()}}
        extra["requestBody"] = {"required": True, "content": content}
    if query is not None:
        extra["parameters"] = [
            {
                "name": name,
                "in": "query",
                "required": False,
                "schema": schema,
                "description": schema["description"],
            }
            for name, schema in query.model_json_schema()["properties"].items()
        ]
    return {"response_model": answered, "responses": PROBLEMS, "openapi_extra": extra}
