"""A SQLite file that is deleted, moved or replaced under a server: nothing is acknowledged that would be lost."""

import pytest
from shops import Shop
from sqlalchemy import text

from lookalike.core.errors import StorageError
from lookalike.store.labelling.writer import Writer

WRITE = text("INSERT INTO audit (at, action) VALUES (1, :what)")
READ = text("SELECT action FROM audit ORDER BY id")


def written(writer, what):
    return writer.submit(lambda connection: connection.execute(WRITE, {"what": what}).rowcount).result(30)


def test_what_goes_into_a_deleted_file_is_not_acknowledged(tmp_path):
    place = tmp_path / "lookalike.db"
    shop = Shop(place)
    writer = Writer(shop.database)
    assert written(writer, "first") == 1
    away = tmp_path / "away.db"
    place.rename(away)
    for _ in range(2):
        with pytest.raises(StorageError, match="deleted or moved"):
            written(writer, "nobody's")
    assert not place.exists()  # and no empty one is made in its place
    away.rename(place)
    assert written(writer, "back again") == 1
    writer.close()
    with shop.database.read() as connection:
        found = connection.execute(READ).scalars().all()
    assert found[0] == "first"
    assert found[-1] == "back again"


def test_a_file_that_takes_its_place_is_noticed(tmp_path):
    place = tmp_path / "lookalike.db"
    shop, other = Shop(place), Shop(tmp_path / "other.db")
    writer = Writer(shop.database)
    assert written(writer, "old") == 1
    shop.database.close()
    other.database.close()
    (tmp_path / "other.db").replace(place)
    for left in ("-wal", "-shm"):
        (tmp_path / f"lookalike.db{left}").unlink(missing_ok=True)
    with pytest.raises(StorageError, match="replaced by another"):
        written(writer, "into the old one")
    assert written(writer, "new") == 1
    writer.close()
    with shop.database.read() as connection:
        assert connection.execute(READ).scalars().all() == ["new"]
