"""What `status` reads of the catalog in SQL is what the whole catalog says."""

import numpy as np
import pytest

from lookalike.catalog.duplicates.count import count_duplicates
from lookalike.core.checks import strings
from lookalike.core.types import Catalog, LeftOut
from lookalike.store.sql.database import Database
from lookalike.store.sql.rows import (
    catalog_summary,
    first_paths,
    read_catalog,
    read_images_fingerprint,
    write_catalog,
)


def catalog(rows: int) -> Catalog:
    """Photos with boxes, masks, duplicates across items and splits, and some without a category."""
    at = range(rows)
    return Catalog(
        image=strings(f"b{row}" for row in reversed(at)),
        path=strings(f"{row}.jpg" for row in at),
        item=strings(row // 3 for row in at),
        category=strings(["", "chair", "table"][row % 3] for row in at),
        role=np.full(rows, "both", object),
        split=strings(["train", "test"][row % 2] for row in at),
        position=np.arange(rows),
        digest=strings(f"{row // 2:064x}" for row in at),
        width=np.full(rows, 9),
        height=np.full(rows, 9),
        left_out=(LeftOut("gone", "gone.jpg", rows, "damaged"),) * bool(rows),
        duplicate=np.array([row // 4 if row % 5 else -1 for row in at], np.int64),
        box=strings(["", "0,0,4,4", "0,0,5,5 abc masks/a b.png"][row % 3] for row in at),
    )


@pytest.mark.parametrize("rows", [0, 1, 20])
def test_the_summary_is_that_of_the_whole_catalog(database_place, rows):
    database = Database(database_place)
    database.migrate()
    with database.write() as connection:
        write_catalog(connection, catalog(rows))
    with database.read() as connection:
        whole, found = read_catalog(connection), catalog_summary(connection)
        assert read_images_fingerprint(connection) == whole.images_fingerprint
        assert first_paths(connection, 7) == whole.path[:7].tolist()
    database.close()
    assert (found.images, found.left_out) == (len(whole), len(whole.left_out)) == (rows, int(rows > 0))
    assert found.items == len(set(whole.item))
    assert found.categories == len(set(whole.category) - {""})
    assert found.duplicates == count_duplicates(whole)
