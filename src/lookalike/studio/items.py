"""The studio catalog: which items there are, and the table of their photos."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from lookalike.core.checks import at_least, strings
from lookalike.core.errors import ArgumentError
from lookalike.core.types import Catalog
from lookalike.studio import attributes
from lookalike.studio.attributes import Attributes
from lookalike.studio.families import Families, families, levels
from lookalike.studio.rendering import scene
from lookalike.studio.seeded import hashed, uniform

LEAST, MOST = 200, 1_000_000
MOST_ITEMS = 500_000
"""Beyond this there are not enough cells for families that a person tells apart."""
SPREAD = {
    "silhouette": 0.14,
    "proportion": 0.13,
    "shade": 0.022,
    "tint": 0.008,
    "texture": 0.45,
    "carving": 0.45,
}
"""The largest distance of an item's number from the middle of its cell. A third comes from its family, two thirds are
the item's own."""
_OWN = 0.2  # share of a family's place that is its own; the rest it has in common with its trio
_CALM = 0.6  # an item departs fully in one respect; in the others it stays within this share of the spread


@dataclass(frozen=True, eq=False)
class Studio:
    """A generated catalog: `images` photos of furniture-like items, whose true similarity is known.

    Items are in the order of their photos' sorted paths: by kind, then by number. Photo p of item i is row
    i x `photos_per_item` + p; the last item has fewer photos where `images` does not divide.
    """

    images: int
    photos_per_item: int
    seed: int
    of: Attributes = field(repr=False)

    def __len__(self) -> int:
        return self.images

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self.of.kind)

    def item_name(self, item: int) -> str:
        """The id of an item, such as `chair/chair-000123`."""
        kind = attributes.KINDS[self.of.kind[item]]
        return f"{kind}/{kind}-{item:06d}"

    def image_name(self, row: int) -> str:
        """The id and path of an image, such as `chair/chair-000123/2.png`."""
        item, photo = divmod(row, self.photos_per_item)
        digits = len(str(self.photos_per_item))
        return f"{self.item_name(item)}/{photo + 1:0{digits}d}.png"

    def catalog(self, size: int = 160) -> Catalog:
        """The table of all photos, as if they had been drawn at this size and read from a folder."""
        rows = range(self.images)
        of_item = np.arange(self.images) // self.photos_per_item
        kind = strings(attributes.KINDS)[self.of.kind[of_item]]
        image = strings(self.image_name(row) for row in rows)
        return Catalog(
            image=image,
            path=image,
            item=strings(self.item_name(item) for item in range(self.items))[of_item],
            category=kind,
            role=np.full(self.images, "both", object),
            split=np.full(self.images, "train", object),
            position=np.arange(self.images),
            digest=np.full(self.images, "", object),
            width=np.full(self.images, size),
            height=np.full(self.images, size),
        )

    def draw(self, row: int, size: int = 160) -> np.ndarray:
        """The photo of a row: (size, size, 3) uint8, the same on every machine.

        >>> studio(200).draw(3, size=32).shape
        (32, 32, 3)
        """
        return scene.photograph(*self._photo(row), at_least(size, 1, "size"))

    def mask(self, row: int, size: int = 160) -> np.ndarray:
        """The pixels of a row's photo that show its item: (size, size) bool.

        >>> mask = studio(200).mask(3, size=32)
        >>> mask.shape, bool(0 < mask.mean() < 0.8)
        ((32, 32), True)
        """
        return scene.mask(*self._photo(row), at_least(size, 1, "size"))

    def _photo(self, row: int) -> tuple[Attributes, int, int, int]:
        """A row's item, the seed, the item's number and the photo's."""
        if not 0 <= row < self.images:
            raise ArgumentError(
                f"row is {row}, but the studio has {self.images:,} images.",
                fix=f"Give a row from 0 to {self.images - 1}.",
            )
        item, photo = divmod(row, self.photos_per_item)
        return Attributes(*(column[item] for column in self.of)), self.seed, item, photo

    @cached_property
    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """Items ordered by family, and where each family starts among them: (items,), (families + 1,)."""
        order = np.argsort(self.of.family, kind="stable")
        starts = np.searchsorted(self.of.family[order], np.arange(int(self.of.family.max(initial=0)) + 2))
        return order, starts


def studio(images: int, *, photos_per_item: int = 2, seed: int = 0) -> Studio:
    """A studio catalog of any size from 200 to 1,000,000 images; equal arguments give equal studios.

    >>> small = studio(200)
    >>> small.items, small.image_name(199)
    (100, 'table/table-000099/2.png')
    """
    if not LEAST <= images <= MOST:
        raise ArgumentError(
            f"images is {images:,}; a studio has from {LEAST} to {MOST:,}.",
            fix=f"Give images between {LEAST} and {MOST:,}.",
        )
    items = -(-images // at_least(photos_per_item, 1, "photos_per_item"))
    if items > MOST_ITEMS:
        raise ArgumentError(
            f"photos_per_item is {photos_per_item}, so {images:,} images show {items:,} items; "
            f"a studio has at most {MOST_ITEMS:,}.",
            fix=f"Give photos_per_item of {-(-images // MOST_ITEMS)} or more, or fewer images.",
        )
    return Studio(images, photos_per_item, seed, _attributes(items, seed))


def _attributes(items: int, seed: int) -> Attributes:
    drawn = families(items, seed)
    family = np.repeat(np.arange(len(drawn.size)), drawn.size)
    # Shuffled within the kind: an item's number says nothing about its family.
    order = np.lexsort((hashed(seed, "order", np.arange(items)), drawn.kind[family]))
    family = family[order].astype(np.int32)
    departs = (hashed(seed, "departs", np.arange(items)) % np.uint64(6)).astype(np.int64)
    make = _Maker(seed, drawn, family, departs)
    material, ornament = drawn.cell[family, 2], drawn.cell[family, 4]
    frame = make.frame()
    return Attributes(
        kind=drawn.kind[family],
        family=family,
        silhouette=make.near(levels(make.silhouette(), 4), "silhouette", 0),
        proportion=make.near(levels(drawn.cell[:, 1], 3)[family], "proportion", 1),
        material=material,
        texture=make.near(np.full((items, 2), 0.5), "texture", 2),
        body=make.body(),
        frame=attributes.FRAMES[frame].astype(np.float32),
        frame_material=attributes.FRAME_MATERIAL[frame],
        ornament=ornament,
        carving=make.near(np.full((items, 2), 0.5), "carving", 4) * (ornament > 0)[:, None],
    )


class _Maker(NamedTuple):
    """Numbers of items around the middles of their families' cells."""

    seed: int
    drawn: Families
    family: np.ndarray
    departs: np.ndarray

    def near(self, middle: np.ndarray, name: str, respect: int) -> np.ndarray:
        """(items, n) middles -> (items, n) numbers in [0, 1]."""
        columns = [
            middle[:, j] + SPREAD[name] * self._offset(f"{name}{j}", respect) for j in range(middle.shape[1])
        ]
        return np.clip(np.stack(columns, axis=1), 0.0, 1.0).astype(np.float32)

    def silhouette(self) -> np.ndarray:
        """The family's bits; an item that departs in silhouette has one of the two that show less turned round."""
        bits = self.drawn.cell[self.family, 0].astype(np.int64)
        weak = np.array(
            [[1 << place for place in range(4) if not strong >> place & 1] for strong in attributes.STRONG]
        )
        items = np.arange(len(self.family))
        which = (hashed(self.seed, "turned", items) % np.uint64(2)).astype(np.int64)
        return np.where(self.departs == 0, bits ^ weak[self.drawn.kind[self.family], which], bits)

    def body(self) -> np.ndarray:
        """The colour of the cell, a little lighter or darker, warmer or cooler."""
        table = np.zeros((len(attributes.MATERIALS), max(map(len, attributes.COLOURS)), 3))
        for material, colours in enumerate(attributes.COLOURS):
            table[material, : len(colours)] = colours
        colour = table[self.drawn.cell[self.family, 2], self.drawn.cell[self.family, 3]]
        shade = SPREAD["shade"] * self._offset("shade", 3)
        tint = SPREAD["tint"] * self._offset("tint", 3)
        shift = np.stack([shade + tint, shade, shade - tint], axis=1)
        return np.clip(colour + shift, 0.0, 1.0).astype(np.float32)

    def frame(self) -> np.ndarray:
        """Which of the frame colours: the trio's, or another for most of the items that depart in palette."""
        count = np.uint64(len(attributes.FRAMES))
        usual = hashed(self.seed, "frame", self.drawn.trio[self.family]) % count
        items = np.arange(len(self.family))
        own = hashed(self.seed, "own frame", items) % count
        return np.where(self.departs == 3, own, usual).astype(np.int64)

    def _offset(self, name: str, respect: int) -> np.ndarray:
        """In [-1, 1]: a third of it the family's place, two thirds the item's, if it departs in this respect."""
        families = np.arange(len(self.drawn.size))
        of_trio = 2.0 * uniform(self.seed, name, "trio", self.drawn.trio) - 1.0
        of_family = 2.0 * uniform(self.seed, name, "family", families) - 1.0
        of_item = 2.0 * uniform(self.seed, name, "item", np.arange(len(self.family))) - 1.0
        shared = (1.0 - _OWN) * of_trio + _OWN * of_family
        return (shared[self.family] + 2.0 * of_item * np.where(self.departs == respect, 1.0, _CALM)) / 3.0
