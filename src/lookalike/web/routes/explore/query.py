"""The photo that the search page searches with: one of the catalog, or one that was sent."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from lookalike.core.errors import AccessError
from lookalike.core.types import Catalog
from lookalike.store.thumbnails import listed
from lookalike.web.pages.search_view import Wanted, photo_of
from lookalike.web.site import Site


@dataclass(frozen=True)
class Queried:
    """The photo that is searched with. `image` is its id in the catalog, None for an upload."""

    image: str | None
    item: str
    category: str
    preview: str
    width: int
    height: int
    read: Callable[[], bytes]


def queried(site: Site, catalog: Catalog, wanted: Wanted) -> Queried | None:
    """The photo to search with; None without one. Raises AccessError if it does not exist."""
    if wanted.photo:
        held = site.uploads.get(wanted.photo)
        preview = f"/search/photo/{quote(wanted.photo, safe='')}"
        return Queried(None, "Uploaded photo", "", preview, held.width, held.height, lambda: held.content)
    if not wanted.image:
        return None
    if wanted.image not in catalog.row:
        raise AccessError(
            f"The catalog has no image {wanted.image!r}.",
            fix="Choose one of the photos below.",
            code="unknown-image",
        )
    row = catalog.row[wanted.image]

    def read() -> bytes:
        one = site.database.fetch(lambda connection: listed(connection, wanted.image))
        if one is None:
            raise AccessError("This image is no longer in the catalog.", fix="Choose another one.")
        return site.thumbnails.content(one)[0]

    texts = (str(catalog.item[row]), str(catalog.category[row]), photo_of(catalog, row)["large"])
    return Queried(wanted.image, *texts, int(catalog.width[row]), int(catalog.height[row]), read)
