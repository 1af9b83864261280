"""`search`: distinct items for an image of the catalog or a new photo."""

import shlex
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from lookalike.catalog.photos.boxes import box_of
from lookalike.catalog.photos.decode import load_rgb
from lookalike.core.errors import SearchError
from lookalike.core.types import Origin, Rule
from lookalike.encode.encoder import encode_photo
from lookalike.encode.open import open_encoder
from lookalike.encode.spec import parse
from lookalike.rank.pairs import judged_pairs
from lookalike.search.exact import Result, by_image, by_vector, judged_items
from lookalike.store.served import served
from lookalike.store.workspace import Workspace

MOST_NAMES = 100_000  # among which names like a misspelled one are looked for


@dataclass(frozen=True)
class SearchAnswer:
    """A search's answer. `image` is the catalog image searched for, None for a new photo."""

    query: str
    image: str | None
    encoder: str
    results: tuple[Result, ...]


def search(
    workspace: Workspace, query: str, *, encoder: str | None = None, k: int = 10, box: str = ""
) -> SearchAnswer:
    """The K best distinct items for the id of an image or an item (its first photo), or for a photo's path.

    With a `box`, x0,y0,x1,y1 in pixels, the query is that part of the photo.
    """
    if (part := box_of(box)) and not Path(query).is_file():
        raise SearchError(
            f"--box needs a photo, and {query!r} is not a file.",
            fix="Give the path of the photo, or leave out --box.",
        )
    encoder = encoder or default_encoder(workspace)
    embeddings = workspace.embeddings(encoder)
    image = None if part else _catalog_image(workspace, query)
    if image is not None:
        pairs = judged_pairs(workspace.catalog, workspace.labels(), Rule())
        judged = judged_items(pairs)
        return SearchAnswer(
            query, image, encoder, by_image(workspace.catalog, embeddings, image, k, None, judged)
        )
    opened = open_encoder(parse(embeddings.spec), workspace.folder)
    if changed := _changed(workspace.manifest(encoder).origin, opened.origin):
        raise SearchError(
            f"{encoder} has changed since the catalog was embedded: its {' and '.join(changed)} changed.",
            fix=f"Embed the catalog again: lookalike embed {shlex.quote(embeddings.spec)} --name {encoder}",
        )
    vector = encode_photo(load_rgb(Path(query), size_hint=opened.size_hint, box=part), opened)
    return SearchAnswer(query, None, encoder, by_vector(workspace.catalog, embeddings, vector, k))


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


def default_encoder(workspace: Workspace) -> str:
    """The encoder of a search that names none: the served one; before a promotion, the only one."""
    now = workspace.database.fetch(served)
    if now is not None:
        return now.encoder
    names = workspace.encoders
    if len(names) != 1:
        listed = ", ".join(names) or "none yet: lookalike embed ENCODER"
        raise SearchError(f"Several encoders can search here, or none: {listed}.", fix="Add --encoder NAME.")
    return names[0]


def _changed(then: Origin, now: Origin) -> list[str]:
    """What is another now; a photo computed in another precision may be searched with."""
    names = ("spec", "preprocessing", "weights")
    return [name for name in names if getattr(then, name) != getattr(now, name)]
