"""Which format a file of labels or votes has: as asked for, else by its look; and which one is written."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lookalike.core.checks import one_of
from lookalike.core.errors import LookalikeError
from lookalike.store.json_lists import looks_like_results, looks_like_tags, read_json
from lookalike.store.qrels import ENDINGS as QRELS_ENDINGS
from lookalike.store.qrels import looks_like_qrels
from lookalike.store.tables import ENDINGS as TABLES
from lookalike.store.tables import require_ending

TABLE, QRELS, VSD, LABEL_STUDIO, VOTES = "table", "qrels", "vsd", "label-studio", "votes"
FORMATS = (TABLE, QRELS, VSD, LABEL_STUDIO, VOTES)
JSON = (".json",)
WRITTEN: dict[str, Sequence[str]] = {TABLE: TABLES, VOTES: TABLES, LABEL_STUDIO: JSON}


def format_in(path: Path, format: str | None = None) -> str:
    """The format of a file that is read."""
    if format is not None:
        return one_of(format, FORMATS, "format")
    if _starts_as_json(path):
        return _json_format(read_json(path, "tags or tasks"))
    if path.name.lower().endswith(QRELS_ENDINGS):
        return QRELS
    if _has_events(path):
        return VOTES
    return QRELS if looks_like_qrels(path) else TABLE


def format_out(path: Path, format: str | None = None) -> str:
    """The format that labels are written in: as asked for, else by the file's name."""
    if format is not None:
        if one_of(format, FORMATS, "format") in WRITTEN:
            require_ending(path, {TABLE: "labels", VOTES: "votes"}.get(format, "tasks"), WRITTEN[format])
        return format
    require_ending(path, "labels", (*TABLES, *QRELS_ENDINGS[:2], *JSON))
    name = path.name.lower()
    return TABLE if name.endswith(TABLES) else VSD if name.endswith(JSON) else QRELS


def _starts_as_json(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            start = file.read(64).decode("utf-8-sig", "replace").lstrip()
    except OSError:
        return False  # who reads it as a table will say so
    return start.startswith("[") or (path.suffix.lower() == ".json" and start.startswith("{"))


def _json_format(rows: list[Any]) -> str:
    if looks_like_results(rows):
        return LABEL_STUDIO
    return VSD if looks_like_tags(rows) or not rows else TABLE


def _has_events(path: Path) -> bool:
    """Whether a table has the first columns of a history."""
    if path.suffix.lower() == ".parquet":
        import polars

        try:
            with path.open("rb") as file:
                return {"event", "token"} <= polars.read_parquet_schema(file).keys()
        except (polars.exceptions.PolarsError, OSError, LookalikeError):
            return False
    try:
        with path.open("rb") as file:
            head = file.readline(4_096).decode("utf-8-sig", "replace")
    except OSError:
        return False
    names = [name.strip().strip('"').lower() for name in head.replace(";", ",").replace("\t", ",").split(",")]
    return "event" in names and "token" in names
