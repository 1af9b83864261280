"""A page of the catalog's photos, to choose a query from."""

from typing import Any

import numpy as np

from lookalike.core.errors import LookalikeError
from lookalike.core.filters import matching
from lookalike.core.types import Catalog
from lookalike.web.pages.search_view import Wanted, photo_of

PAGE = 60


def gallery(catalog: Catalog, wanted: Wanted, failure: LookalikeError | None) -> dict[str, Any]:
    """A page of the catalog's photos, of those that the filters and the words leave."""
    rows = np.arange(len(catalog))
    try:
        rows = np.flatnonzero(matching(catalog, wanted.where)) if wanted.filters else rows
    except LookalikeError as error:
        failure = failure or error
        rows = rows[:0]
    for word in wanted.words.casefold().split():
        rows = np.array([row for row in rows.tolist() if word in _text(catalog, row)], np.int64)
    start = min(wanted.after, max(len(rows) - 1, 0)) // PAGE * PAGE
    photos = [
        {
            "image": catalog.image[row],
            "item": catalog.item[row],
            "to": wanted.address(image=catalog.image[row], photo="", box="", words="", after=0),
            **photo_of(catalog, row),
        }
        for row in rows[start : start + PAGE].tolist()
    ]
    last = (len(rows) - 1) // PAGE * PAGE
    steps = {"First": 0, "Previous": start - PAGE, "Next": start + PAGE, "Last": last}
    usable = {"First": start > 0, "Previous": start > 0, "Next": start < last, "Last": start < last}
    return {
        "photos": photos,
        "total": len(rows),
        "start": start,
        "steps": [(name, wanted.address(image="", photo="", box="", after=at) if usable[name] else "")
                  for name, at in steps.items()],
        "failure": failure,
    }  # fmt: skip


def _text(catalog: Catalog, row: int) -> str:
    return f"{catalog.image[row]}\n{catalog.item[row]}\n{catalog.category[row]}".casefold()
