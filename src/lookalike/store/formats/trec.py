"""TREC files as lines of fields: text in UTF-8, plain or gzip, with fields separated by whitespace.

    qrels   query iteration document relevance
    run     query Q0 document rank score tag

There is no quoting, so an id with whitespace cannot be written.
"""

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from lookalike.core.errors import LookalikeError
from lookalike.core.text import plural, quoted
from lookalike.store.disk import write_file

GZIP = b"\x1f\x8b"
WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
Refuse = Callable[..., LookalikeError]
Line = tuple[int, list[str]]


def read_lines(path: Path, what: str, refuse: Refuse) -> Iterator[Line]:
    """Lines that are not empty, split into fields, each with its number. `refuse` is the class of the error.

    Gzip is recognised by the first bytes, not by the name. A byte order mark is not part of the first id.
    """
    if not path.is_file():
        missing = "is a folder" if path.is_dir() else "does not exist"
        raise refuse(f"{str(path)!r} {missing}.", fix=f"Give a file of {what}, plain or .gz.")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise refuse(f"{str(path)!r} cannot be read: {error.strerror}.", fix="Make it readable.") from error
    if content.startswith(GZIP):
        content = _unzipped(content, path, refuse)
    content = content.removeprefix(codecs.BOM_UTF8)
    _require_text(content, path, refuse)
    empty = True
    for at, line in enumerate(io.BytesIO(content), 1):
        fields = line.decode().split()
        if fields:
            empty = False
            yield at, fields
    if empty:
        raise refuse(f"{str(path)!r} has no line of {what}.", fix=f"Give a file of {what}, plain or .gz.")


def write_lines(lines: Iterable[str], path: Path) -> None:
    """Write lines as a whole file, with gzip if the name ends in .gz. The same lines give the same bytes."""
    content = "".join(f"{line}\n" for line in lines).encode("utf-8")
    write_file(path, gzip.compress(content, mtime=0) if path.suffix.lower() == ".gz" else content)


def require_fields(ids: Iterable[object], what: str, refuse: Refuse) -> None:
    """Raise `refuse` for ids that cannot be a TREC field: with whitespace, empty, or not writable in UTF-8."""
    wrong = [text for text in dict.fromkeys(map(str, ids)) if not _is_field(text)]
    if wrong:
        raise refuse(
            f"TREC fields cannot contain whitespace, so {plural(len(wrong), what)} cannot be written: {quoted(wrong)}.",
            fix="Write CSV or Parquet, or use ids without spaces (`lookalike init TABLE` with an image column).",
        )


def stem(path: Path) -> str:
    """A file's name without its endings.

    >>> stem(Path("runs/other.v2.run.gz")), stem(Path("other"))
    ('other.v2', 'other')
    """
    name = path.name.removesuffix(".gz")
    return Path(name).stem or name


def _is_field(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return text.split() == [text] and not text.startswith("\ufeff")  # a file's first id would lose it


def _unzipped(raw: bytes, path: Path, refuse: Refuse) -> bytes:
    """Decompressed gzip data. Data that is cut off or damaged is refused, with the last line that can be read."""
    parts: list[bytes] = []
    rest = raw
    why = "ends in the middle of its compressed data"
    try:
        while rest:
            member = zlib.decompressobj(wbits=31)
            parts.append(member.decompress(rest))
            if not member.eof:
                break
            rest = member.unused_data.lstrip(b"\0")
        else:
            return b"".join(parts)
    except zlib.error as error:
        why = f"is damaged ({error})"
    line = b"".join(parts).count(b"\n") + 1
    raise refuse(f"{str(path)!r} {why}, after line {line:,}.", fix="Copy or download the file again.")


def _require_text(content: bytes, path: Path, refuse: Refuse) -> None:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise refuse(
            f"{str(path)!r}, line {line:,} is not UTF-8 (byte {content[error.start]:#04x}).",
            fix="Save the file in UTF-8. From Latin-1: iconv -f LATIN1 -t UTF-8 FILE > NEW",
        ) from error
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise refuse(
            f"{str(path)!r}, line {line:,} has zero bytes, so it is not text.", fix="Save it in UTF-8."
        )
