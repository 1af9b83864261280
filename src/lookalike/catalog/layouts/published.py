"""The published layouts by name: `fashion:FOLDER` reads a folder as VSD-Fashion was published."""

import os
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path

from lookalike.catalog.layouts.deep_fashion import read_consumer_to_shop, read_in_shop
from lookalike.catalog.layouts.furniture import read_furniture
from lookalike.catalog.layouts.open_metric_learning import oml_table, read_open_metric_learning
from lookalike.catalog.layouts.totally_looks_like import objects_table, read_pairs
from lookalike.catalog.layouts.vsd_fashion import read_vsd_fashion
from lookalike.catalog.readers.rows import Rows
from lookalike.core.errors import ArgumentError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog

Images = str | os.PathLike[str] | None
Reader = Callable[[Path, Images, Progress | None], Rows]


def _quick(read: Callable[[Path, Images], Rows]) -> Reader:
    """A reader that has no progress to show."""
    return lambda place, images, progress: read(place, images)


def _hugging_face(place: Path, images: Images) -> Rows:
    from lookalike.catalog.layouts.hugging_face import read_hugging_face  # polars takes a while to import

    return read_hugging_face(place, images)


LAYOUTS: Mapping[str, Reader] = {
    "fashion": _quick(read_vsd_fashion),
    "inshop": _quick(read_in_shop),
    "consumer2shop": _quick(read_consumer_to_shop),
    "furniture": _quick(read_furniture),
    "tll": read_pairs,
    "tll-objects": partial(read_pairs, wanted="objects"),
    "tll-faces": partial(read_pairs, wanted="faces"),
    "oml": _quick(read_open_metric_learning),
    "hf-datasets": _quick(_hugging_face),
}

WRITERS: Mapping[str, Callable[[Catalog], tuple[dict[str, Sequence[object]], list[str]]]] = {
    "oml": oml_table,
    "tll-objects": objects_table,
}
"""The columns of a table in a published layout, and notes."""


def named_layout(source: str) -> tuple[str, str]:
    """The layout that a source begins with and the rest of it; ("", source) if it names none.

    >>> named_layout("fashion:data/vsd"), named_layout("photos")
    (('fashion', 'data/vsd'), ('', 'photos'))
    """
    name, colon, rest = source.partition(":")
    if not colon or len(name) < 2 or os.path.exists(source) or not name.replace("-", "").isalnum():
        return "", source
    if name not in LAYOUTS:
        near = get_close_matches(name, LAYOUTS, n=1)
        raise ArgumentError(
            f"Unknown layout {name!r}.",
            fix=f"Did you mean {near[0]}:{rest}?" if near else f"Use one of: {', '.join(LAYOUTS)}.",
        )
    return name, rest


def read_published(
    layout: str, place: str | os.PathLike[str], images: Images, progress: Progress | None = None
) -> Rows:
    """The rows of a data set in a published layout."""
    local = os.path.abspath(os.path.expanduser(place))
    return LAYOUTS[layout](Path(local) if os.path.exists(local) else Path(place), images, progress)
