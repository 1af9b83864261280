"""The formats of label and vote files: how each is recognised, read and written."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from lookalike.catalog.readers.text_table import TextTable, as_text_table
from lookalike.core.checks import one_of
from lookalike.core.errors import LabelsError, LookalikeError
from lookalike.core.types import Labels
from lookalike.store.disk import write_file
from lookalike.store.formats.designs import DESIGN, NO_DESIGN, DesignOfPair, design_from
from lookalike.store.formats.tables import ENDINGS as TABLES
from lookalike.store.formats.tables import read_json, require_ending, write_rows, write_table
from lookalike.store.formats.trec import WHOLE, read_lines, require_fields, write_lines

COLUMNS = ("query", "candidate", "label")
UNSURE = "unsure"
WORDS = (
    (1, ("1", "1.0", "yes", "y", "true", "t", "similar", "positive", "match")),
    (0, ("0", "0.0", "no", "n", "false", "f", "dissimilar", "not similar", "negative", "no match")),
)
VALUES = {word: label for label, words in WORDS for word in words}
UNJUDGED, BLANK = -1, -2
QRELS, JSON = (".qrels", ".qrels.gz", ".qrel", ".qrel.gz"), (".json",)
TAGS = ({"key", "value"}, {"query", "gallery", "value"})  # the two published forms of VSD-Fashion
Designs = Mapping[tuple[str, str], Sequence[DesignOfPair]]
"""The designs of drawn pairs, by their two images in alphabetical order."""
NO_DESIGNS: Designs = MappingProxyType({})
SAME_NAMES: Mapping[str, str] = MappingProxyType({})
NO_LABEL = "the label is not 0 or 1, nor a word such as yes, no, similar or dissimilar"
_HEAD, _LINES = 16_384, 20  # characters and lines by which a format is recognised


class LabelEntry(NamedTuple):
    """One labelled pair of a file, why it cannot be used ("": it can), and the design if it was drawn.

    `label` is 1 for similar, 0 for dissimilar, `UNJUDGED`, or `BLANK` if it is still to be labelled.
    """

    query: str
    candidate: str
    text: str
    label: int
    reason: str = ""
    design: DesignOfPair | None = None


Entries = tuple[list[LabelEntry], TextTable]
"""The entries of a file, and the table that knows their lines."""


class FileSample:
    """The parts by which a format is recognised: name, first characters, and first entry of a JSON file."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name.lower()

    @cached_property
    def head(self) -> str:
        """The first characters; "" for a file that cannot be read, which its reader reports."""
        try:
            with self.path.open("rb") as file:
                return file.read(_HEAD).decode("utf-8-sig", "replace")
        except OSError:
            return ""

    @cached_property
    def entry(self) -> Mapping[str, Any] | None:
        """The first entry of a JSON list, {} for an empty list. None for what is not JSON."""
        start = self.head.lstrip()
        if not start.startswith("[") and not (self.name.endswith(".json") and start.startswith("{")):
            return None
        rows = read_json(self.path, "tags or tasks") or [{}]
        return rows[0] if isinstance(rows[0], Mapping) else None


@dataclass(frozen=True)
class Format:
    """One format. Votes have neither `read` nor `write` here: see store/history.

    `endings` are those of files that are written. `any_name`: a file of any name can be written if the format is named.
    """

    name: str
    endings: tuple[str, ...]
    recognises: Callable[[FileSample], bool]
    read: Callable[[Path], Entries]
    write: Callable[[Labels, Path], None]
    any_name: bool = False
    one_label_per_pair: bool = False


def format_in(path: Path, format: str | None = None) -> Format:
    """The format of a file to read: as named, else recognised."""
    if format is not None:
        return FORMATS[one_of(format, tuple(FORMATS), "format")]
    sample = FileSample(path)
    return next(one for one in FORMATS.values() if one.recognises(sample))


def format_out(path: Path, format: str | None = None) -> Format:
    """The format of a file to write: as named, else by the file's name."""
    if format is not None:
        found = FORMATS[one_of(format, tuple(FORMATS), "format")]
        if not found.any_name:
            require_ending(path, found.name, found.endings)
        return found
    require_ending(path, "labels", (*TABLES, *QRELS[:2], *JSON))
    labels = (one for one in FORMATS.values() if one.write is not _no_labels)
    return next(one for one in labels if path.name.lower().endswith(one.endings))


def read_label_table(table: object, columns: Mapping[str, str] = SAME_NAMES) -> Entries:
    """A table with the columns query, candidate and label: a CSV or Parquet file, or one in memory.

    Its columns sample, stratum, probability and seed, if it has them, are the design of pairs that were drawn.

    `columns` says which column is what under another name: `{"candidate": "gallery"}`.
    """
    for name in columns:
        one_of(name, COLUMNS, "--column")
    table = as_text_table(table, wanted=columns.get("query", "query"))
    names = (*COLUMNS, *DESIGN) if set(DESIGN) <= set(table.columns) else COLUMNS
    read = [_column(table, name, columns) for name in names]
    return [_row(*cells) for cells in zip(*read, strict=True)], table


def _row(query: str, candidate: str, text: str, *cells: str) -> LabelEntry:
    try:
        return _plain_row(query, candidate, text)._replace(design=design_from(cells))
    except ValueError:
        return LabelEntry(query, candidate, text, UNJUDGED, NO_DESIGN)


def _plain_row(query: str, candidate: str, text: str) -> LabelEntry:
    word = " ".join(text.lower().split())
    label = VALUES.get(word)
    if label is None and word not in ("", UNSURE):
        return LabelEntry(query, candidate, text, UNJUDGED, NO_LABEL)
    return LabelEntry(query, candidate, text, BLANK if label is None else label)


def write_label_table(labels: Labels, path: Path, designs: Designs = NO_DESIGNS) -> None:
    """Write labels as CSV or Parquet, in their order. A pair of several samples has a row for each."""
    columns = (labels.query.tolist(), labels.candidate.tolist(), labels.label.tolist())
    if not designs:
        write_table(dict(zip(COLUMNS, columns, strict=True)), path)
        return
    nothing = [("", None, None, None)]
    rows = (
        (q, c, y, *design)
        for q, c, y in zip(*columns, strict=True)
        for design in designs.get((min(q, c), max(q, c)), nothing)
    )
    write_rows((*COLUMNS, *DESIGN), rows, path, "labels")


def read_qrels(path: Path) -> Entries:
    """TREC qrels, `query iteration document relevance`.

    As in trec_eval, a relevance of 1 or more is similar, 0 is dissimilar, and below 0 the pair is unjudged. The
    iteration is ignored.
    """
    lines = list(read_lines(path, "qrels (query iteration document relevance)", LabelsError))
    return _once([_line(fields) for _, fields in lines]), TextTable({}, str(path), [at for at, _ in lines])


def _line(fields: Sequence[str]) -> LabelEntry:
    if len(fields) != 4:
        reason = "the line does not have four fields (query, iteration, document, relevance)"
        return LabelEntry("", "", " ".join(fields), UNJUDGED, reason)
    query, _, candidate, text = fields
    if not WHOLE.fullmatch(text):
        return LabelEntry(query, candidate, text, UNJUDGED, "the relevance is not a whole number")
    return LabelEntry(query, candidate, text, min(max(int(text), UNJUDGED), 1))


def write_qrels(labels: Labels, path: Path) -> None:
    """Write labels in their order. Each pair can be there once, and no id can contain whitespace."""
    require_fields([*labels.query, *labels.candidate], "id", LabelsError)
    rows = zip(labels.query, labels.candidate, labels.label.tolist(), strict=True)
    write_lines((f"{query} 0 {candidate} {label}" for query, candidate, label in rows), path)


def read_tags(path: Path) -> Entries:
    """The tags of VSD-Fashion, one JSON list.

    Of an entry there are two forms: `{"key": [seed, candidate], "value": 0 or 1}` and
    `{"query": seed, "gallery": candidate, "value": 0 or 1}`.
    """
    return _once([_tag(row) for row in read_json(path, "tags")]), TextTable({}, str(path))


def _tag(row: object) -> LabelEntry:
    """The entry of a tag. A value is a number, so `true` is not one."""
    tag = row if isinstance(row, Mapping) else {}
    key, value = tag.get("key", [tag.get("query"), tag.get("gallery")]), tag.get("value")
    ids = key if isinstance(key, list) else []
    if len(ids) != 2 or not all(isinstance(one, str | int) and one != "" for one in ids):
        reason = (
            'the entry is not {"key": [seed, candidate], "value": 0 or 1} or {"query": seed, "gallery": candidate, '
            '"value": 0 or 1}'
        )
        return LabelEntry("", "", json.dumps(row, ensure_ascii=False)[:60], UNJUDGED, reason)
    entry = LabelEntry(str(ids[0]), str(ids[1]), json.dumps(value), UNJUDGED, NO_LABEL)
    return entry._replace(label=value, reason="") if type(value) is int and value in (0, 1) else entry


def write_tags(labels: Labels, path: Path) -> None:
    """Write labels as tags, in their order, one per line."""
    rows = zip(labels.query, labels.candidate, labels.label.tolist(), strict=True)
    lines = (json.dumps({"key": [q, c], "value": y}, ensure_ascii=False) for q, c, y in rows)
    write_file(path, ("[\n" + ",\n".join(lines) + "\n]\n").encode())


def _once(entries: list[LabelEntry]) -> list[LabelEntry]:
    """The entries of a format in which a pair has one label. Pairs with several get a reason not to be used."""
    places: dict[tuple[str, str], list[int]] = {}
    for at, one in enumerate(entries):
        if not one.reason:
            places.setdefault((one.query, one.candidate), []).append(at)
    for found in places.values():
        if len({entries[at].label for at in found}) > 1:
            for at in found:
                entries[at] = entries[at]._replace(reason="labels of the same pair contradict each other")
    return entries


def _column(table: TextTable, name: str, columns: Mapping[str, str]) -> Sequence[str]:
    wanted = columns.get(name, name)
    for written, values in table.columns.items():
        if written.strip().lower() == wanted.strip().lower():
            return values
    raise LabelsError(
        f"{table.source} has no column {wanted!r}; it has {', '.join(map(repr, table.columns)) or 'none'}.",
        fix=f"Labels need the columns {', '.join(COLUMNS)}. If yours has another name: --column {name}=NAME",
    )


def _is_results(sample: FileSample) -> bool:
    """Label Studio: tasks with data, or annotations of JSON-MIN."""
    entry = sample.entry or {}
    return isinstance(entry.get("data"), Mapping) or "annotation_id" in entry


def _is_tags(sample: FileSample) -> bool:
    entry = sample.entry
    return entry is not None and (not entry or any(form <= entry.keys() for form in TAGS))


def _is_qrels(sample: FileSample) -> bool:
    """By the name, or because most of the first lines have four fields, the last one a number."""
    if sample.name.endswith(QRELS):
        return True
    if sample.entry is not None or _is_votes(sample):
        return False
    if sample.name.endswith(".gz"):
        return True
    lines = [line.split() for line in sample.head.split("\n")[:_LINES] if line.strip()]
    fit = [len(fields) == 4 and bool(WHOLE.fullmatch(fields[3])) for fields in lines]
    return 2 * sum(fit) > len(fit)


def _is_votes(sample: FileSample) -> bool:
    """A table with the columns event and token."""
    if sample.name.endswith(".parquet"):
        import polars

        try:
            with sample.path.open("rb") as file:
                return {"event", "token"} <= polars.read_parquet_schema(file).keys()
        except (polars.exceptions.PolarsError, OSError, LookalikeError):
            return False
    header = sample.head.partition("\n")[0]
    return {"event", "token"} <= {name.strip().strip('"').lower() for name in re.split("[,;\t]", header)}


def _no_labels(*given: Path | Labels) -> NoReturn:
    path = next(one for one in given if isinstance(one, Path))
    raise LabelsError(
        f"{path} is a file of votes, which only a workspace can turn into labels.",
        fix="Import it with `lookalike labels import FILE`, then use the labels of the workspace.",
    )


VOTES, LABEL_STUDIO, TABLE = "votes", "label-studio", "table"
FORMATS: Mapping[str, Format] = {
    one.name: one
    for one in (
        Format(LABEL_STUDIO, JSON, _is_results, _no_labels, _no_labels),
        Format("vsd", JSON, _is_tags, read_tags, write_tags, any_name=True, one_label_per_pair=True),
        Format("qrels", QRELS, _is_qrels, read_qrels, write_qrels, any_name=True, one_label_per_pair=True),
        Format(VOTES, TABLES, _is_votes, _no_labels, _no_labels),
        Format(TABLE, TABLES, lambda sample: True, read_label_table, write_label_table),
    )
}
"""By name, in the order in which they are recognised."""
