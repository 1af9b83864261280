"""Finding images of the catalog by words, for people who choose a pair."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, case, or_, select

from lookalike.store.sql.labelling_schema import example, gold, question
from lookalike.store.sql.schema import image

MOST_WORDS = 8


@dataclass(frozen=True)
class FoundImage:
    """An image of the catalog, its item and its category."""

    image: str
    item: str
    category: str


_FOUND = select(image.c.image, image.c.item, image.c.category)
_PLACES = (image.c.image, image.c.item, image.c.category)


def find_images(connection: Connection, search: str, limit: int) -> tuple[FoundImage, ...]:
    """Images whose id, item or category contain every word, whatever its case. An image with this id comes first.

    Without words: the images of the newest gold pairs and examples, or else the first ones of the catalog.
    """
    words = search.split()[:MOST_WORDS]
    if not words:
        return _recent(connection, limit) or _read(connection, _FOUND.order_by(image.c.row).limit(limit))
    statement = _FOUND.where(
        *(or_(*(one.icontains(word, autoescape=True) for one in _PLACES)) for word in words)
    )
    exact = case((image.c.image == search, 0), else_=1)
    return _read(connection, statement.order_by(exact, image.c.row).limit(limit))


def _recent(connection: Connection, limit: int) -> tuple[FoundImage, ...]:
    pairs = [
        *connection.execute(
            select(question.c.query, question.c.candidate)
            .join(gold, gold.c.question == question.c.id)
            .order_by(gold.c.at.desc(), question.c.id.desc())
            .limit(limit)
        ),
        *connection.execute(
            select(example.c.query, example.c.candidate).order_by(example.c.place.desc()).limit(limit)
        ),
    ]
    order = list(dict.fromkeys(one for pair in pairs for one in pair))[:limit]
    found = {one.image: one for one in _read(connection, _FOUND.where(image.c.image.in_(order)))}
    return tuple(found[one] for one in order if one in found)


def _read(connection: Connection, statement: Select[Any]) -> tuple[FoundImage, ...]:
    return tuple(FoundImage(*row) for row in connection.execute(statement))
