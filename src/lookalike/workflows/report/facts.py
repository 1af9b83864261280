"""The facts of a report on the catalog and the encoders."""

from collections import Counter
from collections.abc import Mapping, Sequence

from lookalike.core.types import Catalog
from lookalike.encode.spec import parse, without_folders
from lookalike.report.content import EncoderLine
from lookalike.store.vectors.arrays import Manifest

CATEGORIES = 12  # the largest are named, the others counted


def facts(catalog: Catalog, encoders: Sequence[str], labels: int) -> tuple[tuple[str, str], ...]:
    """The catalog in figures."""
    items = Counter(catalog.item)
    splits = ", ".join(
        f"{split} {(catalog.split == split).sum():,}" for split in ("train", "validation", "test")
    )
    categories = [(name, count) for name, count in Counter(catalog.category).most_common() if name]
    largest = ", ".join(f"{name} {count:,}" for name, count in categories[:CATEGORIES])
    if len(categories) > CATEGORIES:
        largest += f" and {len(categories) - CATEGORIES:,} more"
    return (
        ("Images", f"{len(catalog):,}"),
        ("Items", f"{len(items):,}, {len(catalog) / max(len(items), 1):.1f} photos each"),
        ("Categories", largest or "none"),
        ("Splits", splits),
        ("Encoders", ", ".join(encoders) or "none yet"),
        ("Labels", f"{labels:,}"),
    )


def encoder_lines(manifests: Mapping[str, Manifest]) -> tuple[EncoderLine, ...]:
    """What made each encoder's vectors."""
    return tuple(
        EncoderLine(
            name=name,
            spec=str(without_folders(parse(one.spec))),
            preprocessing=one.preprocessing,
            weights=one.weights[:12],
            precision=one.precision,
            dimension=one.dimension,
        )
        for name, one in manifests.items()
    )
