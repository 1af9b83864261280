"""`search`: distinct items for an image of the catalog or a new photo."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from lookalike.catalog.photos.boxes import box_of
from lookalike.catalog.photos.check import LEAST_SIDE, check_image
from lookalike.core.errors import LookalikeError, SearchError
from lookalike.core.filters import Where
from lookalike.store.workspace import Workspace
from lookalike.workflows.search.index import EngineName
from lookalike.workflows.search.searcher import SearchAnswer, Searcher

MOST_NAMES = 100_000  # among which names like a misspelled one are looked for


def search(
    workspace: Workspace,
    query: str,
    *,
    encoder: str | None = None,
    k: int = 10,
    box: str = "",
    mask: Path | None = None,
    where: Where = (),
    engine: EngineName = "auto",
) -> SearchAnswer:
    """The K best distinct items for the id of an image or an item (its first photo), or for a photo's path.

    With a `box`, x0,y0,x1,y1 in pixels, the query is that part of the photo. A `mask` is for encoders with
    region=pool. `where` filters by catalog columns.
    """
    part, option = box_of(box), "--box" if box else "--mask"
    if (part or mask) and not Path(query).is_file():
        raise SearchError(
            f"{option} needs a photo, and {query!r} is not a file.",
            fix=f"Give the path of the photo, or leave out {option}.",
        )
    image = None if part or mask else _catalog_image(workspace, query)
    if part is not None and min(part.width, part.height) < LEAST_SIDE:
        raise SearchError(
            f"The box has {part.width} x {part.height} pixels; that shows nothing.",
            fix=f"Give a box of at least {LEAST_SIDE} x {LEAST_SIDE} pixels.",
        )
    if image is None:
        _require_photo(query)
    searcher = Searcher.of(workspace, encoder, engine=engine)
    if image is not None:
        return replace(searcher.by_image(image, k, where), query=query)
    return searcher.by_photo(Path(query), k, where, box=part, mask=mask, name=query)


def search_many(
    workspace: Workspace,
    queries: Sequence[str],
    *,
    encoder: str | None = None,
    k: int = 10,
    where: Where = (),
    engine: EngineName = "auto",
) -> list[SearchAnswer]:
    """The same for many queries, one of each line of a text; blank lines are left out. All vectors are read once.

    Raises SearchError, with the number of the line, before anything is searched.
    """
    searcher = Searcher.of(workspace, encoder, engine=engine)
    names, vectors, rows = [], [], []
    for number, query in enumerate(map(str.strip, queries), start=1):
        if not query:
            continue
        try:
            image = _catalog_image(workspace, query)
            if image is None:
                _require_photo(query)
            vectors.append(searcher.vector_of(query if image is None else image, new=image is None))
        except LookalikeError as error:
            raise SearchError(f"Line {number}: {error.problem}", fix=error.fix) from error
        rows.append(-1 if image is None else workspace.catalog.row[image])
        names.append(query)
    if not names:
        raise SearchError("There is no query.", fix="Give one id of an image or path of a photo per line.")
    return searcher.by_vectors(names, np.stack(vectors), np.array(rows, np.int64), k, where)


def _require_photo(path: str) -> None:
    """Refuse what a catalog refuses too; the size of a photo is read before a pixel is decoded."""
    if reason := check_image(path).reason.partition("; to use it:")[0]:  # that hint is for catalogs
        raise SearchError(f"{path!r} cannot be searched with: {reason}.", fix="Search with another photo.")


def _catalog_image(workspace: Workspace, query: str) -> str | None:
    """The catalog image that a text names: by its id, the path of its photo or its item; None for a new photo."""
    catalog = workspace.catalog
    if query in catalog.row:
        return query
    path = Path(query)
    if not path.is_file():
        of_item = np.flatnonzero(catalog.item == query)
        if len(of_item):
            return str(catalog.image[of_item[0]])
        known = list(dict.fromkeys([*catalog.image[:MOST_NAMES], *catalog.item[:MOST_NAMES]]))
        near = get_close_matches(query, known, n=3, cutoff=0.6)
        hint = (
            f"Did you mean {', '.join(map(repr, near))}?"
            if near
            else "Give the id of an image or an item, or the path of a photo."
        )
        raise SearchError(f"{query!r} is neither an image nor an item of the catalog, nor a file.", fix=hint)
    if workspace.photos is not None and path.resolve().is_relative_to(workspace.photos.resolve()):
        inside = path.resolve().relative_to(workspace.photos.resolve()).as_posix()
        rows = (catalog.path == inside).nonzero()[0]
        return str(catalog.image[rows[0]]) if len(rows) else None
    return None
