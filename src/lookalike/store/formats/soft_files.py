"""Positiveness as CSV or Parquet, written block by block, so that it need not fit in memory."""

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np
from jaxtyping import Float32, Shaped

from lookalike.positive.contradictions import Contradictions
from lookalike.positive.distances import Block
from lookalike.store.disk import writing
from lookalike.store.formats.tables import require_ending, write_table

if TYPE_CHECKING:
    import polars

COLUMNS = ("image_a", "image_b", "positiveness", "distance")
GROUP = 1_000_000  # rows that are written together


class SoftFile:
    """Writes pairs to a file, from the images by catalog row and the positiveness by distance."""

    def __init__(
        self, image: Shaped[np.ndarray, " images"], weight: Float32[np.ndarray, " distances"]
    ) -> None:
        import polars

        self._image = polars.Series("image", image.tolist(), dtype=polars.String)
        self._weight = weight

    def frame(self, block: Block) -> "polars.DataFrame":
        """The rows of a block."""
        import polars

        columns = (
            self._image.gather(block.a),
            self._image.gather(block.b),
            polars.Series(self._weight[block.hops]),
            polars.Series(block.hops),
        )
        return polars.DataFrame(dict(zip(COLUMNS, columns, strict=True)))

    def bytes_per_row(self, block: Block, path: Path) -> float:
        """The bytes of a row in a file with this ending, measured on a block that is written to memory."""
        held = io.BytesIO()
        _write([self.frame(block)], path, held)
        return len(held.getvalue()) / max(len(block.a), 1)

    def write(self, blocks: Iterable[Block], path: Path) -> list[int]:
        """Write the blocks in their order as a whole file. Returns the number of rows at each distance."""
        require_ending(path, "positiveness")
        rows = np.zeros(256, np.int64)

        def counted() -> Iterator[Block]:
            for block in blocks:
                rows[:] += np.bincount(block.hops, minlength=256)
                yield block

        with writing(path) as file:
            _write((self.frame(block) for block in _grouped(counted())), path, file)
        return rows[: int(np.flatnonzero(rows).max(initial=-1)) + 1].tolist()


def write_given_pairs(
    image_a: Sequence[str],
    image_b: Sequence[str],
    positiveness: Sequence[float | None],
    distance: Sequence[int | None],
    path: Path,
) -> None:
    """Write the positiveness of given pairs. None is an empty cell."""
    columns = dict(zip(COLUMNS, (image_a, image_b, positiveness, distance), strict=True))
    write_table(columns, path, "positiveness")


def write_contradictions(found: Contradictions, path: Path) -> None:
    """Write labels for review, nearest first. `labels import --replace` reads the corrected file."""
    columns: dict[str, Sequence[object]] = {
        "query": found.query.tolist(),
        "candidate": found.candidate.tolist(),
        "label": [0] * len(found),
        "distance": found.distance.tolist(),
        "positiveness": [float(str(value)) for value in found.positiveness],
    }
    write_table(columns, path, "labels")


def _grouped(blocks: Iterable[Block]) -> Iterator[Block]:
    """The same rows in blocks of about GROUP rows."""
    held: list[Block] = []
    for block in blocks:
        held.append(block)
        if sum(len(one.a) for one in held) >= GROUP:
            yield Block(*map(np.concatenate, zip(*held, strict=True)))
            held = []
    if held:
        yield Block(*map(np.concatenate, zip(*held, strict=True)))


def _write(frames: Iterable["polars.DataFrame"], path: Path, file: Any) -> None:  # noqa: ANN401 - a file or memory
    """Write rows block by block. Raises the OSError of the system, of which polars keeps only the text."""
    kept = _Remembering(file)
    try:
        (_write_csv if path.suffix.lower() == ".csv" else _write_parquet)(frames, kept)
    except Exception:
        if kept.refused is not None:
            raise kept.refused from None
        raise


def _write_csv(frames: Iterable["polars.DataFrame"], file: "_Remembering") -> None:
    file.write((",".join(COLUMNS) + "\n").encode())
    for frame in frames:
        frame.write_csv(cast("IO[bytes]", file), include_header=False)


def _write_parquet(frames: Iterable["polars.DataFrame"], file: "_Remembering") -> None:
    """Write row groups one by one: polars asks for the next frame when it has written the last one.

    The frames end when a write fails, because polars would continue to ask.
    """
    import polars
    from polars.io.plugins import register_io_source

    schema = dict(zip(COLUMNS, (polars.String, polars.String, polars.Float32, polars.UInt8), strict=True))

    def source(
        with_columns: list[str] | None, predicate: object, rows: int | None, batch: int | None
    ) -> Iterator["polars.DataFrame"]:
        for frame in frames:
            if file.refused is not None:
                raise file.refused
            yield frame

    register_io_source(source, schema=schema).sink_parquet(cast("IO[bytes]", file), row_group_size=GROUP)


class _Remembering(io.RawIOBase):
    """A file that remembers the OSError of a write, also if a library catches it."""

    def __init__(self, file: Any) -> None:  # noqa: ANN401 - a file or memory
        self._file = file
        self.refused: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:  # noqa: ANN401 - any buffer
        try:
            return int(self._file.write(content))
        except OSError as error:
            self.refused = error
            raise
