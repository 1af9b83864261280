"""A published data set: what it is called, where it comes from, and where its files and photos are."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lookalike.catalog.readers.rows import Rows
from lookalike.catalog.readers.table import read_table
from lookalike.catalog.readers.text_table import as_text_table
from lookalike.core.checks import pip_install
from lookalike.core.errors import CatalogError, first_line
from lookalike.core.text import quoted

TRIED = 20  # photos by which the folder of all photos is found


@dataclass(frozen=True)
class PublishedData:
    """A data set: its title, where to get it, its licence, and what its folder holds."""

    title: str
    where: str
    licence: str
    holds: str

    def missing(self, problem: str, place: object) -> CatalogError:
        """An error about something that is not there, with where to get it and where to put it."""
        return CatalogError(
            problem,
            fix=f"Get {self.title} from {self.where} (licence: {self.licence}). "
            f"Put it into {str(place)!r}, which must then hold {self.holds}.",
        )

    def look(self, folder: Path, *names: str) -> Path | None:
        """The first file of one of these names, in the folder or in one of its folders; None if there is none."""
        paths = (path for name in names for path in (folder / name, *sorted(folder.glob(f"*/{name}"))))
        return next((path for path in paths if path.exists()), None)

    def find(self, folder: Path, *names: str) -> Path:
        """As `look`, but a file that is absent is an error."""
        if found := self.look(folder, *names):
            return found
        if folder.is_file():
            raise CatalogError(f"{str(folder)!r} is a file.", fix=f"Give the folder that holds {self.holds}.")
        what = f"is not {self.title}: it has no {' or '.join(names)}, also not one folder deeper"
        raise self.missing(f"{str(folder)!r} {what if folder.is_dir() else 'does not exist'}.", folder)

    def photos(self, folder: Path, images: str | os.PathLike[str] | None, paths: Sequence[str]) -> Path:
        """The folder that paths are relative to: the given one, or the first near the files that has a photo."""
        near = [Path(os.path.abspath(images))] if images is not None else [folder, *sorted(folder.glob("*/"))]
        tried = list(dict.fromkeys([*paths[:TRIED], *paths[-TRIED:]]))
        for root in near:
            if any((root / path).is_file() for path in tried):
                return root
        where = f"under {str(near[0])!r}" + (" or one folder deeper" if images is None else "")
        raise self.missing(f"The photos of {self.title} are not {where}: {quoted(tried, 2)}.", near[0])

    def rows(
        self,
        source: Path,
        columns: Mapping[str, Sequence[Any]],
        root: Path,
        *notes: str,
        lines: Sequence[int] | None = None,
        **more: Any,  # noqa: ANN401 - the other fields of Rows
    ) -> Rows:
        """Columns of a catalog as its rows, with what the layout says of them. `lines` are those of the source."""
        table = replace(as_text_table(columns), source=str(source), lines=lines, folder=root)
        read = read_table(table, images=root)
        told = (*read.notes[:1], *notes)
        sentence = told[0].replace("Read as a table", f"Read as {self.title}")
        return replace(read, source=str(source), notes=(sentence, *told[1:]), **more)


def download(about: PublishedData, name: str, patterns: list[str], revisions: Sequence[str]) -> Path:
    """A data set's files from Hugging Face, of the first revision that has some. No code of it is downloaded or run."""
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise CatalogError(
            "Downloads from Hugging Face need the package huggingface_hub.",
            fix=f"Give a local folder, or install it: {pip_install('huggingface_hub')}",
        ) from error
    why = "it has no such files"
    for revision in revisions:
        try:
            place = snapshot_download(name, repo_type="dataset", revision=revision, allow_patterns=patterns)
        except Exception as error:  # no network, no such data set, no permission: in any library's words
            why = first_line(error)
            continue
        if any(True for pattern in patterns for _ in Path(place).rglob(Path(pattern).name)):
            return Path(place)
    raise about.missing(
        f"There is no folder {name!r} here, and the download from Hugging Face failed: {why}", name
    )
