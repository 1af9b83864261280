"""Labels as files, checked against the catalog; the provenance of pairs as a file."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.catalog.readers.text_table import TextTable
from lookalike.core.errors import ArgumentError, LabelsError
from lookalike.core.text import plural
from lookalike.core.types import Catalog, Labels, Pool
from lookalike.discover.random_pairs import RandomPairs
from lookalike.store.formats.designs import DesignOfPair
from lookalike.store.formats.label_formats import (
    BLANK,
    NO_DESIGNS,
    SAME_NAMES,
    TABLE,
    UNJUDGED,
    Designs,
    LabelEntry,
    format_in,
    format_out,
    read_label_table,
    write_label_table,
)
from lookalike.store.formats.tables import write_table


@dataclass(frozen=True)
class Fault:
    """Rows of a label file that cannot be used, for one reason."""

    reason: str
    count: int
    where: str


@dataclass(frozen=True, eq=False)
class LabelFile:
    """The labels of a file that can be used, and the rows that cannot.

    Not used are `blank` rows without a label, `on_left_out` rows with images that the catalog left out, the
    `unjudged` lines of qrels, whose relevance is below 0, and rows `repeated` with the same label. `designs` are those
    of labelled pairs that were drawn: query, candidate, design.
    """

    labels: Labels
    faults: tuple[Fault, ...]
    on_left_out: int
    blank: int
    notes: tuple[str, ...]
    unjudged: int = 0
    repeated: int = 0
    designs: tuple[tuple[str, str, DesignOfPair], ...] = ()


def read_label_file(
    table: object, catalog: Catalog, format: str | None = None, columns: Mapping[str, str] = SAME_NAMES
) -> LabelFile:
    """Read labels and check every row against the catalog. The format is recognised unless it is named.

    `columns` are names of columns that a table has other names for.
    """
    if isinstance(table, str | os.PathLike):
        path = Path(os.fspath(table))
        read = format_in(path, format)
        if columns and read.name != TABLE:
            raise ArgumentError(
                f"--column renames columns of a table, but {path} is read as {read.name}.",
                fix="Leave out --column, or name the format with --format table.",
            )
        entries, table = read_label_table(path, columns) if columns else read.read(path)
    else:
        entries, table = read_label_table(table, columns)
    gone = {image.image for image in catalog.left_out}
    used: dict[tuple[str, str, int], None] = {}
    faults: dict[str, list[int]] = {}
    designs: list[tuple[str, str, DesignOfPair]] = []
    on_left_out = blank = unjudged = repeated = 0
    for at, one in enumerate(entries):
        is_left_out = one.query in gone or one.candidate in gone
        if reason := one.reason or _wrong(one, catalog, is_left_out):
            faults.setdefault(reason, []).append(at)
        elif one.label == BLANK:
            blank += 1
        elif is_left_out:
            on_left_out += 1
        elif one.label == UNJUDGED:
            unjudged += 1
        else:
            label = (one.query, one.candidate, one.label)
            repeated += label in used and one.design is None
            used[label] = None
            if one.design is not None:
                designs.append((one.query, one.candidate, one.design))
    labels = Labels.of(*([label[part] for label in used] for part in range(3)))
    listed = (_fault(reason, places, entries, table) for reason, places in faults.items())
    return LabelFile(
        labels, tuple(listed), on_left_out, blank, table.notes, unjudged, repeated, tuple(designs)
    )


def _wrong(one: LabelEntry, catalog: Catalog, is_left_out: bool) -> str:
    if not is_left_out and not (one.query in catalog.row and one.candidate in catalog.row):
        return "the catalog has no such image"
    return "the pair is an image and itself" if one.query == one.candidate else ""


def _fault(reason: str, places: Sequence[int], entries: Sequence[LabelEntry], table: TextTable) -> Fault:
    one = entries[places[0]]
    pair = f"query {one.query!r}, candidate {one.candidate!r}, label " if one.query or one.candidate else ""
    return Fault(reason, len(places), f"{table.at(places)} (the first: {pair}{one.text!r})")


def require_faultless(faults: Sequence[Fault], name: str, what: str = "row") -> None:
    """Raise LabelsError if rows (or pairs) of a file cannot be used, with the reasons."""
    if faults:
        listed = "\n".join(f"  {fault.reason}: {fault.where}" for fault in faults)
        count = sum(fault.count for fault in faults)
        raise LabelsError(
            f"{name}: {plural(count, what)} cannot be used, so nothing was imported.\n{listed}",
            fix="Correct the file, or import the rest of it with --skip-invalid.",
        )


def write_label_file(
    labels: Labels, path: Path, format: str | None = None, designs: Designs = NO_DESIGNS
) -> None:
    """Write labels in their order. The same labels give the same bytes. Tables keep the designs of drawn pairs."""
    found = format_out(path, format)
    if found.name == TABLE:
        write_label_table(labels, path, designs)
    else:
        found.write(labels, path)


def write_provenance_file(pool: Pool, drawn: RandomPairs, path: Path) -> None:
    """Write the provenance of every pair, for leads and not for annotators.

    `generators` has the generators that proposed the pair, with the rank (1 is the best). `random` is 1 for a random
    pair; a pair can be both.
    """
    named: dict[tuple[str, str], list[str]] = {ends: [] for ends in zip(pool.query, pool.item, strict=True)}
    ends = list(named)
    for pair, source, rank in zip(pool.pair.tolist(), pool.source.tolist(), pool.rank.tolist(), strict=True):
        named[ends[pair]].append(f"{pool.generators[source]}:{rank + 1}")
    at_random = dict(zip(zip(drawn.query, drawn.item, strict=True), drawn.candidate, strict=True))
    photo = at_random | dict(zip(ends, pool.candidate, strict=True))
    listed = [*ends, *(pair for pair in at_random if pair not in named)]
    columns = {
        "query": [query for query, _ in listed],
        "candidate": [photo[pair] for pair in listed],
        "item": [item for _, item in listed],
        "generators": [" ".join(named.get(pair, [])) for pair in listed],
        "random": [int(pair in at_random) for pair in listed],
    }
    write_table(columns, path)
