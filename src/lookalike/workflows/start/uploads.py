"""Images that programs add: their photos are kept in the workspace, listed in a table that `catalog refresh` reads."""

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

from lookalike.catalog.read import catalog_from
from lookalike.core.errors import ArgumentError, CatalogError, LookalikeError
from lookalike.store.disk import disk_errors, make_folder, write_file
from lookalike.store.settings import PhotoSource
from lookalike.store.workspace import Workspace
from lookalike.workflows.start.catalog import Followed, merge_in, remove
from lookalike.workflows.start.embed import again, embed, stale

UPLOADS, TABLE = "uploads", "images.csv"
OWN = ("image", "path", "item", "category", "role")


@dataclass(frozen=True)
class NewImage:
    """A photo for the catalog. `image` is its id, `item` the id of the item it shows ("": the id of the image)."""

    content: bytes
    format: str
    image: str
    item: str = ""
    category: str = ""
    role: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    replace: bool = False

    @property
    def path(self) -> str:
        """The name of the file that keeps the photo."""
        return f"{hashlib.sha256(self.content).hexdigest()}.{self.format}"

    @property
    def row(self) -> dict[str, str]:
        """Its row in the table."""
        own = (self.image, self.path, self.item or self.image, self.category, self.role)
        return {**self.values, **dict(zip(OWN, own, strict=True))}


def add_images(workspace: Workspace, new: Sequence[NewImage]) -> list[Followed | LookalikeError]:
    """Add images in one change of the catalog. An image that cannot be added does not keep the others out."""
    folder = workspace.folder / UPLOADS
    outcome: dict[int, Followed | LookalikeError] = {}
    with workspace.changing_catalog("catalog add"):
        taken = set(workspace.catalog.image)
        good: dict[int, NewImage] = {}
        for at, one in enumerate(new):
            if one.image in taken and not one.replace:
                outcome[at] = ArgumentError(
                    f"The catalog has an image {one.image!r} already.",
                    fix="Choose another id, or send replace=true.",
                    code="image-taken",
                )
            else:
                good[at] = one
                taken.add(one.image)
        try:
            followed = _add(workspace, folder, list(good.values())) if good else None
        except CatalogError as error:
            return [outcome.get(at, error) for at in range(len(new))]
        if followed is not None:
            bad = {one.image: one.reason for one in followed.left_out}
            for at, one in good.items():
                outcome[at] = (
                    CatalogError(
                        f"The image {one.image!r} cannot be used: {bad[one.image]}.",
                        fix="Send another photo.",
                    )
                    if one.image in bad
                    else followed
                )
    return [outcome[at] for at in range(len(new))]


def remove_images(workspace: Workspace, images: Sequence[str]) -> Followed:
    """Take images out of the catalog. Photos that programs added are deleted, others stay where they are."""
    followed = remove(workspace, images)
    folder = workspace.folder / UPLOADS
    if (folder / TABLE).is_file():
        _list(folder, set(images), [])
    return followed


def bring_up_to_date(workspace: Workspace, encoders: Sequence[str]) -> tuple[str, ...]:
    """Embed new images with some encoders. Returns all encoders that are still stale."""
    for name in stale(workspace):
        if name in encoders:
            try:
                embed(workspace, again(workspace, name), name=name, stored=True, workers=1)
            except LookalikeError:  # for example vectors from a file, which has none of the new images
                continue
    return tuple(stale(workspace))


def _add(workspace: Workspace, folder: Path, new: Sequence[NewImage]) -> Followed:
    with disk_errors("keeping uploaded photos", folder):
        make_folder(folder)
    for one in new:
        write_file(folder / one.path, one.content, private=True)
    names = list(dict.fromkeys(name for one in new for name in one.row))
    table = {name: [one.row.get(name, "") for one in new] for name in names}
    settings = workspace.settings
    reading = catalog_from(table, images=folder, seed=settings.seed, max_megapixels=settings.max_megapixels)
    followed = merge_in(
        workspace,
        reading,
        PhotoSource(f"{UPLOADS}/{TABLE}", UPLOADS),
        replace=any(one.replace for one in new),
    )
    _list(folder, {one.image for one in new}, [one.row for one in new])
    return followed


def _list(folder: Path, gone: Set[str], new: Sequence[Mapping[str, str]]) -> None:
    """Replace the rows of some images in the table, and delete photos that it lists no more."""
    before: list[Mapping[str, str]] = []
    if (folder / TABLE).is_file():
        with (folder / TABLE).open(newline="", encoding="utf-8") as file:
            before = list(csv.DictReader(file))
    rows = [*(row for row in before if row["image"] not in gone), *new]
    names = list(dict.fromkeys((*OWN, *(name for row in rows for name in row))))
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, names, restval="")
    table.writeheader()
    table.writerows(rows)
    write_file(folder / TABLE, text.getvalue().encode(), private=True)
    for path in {row["path"] for row in before} - {row["path"] for row in rows}:
        (folder / path).unlink(missing_ok=True)
