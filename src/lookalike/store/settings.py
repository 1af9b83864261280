"""`lookalike.toml`: what a workspace is. A folder is a workspace exactly when it holds this file."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path

from lookalike.core.errors import WorkspaceError
from lookalike.store.disk import disk_errors, write_file

FILE = "lookalike.toml"
FORMAT = 2

_TEXT = """\
# A Lookalike workspace. Change a value here and the next command follows it.

# Version of this folder's layout; Lookalike changes it when it migrates the folder.
format = {format}

# What the catalog was read from.
source = {source}

# Folder the photos' paths are relative to; "" for a catalog of vectors only.
photos = {photos}

# Seed of the splits and of every sample that is given none of its own.
seed = {seed}

# True if the catalog is the generated studio catalog; reports then say so.
generated = {generated}
"""


@dataclass(frozen=True)
class Settings:
    """The settings of a workspace; see the comments in the file itself."""

    source: str
    photos: str
    seed: int = 0
    generated: bool = False
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        """Write the file, each field with its comment."""
        values = {key: json.dumps(value, ensure_ascii=False) for key, value in vars(self).items()}
        write_file(folder / FILE, _TEXT.format(**values).encode())


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


def _checked(given: dict[str, object], path: Path) -> Settings:
    kinds = {"source": str, "photos": str, "seed": int, "generated": bool, "format": int}
    for key, value in given.items():
        if key not in kinds:
            raise WorkspaceError(
                f"{path} has the unknown setting {key!r}.",
                fix=f"Remove it; the settings are {', '.join(kinds)}.",
            )
        if type(value) is not kinds[key]:
            raise WorkspaceError(
                f"{path}: {key} is {value!r}, but must be of kind {kinds[key].__name__}.",
                fix="Mend that line.",
            )
    missing = [key for key in ("format", "source", "photos") if key not in given]
    if missing:
        raise WorkspaceError(f"{path} lacks the setting {missing[0]!r}.", fix="Add the line again.")
    settings = Settings(**given)  # type: ignore[arg-type]
    if settings.format > FORMAT:
        raise WorkspaceError(
            f"{path.parent} was written by a newer Lookalike "
            f"(format {settings.format}, this one knows {FORMAT}).",
            fix="Install the newer Lookalike: pip install --upgrade lookalike",
        )
    if settings.format < 1:
        raise WorkspaceError(
            f"{path}: format is {settings.format}; the first was 1.", fix="Put the line back as it was."
        )
    return settings
