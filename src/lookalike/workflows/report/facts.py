"""What a report says of the catalog and of the encoders, in plain facts."""

from collections import Counter

from lookalike.encode.spec import parse, without_folders
from lookalike.report.content import EncoderLine
from lookalike.store.workspace import Workspace

CATEGORIES = 12  # the largest are named, the others counted


def facts(workspace: Workspace) -> tuple[tuple[str, str], ...]:
    """The catalog in figures."""
    catalog = workspace.catalog
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
        ("Encoders", ", ".join(workspace.encoders) or "none yet"),
        ("Labels", f"{workspace.label_count():,}"),
    )


def encoders(workspace: Workspace) -> tuple[EncoderLine, ...]:
    """What made each encoder's vectors."""
    lines = []
    for name in workspace.encoders:
        manifest = workspace.manifest(name)
        lines.append(
            EncoderLine(
                name=name,
                spec=str(without_folders(parse(manifest.spec))),
                preprocessing=manifest.preprocessing,
                weights=manifest.weights[:12],
                precision=manifest.precision,
                dimension=manifest.dimension,
            )
        )
    return tuple(lines)
