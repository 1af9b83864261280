"""JSON files that are a list, and what kind of list one is."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lookalike.core.errors import LabelsError
from lookalike.store.disk import disk_errors


def read_json(path: Path, what: str) -> list[Any]:
    """A JSON file that is a list."""
    with disk_errors(f"reading {path.name}", path):
        content = path.read_bytes()
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise LabelsError(
            f"{path} is no valid JSON: {error}.", fix=f"Export the {what} again; the file may be cut short."
        ) from None
    if not isinstance(found, list):
        raise LabelsError(f"{path} is JSON, but no list of {what}.", fix=f"Give a file of {what}.")
    return found


def looks_like_tags(rows: list[Any]) -> bool:
    """Whether the first entry of a JSON list is a tag."""
    return bool(rows) and isinstance(rows[0], Mapping) and {"key", "value"} <= rows[0].keys()


def looks_like_results(rows: list[Any]) -> bool:
    """Whether the first entry of a JSON list is a task of Label Studio's, or an annotation of JSON-MIN."""
    first = rows[0] if rows and isinstance(rows[0], Mapping) else {}
    return isinstance(first.get("data"), Mapping) or "annotation_id" in first
