"""The published layouts by name: `fashion:FOLDER` reads a folder as VSD-Fashion was published."""

import os
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path

from lookalike.catalog.layouts.deep_fashion import read_consumer_to_shop, read_in_shop
from lookalike.catalog.layouts.furniture import read_furniture
from lookalike.catalog.layouts.open_metric_learning import read_open_metric_learning
from lookalike.catalog.layouts.totally_looks_like import read_all_pairs, read_objects
from lookalike.catalog.layouts.vsd_fashion import read_vsd_fashion
from lookalike.catalog.readers.rows import Rows
from lookalike.core.errors import ArgumentError

Images = str | os.PathLike[str] | None


def _hugging_face(place: Path, images: Images) -> Rows:
    from lookalike.catalog.layouts.hugging_face import read_hugging_face  # polars takes a while to import

    return read_hugging_face(place, images)


LAYOUTS: Mapping[str, Callable[[Path, Images], Rows]] = {
    "fashion": read_vsd_fashion,
    "inshop": read_in_shop,
    "consumer2shop": read_consumer_to_shop,
    "furniture": read_furniture,
    "tll": read_all_pairs,
    "tll-objects": read_objects,
    "oml": read_open_metric_learning,
    "hf-datasets": _hugging_face,
}


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


def read_published(layout: str, place: str | os.PathLike[str], images: Images) -> Rows:
    """The rows of a data set in a published layout."""
    local = os.path.abspath(os.path.expanduser(place))
    return LAYOUTS[layout](Path(local) if os.path.exists(local) else Path(place), images)
