"""Which items are shown, by the background of their photos: a studio whose queries are the first photo of each item.

    python studies/exposure.py [--images 2000] [--seed 0] [--photos FOLDER] [--encoders ENCODER ...]

Items are in the group room if all of their photos show a room, plain if none does, and several otherwise.
"""

import sys
from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

import lookalike
from lookalike.studio import studio, write_photos
from lookalike.studio.rendering.scenery import staged
from lookalike.studio.seeded import RandomStream

ENCODERS = ("descriptor:color", "descriptor:hog", "descriptor:color+hog+layout")


def main(arguments: list[str]) -> None:
    """Print exposure@5 of every encoder, over all items and by background."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--photos", type=Path, help="folder that keeps the photos")
    parser.add_argument("--encoders", nargs="+", default=ENCODERS)
    asked = parser.parse_args(arguments)
    drawn, photos = studio(asked.images, seed=asked.seed), asked.photos or Path(mkdtemp())
    rows = [row for row in range(len(drawn)) if not (photos / drawn.image_name(row)).exists()]
    write_photos(drawn, photos, rows=rows)
    item, photo = np.divmod(np.arange(len(drawn)), drawn.photos_per_item)
    room = [
        staged(p, RandomStream(drawn.seed, i, p, "stage"))
        for i, p in zip(item.tolist(), photo.tolist(), strict=True)
    ]
    catalog = replace(
        drawn.catalog(),
        role=np.where(photo == 0, "both", "gallery").astype(object),
        columns={"background": np.where(room, "room", "plain").astype(object)},
    )
    for spec in asked.encoders:
        encoder = lookalike.embed(catalog, spec, photos=photos)
        (found,) = lookalike.audit_exposure(catalog, [encoder])
        groups = next(one.groups for one in found.columns if one.column == "background")
        print(
            f"{found.encoder}: {100 * found.never:.1f}% of {found.items} items never shown, Gini {found.gini:.2f}"
        )
        for one in sorted(groups, key=lambda one: one.group):
            print(
                f"  {one.group:8} {one.items:5} items  {one.mean:5.1f} times  {100 * one.never:5.1f}% never"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
