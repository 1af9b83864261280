"""TREC run files read as the format says, written so that they are read back, refused with their lines when faulty."""

import gzip
import re
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import retrieved

from lookalike.core.checks import strings
from lookalike.core.errors import RunError
from lookalike.rank.runs import Run
from lookalike.store.formats.runs import read_run, write_run

names = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), min_size=1, max_size=5).filter(
    lambda text: text.split() == [text]
)
scores = st.floats(-(2.0**100), 2.0**100, width=32)
lists = st.dictionaries(names, st.dictionaries(names, scores, min_size=1, max_size=6), min_size=1, max_size=4)


def run_with(found: dict[str, dict[str, float]], name: str = "tag") -> Run:
    rows = [
        (q, c, s) for q, listed in found.items() for c, s in sorted(listed.items(), key=lambda pair: -pair[1])
    ]
    return Run(
        name,
        *(strings(row[at] for row in rows) for at in (0, 1)),
        np.array([row[2] for row in rows], np.float64),
    )


def as_lists(run: Run) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for query, candidate, score in zip(run.query, run.candidate, run.score.tolist(), strict=True):
        found.setdefault(query, {})[candidate] = score
    return found


def written(folder: Path, content: str | bytes, name: str = "other.run") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal_of(path: Path) -> str:
    with pytest.raises(RunError) as refused:
        read_run(path)
    return str(refused.value)


@given(lists, st.sampled_from(["a.run", "a.run.gz"]))
def test_what_is_written_is_read_back_by_us_by_hand_and_by_ir_measures(tmp_path_factory, found, name: str):
    path = tmp_path_factory.getbasetemp() / name
    write_run(run_with(found), path)
    again = read_run(path)
    assert again.name == "tag"
    content = gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()
    text = content.decode()
    expected = {q: {c: np.float32(s) for c, s in listed.items()} for q, listed in found.items()}
    for reading in (as_lists(again), retrieved.run_of(text), theirs(text)):
        assert {q: {c: np.float32(s) for c, s in listed.items()} for q, listed in reading.items()} == expected


def theirs(text: str) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for line in ir_measures.read_trec_run(text):
        found.setdefault(line.query_id, {})[line.doc_id] = line.score
    return found


@given(lists)
def test_lines_of_any_order_are_read_as_the_format_defines(tmp_path_factory, found):
    rows = [(q, c, s) for q, listed in found.items() for c, s in listed.items()]
    text = "".join(f"{q}\tQ0  {c} 0\t{s!r} me\r\n" for q, c, s in rows)
    path = written(tmp_path_factory.getbasetemp(), text)
    assert as_lists(read_run(path)) == retrieved.run_of(text)


def test_ranks_count_from_one_for_each_query(tmp_path):
    write_run(run_with({"q": {"a": 0.5, "b": 0.25}, "r": {"a": 1.0}}), tmp_path / "a.run")
    assert (tmp_path / "a.run").read_text() == "q Q0 a 1 0.5 tag\nq Q0 b 2 0.25 tag\nr Q0 a 1 1.0 tag\n"


def test_the_name_is_the_tag_or_with_several_tags_the_name_of_the_file(tmp_path):
    assert read_run(written(tmp_path, "q Q0 a 1 1 mine\nq Q0 b 2 0 mine\n")).name == "mine"
    mixed = written(tmp_path, gzip.compress(b"q Q0 a 1 1 mine\nq Q0 b 2 0 yours\n", mtime=0), "our.v2.run.gz")
    assert read_run(mixed).name == "our.v2"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("q Q0 a 1 1.0", ["not six fields", "line 3", "'q Q0 a 1 1.0'"]),
        ("q Q0 a b 1 1.0 me", ["not six fields"]),
        ("q Q0 a first 1.0 me", ["rank is not a whole"]),
        ("q Q0 a 1 high me", ["score is not a finite"]),
        ("q Q0 a 1 nan me", ["score is not a finite"]),
        ("q Q0 a 1 inf me", ["score is not a finite"]),
        ("q Q0 a 1 -1e39 me", ["score is not a finite"]),
        ("q Q0 a 1 1_0 me", ["score is not a finite"]),
        ("q Q0 z 1 0.5 me", ["the same document", "line 3"]),
    ],
)
def test_faulty_lines_refuse_the_run_as_a_whole(tmp_path, line, words):
    complaint = refusal_of(written(tmp_path, f"q Q0 z 1 2.0 me\n\n{line}\n"))
    for word in ["1 line ", "Correct those lines", *words]:
        assert word in complaint, complaint


def test_many_faults_are_counted_and_the_first_are_listed(tmp_path):
    complaint = refusal_of(written(tmp_path, "bad\n" * 8 + "q Q0 a 1 x me\n"))
    assert "9 lines" in complaint
    assert re.search(r"lines 1, 2, 3, 4, 5 and 3 more \(.*'bad'\)", complaint)
    assert "line 9 (" in complaint


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["no line", "a run (query"]),
        (gzip.compress(b"q Q0 a 1 1.0 me\n" * 50, mtime=0)[:-12], ["ends in the middle"]),
        ("q Q0 stühle 1 1.0 me\n".encode("latin-1"), ["line 1 is not UTF-8"]),
    ],
)
def test_files_that_are_none(tmp_path, content, words):
    complaint = refusal_of(written(tmp_path, content))
    for word in words:
        assert word in complaint


def test_distances_are_refused(tmp_path):
    complaint = refusal_of(written(tmp_path, "q Q0 a 1 0.1 me\nq Q0 b 2 0.4 me\nq Q0 c 3 0.9 me\n"))
    assert "0.1 at rank 1" in complaint
    assert "0.4 at rank 2" in complaint
    assert "minus the distance" in complaint


def test_a_slip_in_the_order_is_no_distance(tmp_path):
    text = "q Q0 a 1 0.9 me\nq Q0 b 2 0.8 me\nq Q0 c 3 0.7 me\nq Q0 d 4 0.75 me\n"
    assert len(read_run(written(tmp_path, text))) == 4


def test_ids_that_hold_white_space_cannot_be_written(tmp_path):
    with pytest.raises(RunError, match="'with space'"):
        write_run(run_with({"q": {"with space": 1.0}}), tmp_path / "a.run")
    with pytest.raises(RunError, match="'my system'"):
        write_run(run_with({"q": {"a": 1.0}}, "my system"), tmp_path / "a.run")
    assert not list(tmp_path.iterdir())


FIELDS = st.sampled_from(
    [b"q", b"Q0", b"a", b"1", b"0.5", b"me", b"\xff", b"nan", b" ", b"\n", b"\t", b"\r\n", b"\0"]
)
garbage = st.one_of(st.binary(max_size=60), st.lists(FIELDS, max_size=40).map(b" ".join))


@given(garbage, st.booleans(), st.integers(0, 80))
def test_any_bytes_are_a_run_or_refused_in_words(tmp_path_factory, content: bytes, zipped: bool, kept: int):
    content = gzip.compress(content)[:kept] if zipped else content
    path = written(tmp_path_factory.getbasetemp(), content)
    refusal = None
    try:
        run = read_run(path)
    except RunError as error:
        refusal = error
    if refusal is not None:
        assert str(path) in refusal.problem
        assert refusal.fix
        return
    assert len(run) > 0
    assert np.isfinite(run.score).all()
