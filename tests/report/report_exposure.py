"""The fullest part on exposure, and the galleries, for the sample report."""

import math

from furniture import KINDS, thumbnail

from lookalike.audit.exposure import ColumnExposure, Exposure, GroupExposure, ShownItem
from lookalike.report.content import ExposurePart, PairGroup, PhotoPair, ReportPhoto


def exposure_of(encoder: str, never: float) -> Exposure:
    """One encoder, with a column of twelve groups and one of two."""
    groups = tuple(GroupExposure(f"group {at}", 20 + at, 12.0 - at, 0.01 * at) for at in range(12))
    rooms = (GroupExposure("plain", 400, 6.2, 0.04), GroupExposure("room", 100, 1.1, 0.38))
    return Exposure(
        encoder=encoder, k=5, queries=5_000, all_queries=12_345, items=500, mean=50.0, never=never, by_chance=0.0004,
        gini=0.3456, columns=(ColumnExposure("style", groups, 11.0), ColumnExposure("background", rooms, 5.1)),
        most_shown=(ShownItem("lamp-1", 1_234), ShownItem("bed-1", 7)), never_shown=("sofa-1",),
    )  # fmt: skip


def photo_of(kind: str, number: int) -> ReportPhoto:
    """One photo, of an item with a long name."""
    return ReportPhoto(
        f"{kind}/{number}.jpg", f"{kind}-with-a-long-name-{number}", kind, thumbnail(kind, number)
    )


def exposure_part(encoders: tuple[str, ...]) -> ExposurePart:
    """Eight items never shown and eight shown often."""
    photos = tuple(photo_of(KINDS[at % len(KINDS)], 50 + at) for at in range(16))
    found = tuple(exposure_of(name, 0.0123 * (at + 1)) for at, name in enumerate(encoders))
    return ExposurePart(found, photos[:8], tuple((one, 1_234 - at) for at, one in enumerate(photos[8:])))


def galleries() -> tuple[PairGroup, ...]:
    """Four pairs each of one item and of two."""

    def pairs(label: int | None) -> tuple[PhotoPair, ...]:
        return tuple(
            PhotoPair(photo_of(kind, 70), photo_of(kind, 71 + (label or 0)), math.sqrt(0.1 * (1 + at)), label)
            for at, kind in enumerate(KINDS[:4])
        )

    return (
        PairGroup("Same item, unlike", "Two photos of one item.", pairs(None)),
        PairGroup("Different items, alike", "Two items.", pairs(1)),
    )
