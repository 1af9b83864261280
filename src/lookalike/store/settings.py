"""`lookalike.toml`: the settings of a workspace. A folder is a workspace exactly when it holds this file."""

import json
import os
import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from lookalike.core.errors import WorkspaceError
from lookalike.core.types import ROLES
from lookalike.store.disk import disk_errors, write_file

FILE = "lookalike.toml"
FORMAT = 3


def _pair(given: str) -> str:
    if not all(given.partition("=")):
        raise ValueError('must have the form "name=value"')
    return given


def _role(given: str) -> str:
    if given not in ("", *ROLES):
        raise ValueError(f"must be {', '.join(ROLES)} or empty")
    return given


Pairs = tuple[Annotated[str, AfterValidator(_pair)], ...]


@dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class PhotoSource:
    """A folder or table that photos were read from, and how. A field's description is its comment in the file."""

    source: str = Field(description="The folder or table of the photos. A relative path starts here.")
    photos: str = Field(description='The folder that photo paths are relative to. "" if there are no photos.')
    layout: str = Field(default="", description='The layout of the folder. "" means: detect it.')
    columns: Pairs = Field(
        default=(), description='Columns with another name in the table, like "image=filename".'
    )
    role: Annotated[str, AfterValidator(_role)] = Field(
        default="", description="The role of all these images."
    )
    values: Pairs = Field(
        default=(), description='Columns with one value for all these images, like "domain=wild".'
    )
    address: str = Field(
        default="",
        description='The object store that the photos are copied from. "" for photos of this machine.',
    )

    def of(self, folder: Path) -> Path:
        """Its path, for the workspace in this folder."""
        return folder / self.source

    @property
    def renamed(self) -> dict[str, str]:
        """Columns with another name: our name, and the name in the table."""
        return dict(part.partition("=")[::2] for part in self.columns)

    @property
    def set(self) -> dict[str, str]:
        """Columns with one value for all images."""
        return dict(part.partition("=")[::2] for part in self.values)


@dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class WorkspaceSettings(PhotoSource):
    """The settings of a workspace."""

    max_megapixels: float = Field(
        default=100.0, gt=0, description="Photos with more megapixels are left out."
    )
    seed: int = Field(
        default=0, ge=0, description="Seed of the splits and of all samples without a seed of their own."
    )
    generated: bool = Field(default=False, description="Whether this is the generated studio catalog.")
    database: str = Field(
        default="", description='"" for the file lookalike.db, or the address postgresql://user@host/name.'
    )
    format: int = Field(default=FORMAT, description="The version of the workspace format. Do not change it.")
    split_by: tuple[str, ...] = Field(
        default=(),
        description="The encoders from whose pool the splits were drawn. Empty: splits do not depend on encoders.",
    )
    added: tuple[PhotoSource, ...] = Field(default=(), description="Photos that were added later.")

    @property
    def sources(self) -> tuple[PhotoSource, ...]:
        """What `init` read, and what was added to it."""
        own = PhotoSource(**{part.name: getattr(self, part.name) for part in fields(PhotoSource)})
        return (own, *self.added)

    def with_source(self, source: PhotoSource) -> "WorkspaceSettings":
        """These settings with a source at the end of the list, where it takes precedence. It is listed once."""
        others = tuple(one for one in self.added if one.source != source.source)
        return self if source == self.sources[0] and not others else replace(self, added=(*others, source))

    def without_source(self, place: Path, folder: Path) -> "WorkspaceSettings | None":
        """These settings without an added source. None if there is no such source."""
        target = os.path.abspath(place)
        left = tuple(one for one in self.added if os.path.abspath(one.of(folder)) != target)
        return None if len(left) == len(self.added) else replace(self, added=left)

    def write(self, folder: Path) -> None:
        """Write the file, with a comment for each setting."""
        head = "# The settings of a Lookalike workspace. The next command uses what you change here.\n"
        text = head + _commented(self)
        for one in self.added:
            text += f"\n# {_COMMENTS['added']}\n[[added]]\n{_commented(one)}"
        write_file(folder / FILE, text.encode(), private=True)


_CHECKED = TypeAdapter(WorkspaceSettings)
_COMMENTS = {
    name: part["description"]
    for schema in (_CHECKED.json_schema(), TypeAdapter(PhotoSource).json_schema())
    for name, part in schema["properties"].items()
}


def _commented(settings: PhotoSource) -> str:
    """Fields as TOML, each under its comment. TOML writes strings, numbers and lists like JSON."""
    return "".join(
        f"\n# {_COMMENTS[part.name]}\n{part.name} = {json.dumps(getattr(settings, part.name), ensure_ascii=False)}\n"
        for part in fields(settings)
        if part.name != "added"
    )


def read_settings(folder: Path) -> WorkspaceSettings:
    """Read and check the file.

    Raises WorkspaceError if the file is missing, invalid, or of another version of the format.
    """
    path = folder / FILE
    if not path.is_file():
        raise WorkspaceError(
            f"{folder} is not a workspace: it has no {FILE}.",
            fix="Create one here with `lookalike init PHOTOS_OR_TABLE`, or name one with --workspace FOLDER.",
        )
    with disk_errors("reading the settings", path):
        content = path.read_bytes()
    try:
        given = tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WorkspaceError(f"{path} is not valid TOML: {error}.", fix="Correct that line.") from None
    _require_format(given, folder)
    try:
        return _CHECKED.validate_json(json.dumps(given, default=str))
    except ValidationError as error:
        raise _invalid(path, error) from None


def _require_format(given: dict[str, Any], folder: Path) -> None:
    found = given.setdefault("format", "")  # which fails the validation below
    if not isinstance(found, int) or found == FORMAT:
        return
    if found > FORMAT:
        raise WorkspaceError(
            f"A newer Lookalike wrote {folder} (workspace format {found}; this version reads {FORMAT}).",
            fix="Install the newer version of Lookalike: python3 -m pip install . in its folder",
        )
    raise WorkspaceError(
        f"An earlier Lookalike wrote {folder} (workspace format {found}; this version reads {FORMAT}).",
        fix="Export its labels with the earlier version (lookalike labels export FILE), create a new workspace with "
        "`lookalike init`, and import them there.",
    )


def _invalid(path: Path, error: ValidationError) -> WorkspaceError:
    """The first thing that is wrong: the setting, its value, and the rule."""
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return WorkspaceError(f"{path} has no setting {where!r}.", fix="Add it.")
    if first["type"] == "unexpected_keyword_argument":
        known = ", ".join(part.name for part in fields(WorkspaceSettings))
        return WorkspaceError(f"{path} has the unknown setting {where!r}.", fix=f"Use one of {known}.")
    rule = first["msg"].removeprefix("Value error, ").rstrip(".")
    return WorkspaceError(
        f"{path}: invalid value {first['input']!r} for {where!r} ({rule}).", fix="Correct that line."
    )
