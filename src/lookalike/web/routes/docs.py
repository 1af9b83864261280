"""The JSON interface described: who a token belongs to, the OpenAPI description, and a page made from it."""

import json
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from lookalike.web.access.dependencies import SIGNED_IN, PersonPart
from lookalike.web.pages.render import page

router = APIRouter(prefix="/api", dependencies=SIGNED_IN, tags=["account"])
METHODS = ("get", "post", "put", "delete")


class Me(BaseModel):
    """The owner of a token."""

    id: int
    name: str
    role: str


@router.get("/me")
def me(person: PersonPart) -> Me:
    """The owner of the token that you send."""
    return Me(id=person.id, name=person.name, role=person.role)


@router.get("/openapi.json", include_in_schema=False)
def description(request: Request) -> dict[str, Any]:
    """The OpenAPI description of this interface."""
    described: dict[str, Any] = request.app.openapi()
    return described


@router.get("/docs", include_in_schema=False)
def docs_page(request: Request) -> Response:
    """Every address with its request and its answer, made from the OpenAPI description."""
    described = request.app.openapi()
    parts = described.get("components", {}).get("schemas", {})
    groups: dict[str, list[dict[str, Any]]] = {}
    for path, methods in described["paths"].items():
        for method in METHODS:
            if method in methods:
                one = methods[method]
                groups.setdefault(one.get("tags", ["other"])[0], []).append(_route(path, method, one, parts))
    return page(request, "docs.html.j2", groups=groups)


def _route(path: str, method: str, one: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    request = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    answer = one["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema")
    return {
        "path": path,
        "method": method.upper(),
        "words": one.get("description") or one.get("summary", ""),
        "parameters": [(name["name"], _shape(name["schema"], parts)) for name in one.get("parameters", ())],
        "request": json.dumps(_shape(request, parts), indent=1, ensure_ascii=False) if request else "",
        "answer": json.dumps(_shape(answer, parts), indent=1, ensure_ascii=False) if answer else "",
    }


def _shape(schema: dict[str, Any], parts: dict[str, Any]) -> Any:  # noqa: ANN401 - nested as the schema is
    """A schema as an example of its shape: names, with types in place of values."""
    if "$ref" in schema:
        schema = parts[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return " or ".join(str(_shape(one, parts)) for one in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return " | ".join(map(str, schema.get("enum") or [schema["const"]]))
    if "properties" in schema:
        return {name: _shape(one, parts) for name, one in schema["properties"].items()}
    if schema.get("type") == "array":
        return [_shape(schema["items"], parts)]
    kind = schema.get("type", "anything")
    return " or ".join(kind) if isinstance(kind, list) else kind
