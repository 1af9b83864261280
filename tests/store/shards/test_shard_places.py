"""Folders of immutable files on a disk and in an object store: one suite for both, then what only a store can do."""

import socket
from pathlib import Path

import pytest
from object_store import SECRET, object_store

from lookalike.core import object_store as stores
from lookalike.core.errors import StorageError
from lookalike.core.object_store import PATIENCE, ObjectStore
from lookalike.store.shards.places import Folder, Place, place_at

CONTENT = bytes(range(256)) * 4


@pytest.fixture(params=["folder", "s3"])
def place(request, tmp_path, monkeypatch):
    if request.param == "folder":
        yield place_at(str(tmp_path / "shared/plan"))
        return
    with object_store(monkeypatch) as bucket:
        yield place_at(f"{bucket}/plans/first")


@pytest.fixture
def file(tmp_path) -> Path:
    (tmp_path / "made").write_bytes(CONTENT)
    return tmp_path / "made"


def test_the_kind_of_place(tmp_path):
    assert isinstance(place_at(str(tmp_path)), Folder)
    assert isinstance(place_at("memory://x"), ObjectStore)


def test_a_file_is_written_once_and_read_by_range(place: Place, file: Path):
    assert list(place.names()) == []
    assert place.size("a") is None
    assert place.put("a", file) is True
    assert place.size("a") == len(CONTENT)
    assert place.read("a", 0, len(CONTENT)) == CONTENT
    assert place.read("a", 300, 310) == CONTENT[300:310]
    assert place.put("b", file) is True
    assert sorted(place.names()) == ["a", "b"]


def test_a_file_that_exists_stays(place: Place, file: Path):
    assert place.put("a", file) is True
    file.write_bytes(b"other")
    assert place.put("a", file) is False
    assert place.read("a", 0, len(CONTENT)) == CONTENT
    assert sorted(place.names()) == ["a"]


def test_names_in_pages(monkeypatch, file):
    with object_store(monkeypatch) as bucket:
        place = place_at(f"{bucket}/many")
        for number in range(7):
            place.put(f"shard-{number}", file)
        asked = []
        real = place._files.call_s3

        def in_pages_of_three(method, **options):
            asked.append(method)
            return real(method, **options, MaxKeys=3)

        monkeypatch.setattr(place._files, "call_s3", in_pages_of_three, raising=False)
        names = place.names()
        assert next(names).startswith("shard-")
        assert len(asked) == 1  # the others are not listed before they are needed
        assert len(list(names)) == 6
        assert len(asked) == 3


def test_a_bucket_that_does_not_exist(monkeypatch, file):
    with object_store(monkeypatch):
        place = place_at("s3://nowhere/plan")
        with pytest.raises(StorageError, match="s3://nowhere/plan") as refused:
            place.put("a", file)
        assert "bucket" in refused.value.fix


def test_half_of_a_file_is_asked_for_again_then_refused(monkeypatch, file):
    with object_store(monkeypatch) as bucket:
        place = place_at(f"{bucket}/plan")
        place.put("a", file)
        answers = []
        real = place._files.cat_file

        def cut_short(path, *, start, end):
            answers.append(1)
            return real(path, start=start, end=end)[: 100 if len(answers) <= cut else None]

        monkeypatch.setattr(place._files, "cat_file", cut_short, raising=False)
        cut = 1
        assert place.read("a", 0, 500) == CONTENT[:500]
        assert len(answers) == 2
        cut = 10
        with pytest.raises(StorageError, match="100 of 500 bytes"):
            place.read("a", 0, 500)


def test_refused_credentials_are_not_in_the_error(monkeypatch, file):
    with object_store(monkeypatch) as bucket:
        place = place_at(f"{bucket}/plan")

        def refuse(*_, **__):
            raise PermissionError(f"The key {SECRET} is not known")

        monkeypatch.setattr(place._files, "put_file", refuse, raising=False)
        with pytest.raises(StorageError) as refused:
            place.put("a", file)
    assert "refuses the credentials" in refused.value.problem
    assert "The key *** is not known" in refused.value.problem
    assert SECRET not in str(refused.value)


def test_a_store_that_nobody_answers_for(monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with object_store(monkeypatch):
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{unused.getsockname()[1]}")
            monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
            import s3fs

            s3fs.S3FileSystem.clear_instance_cache()
            monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
            with pytest.raises(StorageError, match="Check the address, the network"):
                place_at("s3://shop/plan").size("a")


def test_a_store_that_does_not_answer_is_given_up(monkeypatch):
    """It takes the connection and then says nothing."""
    monkeypatch.setitem(PATIENCE, "config_kwargs", {**PATIENCE["config_kwargs"], "read_timeout": 0.2})
    with object_store(monkeypatch) as address, socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        place = place_at(f"{address}/plan")
        with pytest.raises(StorageError, match="Read timeout") as caught:
            place.size("plan")
    assert "run the same command again" in caught.value.fix


def test_credentials_in_an_address_are_refused():
    with pytest.raises(StorageError) as refused:
        place_at("s3://key:hidden@bucket/plan")
    assert "hidden" not in str(refused.value)


def test_without_the_extra_the_command_to_install_it_is_given(monkeypatch):
    monkeypatch.setattr(stores, "not_installed", lambda names: list(names)[-1:])
    with pytest.raises(StorageError, match="s3fs, which is not installed") as refused:
        place_at("s3://bucket/plan")
    assert "[storage]" in refused.value.fix


@pytest.mark.parametrize(
    "error",
    [TimeoutError("no answer within 60 s"), ConnectionResetError("reset"), ValueError("not what S3 says")],
)
def test_a_store_that_fails_in_mid_transfer_is_named_and_nothing_is_there(monkeypatch, file, error):
    with object_store(monkeypatch) as bucket:
        place = place_at(f"{bucket}/plan")

        def fail(*_, **__):
            raise error

        for method in ("put_file", "cat_file", "info"):
            monkeypatch.setattr(place._files, method, fail, raising=False)
        for call in (lambda: place.put("a", file), lambda: place.read("a", 0, 5), lambda: place.size("a")):
            with pytest.raises(StorageError, match=f"{type(error).__name__}: {error}") as refused:
                call()
            assert "run the same command again" in refused.value.fix
        monkeypatch.undo()
    assert bucket


def test_an_upload_that_breaks_off_leaves_no_file(monkeypatch, file):
    with object_store(monkeypatch) as bucket:
        place = place_at(f"{bucket}/plan")
        real = place._files._call_s3

        async def broken(method, *given, **options):
            if method == "put_object":
                raise ConnectionResetError("the connection was reset")
            return await real(method, *given, **options)

        monkeypatch.setattr(place._files, "_call_s3", broken, raising=False)
        with pytest.raises(StorageError, match="ConnectionResetError"):
            place.put("a", file)
        monkeypatch.setattr(place._files, "_call_s3", real, raising=False)
        assert list(place.names()) == []
        assert place.put("a", file) is True
