"""The two pictures of docs/research/studio.md: what the studio catalog looks like, and which items are similar.

python examples/studio_sheets.py FOLDER

writes studio.png (items spread evenly over a catalog, both photos of each) and likeness.png: in each row a query, its
most, its middle and its least similar positive, and the most similar item of each of the three nearest other families.
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

from lookalike.studio import Studio, contact_sheet, similarity, studio
from lookalike.studio.attributes import KINDS
from lookalike.studio.truth import THRESHOLD


def main(folder: Path) -> None:
    """Write both pictures."""
    for name, picture in pictures().items():
        picture.save(folder / name, optimize=True)


def pictures() -> dict[str, Image.Image]:
    """Both pictures by their file names."""
    drawn = studio(2_000, photos_per_item=1, seed=0)
    rows = [item for kind in range(len(KINDS)) for item in likeness(drawn, kind)]
    return {
        "studio.png": contact_sheet(studio(4_000, seed=7)),
        "likeness.png": contact_sheet(drawn, columns=7, items=rows),
    }


def likeness(drawn: Studio, kind: int) -> list[int]:
    """The first item of a kind, three positives, three items of other families."""
    items = np.flatnonzero(drawn.of.kind == kind)
    query, others = items[0], items[1:]
    alike = similarity(drawn, np.full(len(others), query), others)
    order = others[np.argsort(-alike, kind="stable")]
    count = int(np.sum(alike >= THRESHOLD))
    near: dict[int, int] = {}
    for item in order:
        near.setdefault(int(drawn.of.family[item]), int(item))
    rivals = [item for family, item in near.items() if family != drawn.of.family[query]]
    return [int(query), int(order[0]), int(order[count // 2]), int(order[count - 1]), *rivals[:3]]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
