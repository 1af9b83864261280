"""Signs that a folder is not a catalog, or that its folders were read wrongly."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import mean

from lookalike.catalog.readers.walk import FolderListing
from lookalike.core.text import plural

FEW_PER_FOLDER = 8  # photos in a folder: so few may well show one item
MANY_PER_ITEM = 20  # photos of an item on average: so many may well show several items
KINDS = 4  # endings of files that are no photos: photos with a text file each have fewer


def layout_doubts(
    found: FolderListing, names: Sequence[str], folders: Sequence[tuple[str, str, str]], layout: str | None
) -> Iterator[str]:
    """Sentences about a folder that may be the wrong one or be read wrongly. `folders`: split, category and item."""
    others, photos = found.others.total(), len(found.photos)
    if others > photos and len(found.others) >= KINDS:
        yield (
            f"Only {photos:,} of {others + photos:,} files are photos. If this is not a folder of product photos, give "
            "the folder that contains them."
        )
    if layout is None and names:
        yield from _depths(names)
        yield from _sizes(names, folders)


def _depths(names: Sequence[str]) -> Iterator[str]:
    by_depth = Counter(name.count("/") for name in names)
    usual = by_depth.most_common(1)[0][0]
    odd = [name for name in names if name.count("/") != usual]
    if odd:
        yield (
            f"{plural(len(odd), 'photo is', 'photos are')} not {plural(usual, 'folder')} deep like the others, for "
            f"example {odd[0]!r}. Check their items, or list the photos in a table."
        )


def _sizes(names: Sequence[str], folders: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    prefix = "split/" if folders[0][0] else ""
    sizes = Counter(place for place, name in zip(folders, names, strict=True) if place[2] != name)
    flat = Counter(
        place[:2] for place, name in zip(folders, names, strict=True) if place[2] == name and place[1]
    )
    if sizes and mean(sizes.values()) > MANY_PER_ITEM:
        yield (
            f"An item has {mean(sizes.values()):,.0f} photos on average. If each photo is an item of its own, use "
            f"--layout {prefix}category/-/photo"
        )
    if not sizes and len(flat) > 1 and mean(flat.values()) <= FEW_PER_FOLDER:
        yield f"The folders hold few photos. If each folder is one item, use --layout {prefix}item/photo"
