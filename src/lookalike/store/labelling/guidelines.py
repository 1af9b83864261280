"""The guidelines for annotators with all their versions, and the example pairs. Version 0 comes with Lookalike."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from lookalike.core.errors import ArgumentError, VoteError
from lookalike.store.sql import schema
from lookalike.store.sql.labelling_schema import annotator, example, guideline

MOST_EXAMPLES, MOST_VERSIONS = 100, 200
FIRST = """\
# What is similar?

Two photos are **similar** when their items look alike in style and design and belong to related kinds. \
You would recommend one as an alternative to the other. Judge only what you see.

Two photos are **dissimilar** when a person who looks for one item would not want to see the other.

## What counts

- Style: period, mood, plain or ornate.
- Design: shape, proportions, parts, material, pattern, colour.
- Relatedness: items of the same kind, for the same use.

## What does not count

- The photo itself: background, light, angle, size of the item in the photo.
- Brand, price, stock.
- The side: Lookalike shows the two photos in random order.

## What if you cannot decide?

Answer **unsure**. That is better than a guess. **Skip** a pair that you cannot see well. \
You or another annotator can get it later. Nobody sees your answer before they have given their own.
"""


@dataclass(frozen=True)
class Guideline:
    """A version of the text. Version 0 comes with Lookalike: its `who` is "" and its `at` None."""

    version: int
    text: str
    who: str = ""
    at: int | None = None


@dataclass(frozen=True)
class Example:
    """A pair shown with the guidelines."""

    id: int
    query: str
    candidate: str
    label: int
    note: str


def read_guideline(connection: Connection, version: int | None = None) -> Guideline:
    """A version of the text; None: the newest."""
    if version == 0:
        return Guideline(0, FIRST)
    found = _VERSIONS if version is None else _VERSIONS.where(guideline.c.id == version)
    row = connection.execute(found.order_by(guideline.c.id.desc()).limit(1)).first()
    if row is None and version is not None:
        raise VoteError(
            "This version does not exist.", fix="Go back to the list of versions.", code="unknown"
        )
    return Guideline(0, FIRST) if row is None else Guideline(*row)


def guideline_versions(connection: Connection) -> tuple[Guideline, ...]:
    """The newest versions first; the one that comes with Lookalike last."""
    rows = connection.execute(_VERSIONS.order_by(guideline.c.id.desc()).limit(MOST_VERSIONS))
    return (*(Guideline(*row) for row in rows), Guideline(0, FIRST))


def write_guideline(connection: Connection, text: str, who: int, based_on: int, now: int) -> int:
    """Keep a new version and return its number. The same text again makes no new version.

    Raises VoteError (code edited) if another person has changed the text since version `based_on`.
    """
    words = text.replace("\r\n", "\n").strip() + "\n"
    newest = read_guideline(connection)
    if words == newest.text:
        return newest.version
    if newest.version != based_on:
        raise VoteError(
            f"{newest.who or 'Somebody'} changed the guidelines after you started to edit.",
            fix="Copy your text, reload the page, and merge both texts.",
            code="edited",
        )
    row = {"text": words, "annotator": who, "at": now}
    return int(connection.execute(insert(guideline).values(row).returning(guideline.c.id)).scalar_one())


def examples(connection: Connection) -> tuple[Example, ...]:
    """The example pairs, in their order."""
    columns = (example.c.id, example.c.query, example.c.candidate, example.c.label, example.c.note)
    found = connection.execute(select(*columns).order_by(example.c.place, example.c.id))
    return tuple(Example(*row) for row in found)


def add_example(connection: Connection, query: str, candidate: str, label: int, note: str) -> None:
    """Show a pair of the catalog with the guidelines. A pair that is shown already gets the new note and label."""
    if len(known_images(connection, query, candidate)) < 2:
        raise VoteError(
            "These images are not in the catalog.", fix="Choose a pair from the list.", code="unknown"
        )
    pair = (example.c.query == query, example.c.candidate == candidate)
    connection.execute(delete(example).where(*pair))
    place = connection.execute(select(func.coalesce(func.max(example.c.place), 0) + 1)).scalar_one()
    if len(examples(connection)) >= MOST_EXAMPLES:
        raise ArgumentError(
            f"There are {MOST_EXAMPLES} examples, which is the maximum.", fix="Remove an example first."
        )
    row = {"query": query, "candidate": candidate, "label": label, "note": note, "place": place}
    connection.execute(insert(example).values(row))


def remove_example(connection: Connection, which: int) -> None:
    """Remove an example; nothing happens if it is gone already."""
    connection.execute(delete(example).where(example.c.id == which))


def known_images(connection: Connection, *images: str) -> dict[str, Any]:
    """Those of these images that the catalog has, with their item and category."""
    columns = (schema.image.c.image, schema.image.c.item, schema.image.c.category)
    found = connection.execute(select(*columns).where(schema.image.c.image.in_(images)))
    return {row.image: row for row in found}


_WHO = func.coalesce(annotator.c.name, "")
_VERSIONS = select(guideline.c.id, guideline.c.text, _WHO, guideline.c.at).outerjoin(
    annotator, annotator.c.id == guideline.c.annotator
)
