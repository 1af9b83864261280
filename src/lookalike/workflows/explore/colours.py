"""The colours of the map: a column of the catalog, labels, votes that differ, how often an item is shown."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int64, Shaped, UInt8
from sqlalchemy import Connection, func, select

from lookalike.annotate.question import VOTE
from lookalike.api.exposure import item_exposure
from lookalike.core.errors import ArgumentError
from lookalike.core.types import Catalog
from lookalike.store.sql.labelling_schema import claim, question
from lookalike.store.workspace import Workspace

LABELS, VOTES, SHOWN = "labels", "votes", "shown"  # beside the columns of the catalog
MOST_VALUES, MOST_GROUPS = 200, 11  # of a column that is offered, and groups with a colour of their own
OTHER, NO_VALUE = "other", "(none)"
STEPS = ((1, "1 to 4"), (5, "5 to 19"), (20, "20 or more"))


@dataclass(frozen=True, eq=False)
class Colouring:
    """Groups of images: `code[i]` is the group of image i.

    `marked` is the group that needs attention, where groups are steps of something; -1 where none does.
    """

    title: str
    groups: tuple[str, ...]
    code: UInt8[np.ndarray, " images"]
    marked: int = -1

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of images of each group."""
        return tuple(np.bincount(self.code, minlength=len(self.groups)).tolist())


def columns_of(catalog: Catalog) -> dict[str, Shaped[np.ndarray, " images"]]:
    """The columns with 2 to 200 values, by which points can be coloured and images listed."""
    every = {"category": catalog.category, "split": catalog.split, "role": catalog.role, **catalog.columns}
    return {name: column for name, column in every.items() if 2 <= len(set(column)) <= MOST_VALUES}


def by_column(catalog: Catalog, name: str) -> Colouring:
    """The groups of a column, largest first; those beyond eleven are one group."""
    columns = columns_of(catalog)
    if name not in columns:
        known = ", ".join((*columns, LABELS, VOTES, SHOWN))
        raise ArgumentError(f"The map has no colours by {name!r}.", fix=f"Name one of: {known}.")
    values = [str(value) for value in columns[name]]
    largest = [value for value, _ in Counter(values).most_common(MOST_GROUPS + 1)]
    if len(largest) > MOST_GROUPS:
        largest = [*largest[: MOST_GROUPS - 1], OTHER]
    place = {value: at for at, value in enumerate(largest)}
    code = np.fromiter((place.get(value, len(largest) - 1) for value in values), np.uint8, len(values))
    return Colouring(name, tuple(value or NO_VALUE for value in largest), code)


def by_labels(workspace: Workspace) -> Colouring:
    """How many labelled pairs an image's item is in, as the query's or as the candidate's."""
    catalog, labels = workspace.catalog, workspace.labels()
    times = Counter([*labels.query, *labels.candidate])
    return _by_item(catalog, [times[image] for image in catalog.image], "labels", "no label")


def by_votes(workspace: Workspace) -> Colouring:
    """Whether the votes on the pairs of an image agree."""
    ends = workspace.database.fetch(_voted)
    seen = {image for _, *images in ends for image in images}
    differ = {image for differs, *images in ends if differs for image in images}
    image = workspace.catalog.image
    code = np.fromiter(((one in seen) + (one in differ) for one in image), np.uint8, len(image))
    return Colouring("votes", ("no votes", "votes agree", "votes differ"), code, marked=2)


def by_shown(catalog: Catalog, times: Int64[np.ndarray, " items"]) -> Colouring:
    """In how many result lists an image's item is, from the times of each gallery item in catalog order."""
    names, code = catalog.item_codes
    every = np.zeros(len(names), np.int64)
    every[np.unique(code[catalog.is_gallery()])] = times
    return _stepped(every[code], "result lists", "never shown")


def shown_times(folder: Path, encoder: str, k: int) -> Int64[np.ndarray, " items"]:
    """In how many of the audit's top K lists each item is; for another process, because it takes seconds."""
    workspace = Workspace(folder)
    found = item_exposure(workspace.catalog, [workspace.embeddings(encoder)], k, seed=workspace.settings.seed)
    return found[encoder]


def _voted(connection: Connection) -> Sequence[tuple[bool, str, str]]:
    """Every pair with votes: whether they differ, and its two images."""
    answers = func.count(func.distinct(claim.c.answer)).label("answers")
    found = (
        select(answers, question.c.query, question.c.candidate)
        .join(claim, claim.c.question == question.c.id)
        .where(claim.c.kind == VOTE)
        .group_by(question.c.id, question.c.query, question.c.candidate)
    )
    return [(count > 1, query, candidate) for count, query, candidate in connection.execute(found)]


def _by_item(catalog: Catalog, counts: Sequence[int], title: str, none: str) -> Colouring:
    code = catalog.item_codes[1]
    total = np.bincount(code, weights=counts).astype(np.int64) if len(code) else np.zeros(0, np.int64)
    return _stepped(total[code], title, none)


def _stepped(counts: Int64[np.ndarray, " images"], title: str, none: str) -> Colouring:
    """Counts in a few steps."""
    code = np.searchsorted([first for first, _ in STEPS], counts, side="right").astype(np.uint8)
    return Colouring(title, (none, *(words for _, words in STEPS)), code, marked=0)


COLOURS: dict[str, Callable[[Workspace], Colouring]] = {LABELS: by_labels, VOTES: by_votes}
