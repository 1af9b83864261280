"""Files -> Catalog: folders, tables and data frames read, every photo checked once, splits drawn.

Nothing heavy is imported until one of these names is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookalike.catalog.folder import read_folder
    from lookalike.catalog.images import Checked, check_image, check_images, load_rgb, thumbnail
    from lookalike.catalog.read import Reading, catalog_from
    from lookalike.catalog.rows import Rows
    from lookalike.catalog.split import assign_splits
    from lookalike.catalog.table import read_table

__all__ = [
    "Checked",
    "Reading",
    "Rows",
    "assign_splits",
    "catalog_from",
    "check_image",
    "check_images",
    "load_rgb",
    "read_folder",
    "read_table",
    "thumbnail",
]

_HOME = {
    "Checked": "images",
    "Reading": "read",
    "Rows": "rows",
    "assign_splits": "split",
    "catalog_from": "read",
    "check_image": "images",
    "check_images": "images",
    "load_rgb": "images",
    "read_folder": "folder",
    "read_table": "table",
    "thumbnail": "images",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's names have any type
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
