"""`lookalike.toml`: what a workspace is. A folder is a workspace exactly when it holds this file."""

import json
import os
import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from lookalike.core.errors import WorkspaceError
from lookalike.core.types import ROLES
from lookalike.store.disk import disk_errors, write_file

FILE = "lookalike.toml"
FORMAT = 2

_TEXT = """\
# A Lookalike workspace. Change a value here and the next command follows it.

# Version of this folder's layout; Lookalike changes it when it migrates the folder.
format = {format}

# What the catalog was read from; from this folder on if it lies in here.
source = {source}

# Folder the photos' paths are relative to; "" for a catalog of vectors only.
photos = {photos}

# How the folder or table was read: the words of its layout, columns under another name. Blank: found out.
layout = {layout}
columns = {columns}

# What is set for all of it: their role, values of columns like "domain=wild".
role = {role}
values = {values}

# Photos of more megapixels are left out.
max_megapixels = {max_megapixels}

# Seed of the splits and of every sample that is given none of its own.
seed = {seed}

# True if the catalog is the generated studio catalog; reports then say so.
generated = {generated}

# Where catalog, pools, votes and labels are: "" for lookalike.db in this folder, or postgresql://user@host/name.
database = {database}
"""
_ADDED = """
# Photos that were added later.
[[added]]
source = {source}
photos = {photos}
layout = {layout}
columns = {columns}
role = {role}
values = {values}
"""


@dataclass(frozen=True)
class Source:
    """A folder or table that photos were read from, and how; see the comments in the file itself."""

    source: str
    photos: str
    layout: str = ""
    columns: tuple[str, ...] = ()
    role: str = ""
    values: tuple[str, ...] = ()

    def of(self, folder: Path) -> Path:
        """Where it is, for the workspace in this folder."""
        return folder / self.source

    @property
    def renamed(self) -> dict[str, str]:
        """Columns under another name: what they are here, and what they are called there."""
        return dict(part.partition("=")[::2] for part in self.columns)

    @property
    def set(self) -> dict[str, str]:
        """Columns with one value for all of it."""
        return dict(part.partition("=")[::2] for part in self.values)


@dataclass(frozen=True)
class Settings(Source):
    """The settings of a workspace; see the comments in the file itself."""

    max_megapixels: float = 100.0
    seed: int = 0
    generated: bool = False
    database: str = ""
    format: int = FORMAT
    added: tuple[Source, ...] = ()

    @property
    def sources(self) -> tuple[Source, ...]:
        """What `init` read, and what was added to it."""
        own = Source(self.source, self.photos, self.layout, self.columns, self.role, self.values)
        return (own, *self.added)

    def with_source(self, source: Source) -> "Settings":
        """These settings with a source read last: what it says counts. One that was added before moves there."""
        others = tuple(one for one in self.added if one.source != source.source)
        return self if source == self.sources[0] and not others else replace(self, added=(*others, source))

    def without_source(self, place: Path, folder: Path) -> "Settings | None":
        """These settings without an added source, None if it is none of them."""
        target = os.path.abspath(place)
        left = tuple(one for one in self.added if os.path.abspath(one.of(folder)) != target)
        return None if len(left) == len(self.added) else replace(self, added=left)

    def write(self, folder: Path) -> None:
        """Write the file, each field with its comment."""
        text = _TEXT.format(**_toml(self)) + "".join(_ADDED.format(**_toml(one)) for one in self.added)
        write_file(folder / FILE, text.encode())


def _toml(values: Source) -> dict[str, str]:
    """Fields as TOML writes them; JSON's strings, numbers and lists are TOML's too."""
    return {
        key: json.dumps(value, ensure_ascii=False) for key, value in vars(values).items() if key != "added"
    }


def read_settings(folder: Path) -> Settings:
    """Read and check the file."""
    path = folder / FILE
    if not path.is_file():
        raise WorkspaceError(
            f"{folder} is no workspace: it has no {FILE}.",
            fix="Make one here with `lookalike init PHOTOS_OR_TABLE`, or name one with --workspace FOLDER.",
        )
    with disk_errors("reading the settings", path):
        content = path.read_bytes()
    try:
        given = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WorkspaceError(
            f"{path} is no valid TOML: {error}.", fix="Mend that line and try again."
        ) from None
    return _checked(given, path)


def _checked(given: dict[str, Any], path: Path) -> Settings:
    added = given.pop("added", [])
    if not isinstance(added, list) or not all(isinstance(one, dict) for one in added):
        raise WorkspaceError(f"{path}: added is no list of [[added]] tables.", fix="Mend or remove them.")
    sources = tuple(Source(**_fields(one, Source, ("source", "photos"), path)) for one in added)
    settings = Settings(**_fields(given, Settings, ("format", "source", "photos"), path), added=sources)
    if settings.format > FORMAT:
        raise WorkspaceError(
            f"{path.parent} was written by a newer Lookalike "
            f"(format {settings.format}, this one knows {FORMAT}).",
            fix="Install the newer Lookalike: pip install --upgrade lookalike",
        )
    _in_range(settings, path)
    if settings.format < 1:
        raise WorkspaceError(
            f"{path}: format is {settings.format}; the first was 1.", fix="Put the line back as it was."
        )
    return settings


def _in_range(settings: Settings, path: Path) -> None:
    """Values of the right kind that still cannot be."""
    wrong = {
        "seed": settings.seed < 0,
        "max_megapixels": not settings.max_megapixels > 0,
        "role": any(source.role not in ("", *ROLES) for source in settings.sources),
    }
    for key, is_wrong in wrong.items():
        if is_wrong:
            value = getattr(settings, key)
            raise WorkspaceError(f"{path}: {key} cannot be {value!r}.", fix="Mend that line.")


KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("source", "photos", "layout", "role", "database"), (str,)),
    **dict.fromkeys(("seed", "format"), (int,)),
    **dict.fromkeys(("columns", "values"), (list,)),
    "max_megapixels": (float, int),
    "generated": (bool,),
}


def _fields(given: dict[str, Any], kind: type, needed: tuple[str, ...], path: Path) -> dict[str, Any]:
    """Settings by name, each of the kind it must be of."""
    known = [field.name for field in fields(kind) if field.name != "added"]
    for key, value in given.items():
        if key not in known:
            raise WorkspaceError(
                f"{path} has the unknown setting {key!r}.",
                fix=f"Remove it; the settings are {', '.join(known)}.",
            )
        if type(value) not in KINDS[key] or (type(value) is list and not _pairs(value)):
            form = (
                'a list like ["image=filename"]'
                if list in KINDS[key]
                else f"of kind {KINDS[key][0].__name__}"
            )
            raise WorkspaceError(f"{path}: {key} is {value!r}, but must be {form}.", fix="Mend that line.")
    missing = [key for key in needed if key not in given]
    if missing:
        raise WorkspaceError(f"{path} lacks the setting {missing[0]!r}.", fix="Add the line again.")
    return {key: tuple(value) if isinstance(value, list) else value for key, value in given.items()}


def _pairs(value: list[Any]) -> bool:
    return all(isinstance(part, str) and all(part.partition("=")) for part in value)
