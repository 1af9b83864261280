"""Files of chunks: what is written is read, and nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.core.errors import StorageError
from lookalike.store.shards.packed import Packed, packing
from lookalike.store.shards.places import Folder


def write(place: Folder, chunks: list[bytes], header: dict[str, object]) -> str:
    with packing() as (packed, path):
        for chunk in chunks:
            packed.add(chunk)
        identity = packed.close(header)
        packed.file.flush()
        place.put("made", path)
    return identity


@given(st.lists(st.binary(max_size=200), max_size=8), st.dictionaries(st.text(), st.integers()))
def test_what_is_written_is_read(tmp_path_factory, chunks, header):
    place = Folder(tmp_path_factory.mktemp("packed"))
    header.pop("chunks", None)
    identity = write(place, chunks, header)
    found = Packed.opened(place, "made")
    assert found is not None
    assert (found.identity, found.header) == (identity, header)
    assert [found.chunk(number) for number in range(len(found.chunks))] == chunks


def test_there_is_none(tmp_path):
    assert Packed.opened(Folder(tmp_path), "made") is None


def test_the_identity_depends_on_every_chunk_and_the_header(tmp_path):
    made = [
        write(Folder(tmp_path / str(at)), chunks, header)
        for at, (chunks, header) in enumerate(
            [
                ([b"a", b"b"], {"x": 1}),
                ([b"a", b"c"], {"x": 1}),
                ([b"a", b"b"], {"x": 2}),
                ([b"ab"], {"x": 1}),
            ]
        )
    ]
    assert len(set(made)) == 4
    assert write(Folder(tmp_path / "again"), [b"a", b"b"], {"x": 1}) == made[0]


def test_a_file_that_is_cut_short_or_changed_is_refused_wherever_it_is(tmp_path):
    write(Folder(tmp_path), [b"first chunk", b"second chunk"], {"x": 1})
    whole = (tmp_path / "made").read_bytes()

    def read() -> list[bytes]:
        found = Packed.opened(Folder(tmp_path), "made")
        assert found is not None
        return [found.chunk(0), found.chunk(1)]

    for length in range(len(whole)):
        (tmp_path / "made").write_bytes(whole[:length])
        with pytest.raises(StorageError, match="damaged or incomplete"):
            read()
    for at in range(len(whole)):
        (tmp_path / "made").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(StorageError, match="damaged or incomplete"):
            read()
    (tmp_path / "made").write_bytes(whole)
    assert read() == [b"first chunk", b"second chunk"]


def test_wrong_bytes_of_a_store_are_read_again(tmp_path):
    write(Folder(tmp_path), [b"first chunk"], {})

    class Unsteady(Folder):
        wrong = 1

        def read(self, name: str, first: int, last: int) -> bytes:
            found = super().read(name, first, last)
            if first == 0 and self.wrong:
                self.wrong -= 1
                return found[::-1]
            return found

    found = Packed.opened(Unsteady(tmp_path), "made")
    assert found is not None
    assert found.chunk(0) == b"first chunk"
