"""Positiveness as CSV or Parquet, written as it comes: no file is too large for memory."""

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float32, Shaped

from lookalike.core.errors import StorageError
from lookalike.positive.contradictions import Contradictions
from lookalike.positive.distances import Block
from lookalike.store.disk import writing
from lookalike.store.tables import require_ending, write_table

if TYPE_CHECKING:
    import polars

COLUMNS = ("image_a", "image_b", "positiveness", "distance")
GROUP = 1_000_000  # rows that are written together


class SoftFile:
    """How rows become a file: the names of images by catalog row, and the positiveness by distance."""

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
        """What a row takes on disk in a file of this ending, by a block that is written to memory."""
        held = io.BytesIO()
        _write([self.frame(block)], path, held)
        return len(held.getvalue()) / max(len(block.a), 1)

    def write(self, blocks: Iterable[Block], path: Path) -> list[int]:
        """Write the blocks in their order as a whole file or not at all; how many rows there are at each distance."""
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
    """Write positiveness of pairs somebody asked for; None is an empty cell."""
    columns = dict(zip(COLUMNS, (image_a, image_b, positiveness, distance), strict=True))
    write_table(columns, path, "positiveness")


def write_contradictions(found: Contradictions, path: Path) -> None:
    """Write labels for review, nearest first; with the label mended `labels import --replace` takes the file."""
    columns: dict[str, Sequence[object]] = {
        "query": found.query.tolist(),
        "candidate": found.candidate.tolist(),
        "label": [0] * len(found),
        "distance": found.distance.tolist(),
        "positiveness": [float(str(value)) for value in found.positiveness],
    }
    write_table(columns, path, "labels")


def _grouped(blocks: Iterable[Block]) -> Iterator[Block]:
    """The same rows in blocks of about as many as are written together."""
    held: list[Block] = []
    for block in blocks:
        held.append(block)
        if sum(len(one.a) for one in held) >= GROUP:
            yield Block(*map(np.concatenate, zip(*held, strict=True)))
            held = []
    if held:
        yield Block(*map(np.concatenate, zip(*held, strict=True)))


def _write(frames: Iterable["polars.DataFrame"], path: Path, file: Any) -> None:  # noqa: ANN401 - a file or memory
    if path.suffix.lower() == ".csv":
        file.write((",".join(COLUMNS) + "\n").encode())
        for frame in frames:
            frame.write_csv(file, include_header=False)
    else:
        _write_parquet(frames, file)


def _write_parquet(frames: Iterable["polars.DataFrame"], file: Any) -> None:  # noqa: ANN401
    """Row groups as they come: polars asks for the next frame when it has written the last ones."""
    import polars
    from polars.exceptions import PolarsError
    from polars.io.plugins import register_io_source

    schema = dict(zip(COLUMNS, (polars.String, polars.String, polars.Float32, polars.UInt8), strict=True))

    def source(
        with_columns: list[str] | None, predicate: object, rows: int | None, batch: int | None
    ) -> Iterator["polars.DataFrame"]:
        yield from frames

    try:
        register_io_source(source, schema=schema).sink_parquet(file, row_group_size=GROUP)
    except PolarsError as error:
        raise StorageError(
            f"Writing the Parquet file failed, and what was there before is unchanged: {error}.",
            fix="Free some space and run the same command again.",
        ) from error
