"""What programs ask: who their token belongs to, and the description of everything they may ask."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request

from lookalike.web.deps import SIGNED_IN, PersonPart

router = APIRouter(prefix="/api", dependencies=SIGNED_IN, tags=["account"])


class Me(BaseModel):
    """Who asks."""

    id: int
    name: str
    role: str


@router.get("/me")
def me(person: PersonPart) -> Me:
    """Whose token this is."""
    return Me(id=person.id, name=person.name, role=person.role)


@router.get("/openapi.json", include_in_schema=False)
def description(request: Request) -> dict[str, Any]:
    """The OpenAPI description of this interface."""
    described: dict[str, Any] = request.app.openapi()
    return described
