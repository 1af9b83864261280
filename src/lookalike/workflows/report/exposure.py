"""A report's part on exposure: which items are shown, with pictures of those never and those most often shown."""

from collections.abc import Sequence

import numpy as np

from lookalike.audit.exposure import Exposure
from lookalike.report.content import ExposurePart, ReportPhoto
from lookalike.workflows.report.strips import Photos

PICTURES = 8


def exposure_part(
    gallery: Photos, found: Sequence[Exposure], first: Sequence[str] = ()
) -> ExposurePart | None:
    """Exposure by encoder, those of `first` leading; the pictures are of the leading one."""
    order = {name: at for at, name in enumerate(dict.fromkeys([*first, *(one.encoder for one in found)]))}
    listed = tuple(sorted(found, key=lambda one: order[one.encoder]))
    if not listed or not listed[0].items:
        return None
    rows = np.flatnonzero(gallery.catalog.is_gallery())
    items, first_photo = np.unique(gallery.catalog.item[rows].astype(str), return_index=True)
    row_of = dict(zip(items.tolist(), rows[first_photo].tolist(), strict=True))

    def photo(item: str) -> ReportPhoto:
        return gallery.photo(row_of[item])

    never, most = listed[0].never_shown, listed[0].most_shown[:PICTURES]
    spread = np.linspace(0, len(never) - 1, min(PICTURES, len(never))).astype(np.int64)
    return ExposurePart(
        listed,
        tuple(photo(never[at]) for at in spread.tolist()),
        tuple((photo(one.item), one.times) for one in most),
    )
