"""Guidelines and gold pairs for programs."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Path
from sqlalchemy import Connection
from starlette.requests import Request

from lookalike.store import guidelines as store
from lookalike.store.access import record
from lookalike.store.gold import gold_pairs, make_gold, remove_gold
from lookalike.web.deps import LEADS, SIGNED_IN, PersonPart, address_of
from lookalike.web.described import PROBLEMS
from lookalike.web.labelling import labelling_of
from lookalike.web.schemas import Done, ExampleIn, ExampleOut, GoldIn, GoldOut, Guidelines, GuidelinesIn

router = APIRouter(prefix="/api", dependencies=SIGNED_IN, tags=["guidelines"], responses=PROBLEMS)
lead_router = APIRouter(prefix="/api", dependencies=LEADS, tags=["guidelines"], responses=PROBLEMS)
Which = Annotated[int, Path(ge=0, lt=1 << 63)]
LABELS = {"similar": 1, "dissimilar": 0}


@router.get("/guidelines")
def guidelines(request: Request) -> Guidelines:
    """What experts label by."""
    with labelling_of(request).site.database.read() as connection:
        text, pairs = store.read_guideline(connection), store.examples(connection)
    return Guidelines(**asdict(text), examples=[ExampleOut(**asdict(one)) for one in pairs])


@lead_router.post("/guidelines")
async def write_guidelines(request: Request, by: PersonPart, sent: GuidelinesIn) -> Done:
    """For leads: a new version; 409 where somebody else has changed them since `based_on`."""
    site = labelling_of(request).site
    now, address = site.now(), address_of(request)

    def write(connection: Connection) -> None:
        version = store.write_guideline(connection, sent.text, by.id, sent.based_on, now)
        record(connection, now, by.id, "guidelines", f"version {version}", address)

    await site.write(write)
    return Done()


@lead_router.post("/guidelines/examples")
async def add_example(request: Request, sent: ExampleIn) -> Done:
    """For leads: show a pair with the guidelines."""
    label = LABELS[sent.label]
    site = labelling_of(request).site
    await site.write(lambda c: store.add_example(c, sent.query, sent.candidate, label, sent.note))
    return Done()


@lead_router.delete("/guidelines/examples/{which}")
async def remove_example(request: Request, which: Which) -> Done:
    """For leads: show a pair no longer."""
    await labelling_of(request).site.write(lambda c: store.remove_example(c, which))
    return Done()


@lead_router.get("/gold", tags=["gold"])
def gold(request: Request) -> list[GoldOut]:
    """For leads: the gold pairs."""
    with labelling_of(request).site.database.read() as connection:
        return [GoldOut(**asdict(one)) for one in gold_pairs(connection)]


@lead_router.post("/gold", tags=["gold"])
async def add_gold(request: Request, by: PersonPart, sent: GoldIn) -> Done:
    """For leads: make a pair a gold pair."""
    site = labelling_of(request).site
    now, address = site.now(), address_of(request)

    def write(connection: Connection) -> None:
        make_gold(connection, sent.query, sent.candidate, sent.answer, sent.note, by.id, now)
        record(connection, now, by.id, "gold", f"{sent.query} · {sent.candidate}: {sent.answer}", address)

    await site.write(write)
    return Done()


@lead_router.delete("/gold/{which}", tags=["gold"])
async def end_gold(request: Request, by: PersonPart, which: Which) -> Done:
    """For leads: make it no gold pair any more."""
    site = labelling_of(request).site
    now, address = site.now(), address_of(request)

    def write(connection: Connection) -> None:
        remove_gold(connection, which)
        record(connection, now, by.id, "gold removed", f"pair {which}", address)

    await site.write(write)
    return Done()
