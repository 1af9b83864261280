"""A small shop with vectors behind a real server, and programs with tokens for it."""

import contextlib
import io
import time
from collections.abc import Iterator
from pathlib import Path

import requests
from labelling_app import LEA, Client, Shop, serving_shop
from PIL import Image
from sqlalchemy import select

from lookalike.core.clock import now_ms
from lookalike.store.people import access
from lookalike.store.sql.labelling_schema import annotator
from lookalike.store.workspace import Workspace

ENCODER = "descriptor:color"


def with_token(shop: Shop, scope: str, owner: str = LEA) -> Client:
    """A program with a token of that scope."""
    token = access.new_token()
    with shop.workspace.database.write() as connection:
        who = connection.execute(select(annotator.c.id).where(annotator.c.name == owner)).scalar_one()
        access.create_token(connection, who, "program", token, now_ms(), scope=scope)
    made = Client(shop.address)
    made.headers["Authorization"] = f"Bearer {token}"
    return made


def ready(shop: Shop) -> dict:
    """Wait until the served encoder is warm."""
    for _ in range(600):
        answer = requests.get(f"{shop.address}/readyz", timeout=30)
        if answer.status_code == 200:
            return answer.json()
        time.sleep(0.1)
    raise AssertionError(answer.text)


@contextlib.contextmanager
def serving_ready(workspace: Workspace) -> Iterator[Shop]:
    """Serve, and wait until searches are answered."""
    with serving_shop(workspace) as shop:
        ready(shop)
        yield shop


def photo_of(workspace: Workspace, row: int) -> bytes:
    """The file of a catalog photo."""
    return (Path(workspace.photos) / workspace.catalog.path[row]).read_bytes()


def as_file(image: Image.Image, kind: str = "PNG", **more: object) -> bytes:
    """An image as a file."""
    written = io.BytesIO()
    image.save(written, kind, **more)
    return written.getvalue()
