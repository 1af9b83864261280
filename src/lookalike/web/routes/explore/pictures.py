"""Images as pages list them."""

from collections.abc import Sequence
from urllib.parse import quote

from lookalike.core.types import Catalog
from lookalike.web.pages.pair_view import LIST
from lookalike.web.routes.images import image_address


def pictures(catalog: Catalog, rows: Sequence[int]) -> list[dict[str, str]]:
    """Images as pages list them: their photo, what they are, and the address of their search."""
    return [
        {
            "row": str(row),
            "image": catalog.image[row],
            "item": catalog.item[row],
            "category": catalog.category[row],
            "photo": image_address(catalog.image[row], catalog.digest[row], LIST),
            "search": f"/search?image={quote(catalog.image[row], safe='')}",
        }
        for row in rows
    ]
