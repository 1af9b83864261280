"""Labels as the tags of VSD-Fashion: `[{"key": [seed, candidate], "value": 0 or 1}]`, one JSON list."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from lookalike.catalog.sheet import Sheet
from lookalike.core.types import Labels
from lookalike.store.disk import write_file
from lookalike.store.json_lists import read_json
from lookalike.store.qrels import CONTRADICTED, repeated

NOT_A_TAG = 'it is no {"key": [seed, candidate], "value": 0 or 1}'
NO_VALUE = "the value is not 0 or 1"
TWICE = "the pair stands in an earlier tag too"


def read_tags(path: Path) -> tuple[Sheet, np.ndarray, list[tuple[str, np.ndarray]]]:
    """The tags as a table; each tag's label; and which tags are at fault, by reason."""
    rows = [_tag(row) for row in read_json(path, "tags")]
    columns = {name: [row[at] for row in rows] for at, name in enumerate(("query", "candidate", "label"))}
    ragged = np.array([query == candidate == "" for query, candidate, _ in rows], dtype=bool)
    broken = np.array([text not in ("0", "1") for text in columns["label"]], dtype=bool) & ~ragged
    label = np.array([int(text == "1") for text in columns["label"]], np.int8)
    twice, contradicted = repeated(columns["query"], columns["candidate"], label, ~ragged & ~broken)
    faults = [(NOT_A_TAG, ragged), (NO_VALUE, broken), (CONTRADICTED, contradicted), (TWICE, twice)]
    return Sheet(columns, str(path), folder=path.parent), label, faults


def _tag(row: object) -> tuple[str, str, str]:
    """Seed, candidate and value as text; two empty ids for what is no tag. `true` is no value: a tag's is a number."""
    key = row.get("key") if isinstance(row, Mapping) else None
    ids = key if isinstance(key, list) else []
    if len(ids) != 2 or not all(isinstance(one, str | int) and one != "" for one in ids):
        return "", "", json.dumps(row, ensure_ascii=False)[:60]
    value = row.get("value") if isinstance(row, Mapping) else None
    plain = str(value) if isinstance(value, int) and not isinstance(value, bool) else json.dumps(value)
    return str(ids[0]), str(ids[1]), plain


def write_tags(labels: Labels, path: Path) -> None:
    """Write labels in their order, one tag a line. The same labels give the same bytes."""
    rows = zip(labels.query, labels.candidate, labels.label.tolist(), strict=True)
    lines = (json.dumps({"key": [q, c], "value": y}, ensure_ascii=False) for q, c, y in rows)
    write_file(path, ("[\n" + ",\n".join(lines) + "\n]\n").encode())
