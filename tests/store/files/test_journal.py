"""A journal holds what was added, whole, whatever a kill left behind."""

import pytest

from lookalike.core.errors import StorageError
from lookalike.store.journal import Journal


def test_resumes_where_it_stopped(tmp_path):
    first = Journal(tmp_path / "new" / "one.jsonl")
    first.add({"key": "a", "value": 0.1})
    first.add({"key": "b", "value": None})
    again = Journal(tmp_path / "new" / "one.jsonl")
    assert list(again) == [{"key": "a", "value": 0.1}, {"key": "b", "value": None}]
    assert again.get("a") == {"key": "a", "value": 0.1}
    assert again.get("c") is None


@pytest.mark.parametrize("kept", range(1, 12))
def test_half_a_line_that_a_kill_left_is_taken_off(tmp_path, kept):
    path = tmp_path / "one.jsonl"
    Journal(path).add({"key": "a"})
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:kept].rstrip(b"\n"))
    journal = Journal(path)
    assert len(journal) == 1
    journal.add({"key": "b"})
    assert [entry["key"] for entry in Journal(path)] == ["a", "b"]


@pytest.mark.parametrize("line", ["{", "[1]", "{}", '{"key": 3}', "null"])
def test_a_line_that_is_no_entry_is_named(tmp_path, line):
    path = tmp_path / "one.jsonl"
    path.write_text('{"key": "a"}\n' + line + "\n")
    with pytest.raises(StorageError, match="Line 2"):
        Journal(path)


def test_a_folder_in_its_place_is_refused(tmp_path):
    with pytest.raises(StorageError):
        Journal(tmp_path)
