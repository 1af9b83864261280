"""The description of the interface for programs, as a page of our own: no script, nothing from another host."""

import json
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from lookalike.web.deps import SIGNED_IN
from lookalike.web.render import page

router = APIRouter(dependencies=SIGNED_IN, include_in_schema=False)
METHODS = ("get", "post", "put", "delete")


@router.get("/api/docs")
def docs_page(request: Request) -> Response:
    """Every address, what it takes and what it answers, made from the OpenAPI description."""
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
    sent = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    answer = one["responses"].get("200", {}).get("content", {}).get("application/json", {}).get("schema")
    return {
        "path": path,
        "method": method.upper(),
        "words": one.get("description") or one.get("summary", ""),
        "parameters": [(name["name"], _words(name["schema"], parts)) for name in one.get("parameters", ())],
        "sent": json.dumps(_words(sent, parts), indent=1, ensure_ascii=False) if sent else "",
        "answer": json.dumps(_words(answer, parts), indent=1, ensure_ascii=False) if answer else "",
    }


def _words(schema: dict[str, Any], parts: dict[str, Any]) -> Any:  # noqa: ANN401 - nested as the schema is
    """A schema as an example of its shape: names, and in place of values their types."""
    if "$ref" in schema:
        schema = parts[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return " or ".join(str(_words(one, parts)) for one in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return " | ".join(map(str, schema.get("enum") or [schema["const"]]))
    if "properties" in schema:
        return {name: _words(one, parts) for name, one in schema["properties"].items()}
    if schema.get("type") == "array":
        return [_words(schema["items"], parts)]
    kind = schema.get("type", "anything")
    return " or ".join(kind) if isinstance(kind, list) else kind
