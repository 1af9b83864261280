"""TREC qrels read as the format says, written to the same bytes, and refused with line and way out when faulty."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import retrieved
from oracles.ranking import Photo
from oracles.worlds import catalog_of

from lookalike.core.errors import ArgumentError, LabelsError
from lookalike.core.types import Labels, LeftOut
from lookalike.store.formats.label_files import read_label_file, require_faultless, write_label_file
from lookalike.store.formats.label_formats import format_in
from lookalike.workflows.label.labels import one_per_pair

IMAGES = [f"i{at}" for at in range(6)]
CATALOG = catalog_of([Photo(image, f"p{image}") for image in IMAGES])
lines = st.lists(
    st.tuples(st.sampled_from(IMAGES), st.sampled_from(IMAGES), st.integers(-2, 3)),
    max_size=30,
    unique_by=lambda line: line[:2],
).map(lambda found: [line for line in found if line[0] != line[1]])


def written(folder: Path, content: str | bytes, name: str = "some.qrels") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal_of(path: Path, format: str | None = None) -> str:
    """The complaint about a file, faults and ways out."""
    with pytest.raises(LabelsError) as refused:
        require_faultless(read_label_file(path, CATALOG, format).faults, path.name)
    return str(refused.value)


@given(lines.filter(bool), st.sampled_from([" ", "\t", "  \t"]), st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_lines_are_labels_as_the_format_defines(tmp_path_factory, found, space: str, end: str):
    text = end.join(space.join([query, "Q7", candidate, f"{rel:+d}"]) for query, candidate, rel in found)
    file = read_label_file(written(tmp_path_factory.getbasetemp(), text), CATALOG)
    pairs = zip(file.labels.query, file.labels.candidate, strict=True)
    assert dict(zip(pairs, file.labels.label.tolist(), strict=True)) == retrieved.judgements_of(
        text.replace("\n\n", "\n")
    )
    assert file.unjudged == sum(rel < 0 for *_, rel in found)
    assert not file.faults


@given(lines.filter(bool), st.sampled_from(["some.qrels", "some.qrels.gz"]))
def test_qrels_in_and_out_again_are_the_same_bytes(tmp_path_factory, found, name: str):
    folder = tmp_path_factory.getbasetemp()
    text = "".join(f"{query} 0 {candidate} {int(rel > 0)}\n" for query, candidate, rel in found)
    content = gzip.compress(text.encode(), mtime=0) if name.endswith("gz") else text.encode()
    labels = read_label_file(written(folder, content, name), CATALOG).labels
    write_label_file(labels, folder / f"again-{name}")
    assert (folder / f"again-{name}").read_bytes() == content


@pytest.mark.parametrize("name", ["a.qrels", "a.txt", "qrels", "a.qrel", "a.test"])
def test_qrels_are_known_by_their_lines_or_their_name(tmp_path, name):
    assert format_in(written(tmp_path, "i0 0 i1 1\ni0 0 i2 0\n", name)).name == "qrels"


@pytest.mark.parametrize(
    "text",
    [
        "query,candidate,label\ni0,i1,1\n",
        "query\tcandidate\tlabel\titem\ni0\ti1\t1\tpi1\ni0\ti2\t0\tpi2\n",
        "query candidate;label\na b;c 1\n",
        "query|candidate|label\na 0 b 1\nx|y|1\nx|z|0\n",
    ],
)
def test_tables_are_not_taken_for_qrels(tmp_path, text):
    assert format_in(written(tmp_path, text, "labels.txt")).name == "table"


def test_gzip_is_known_by_its_bytes_and_may_come_in_several_members(tmp_path):
    content = gzip.compress(b"\xef\xbb\xbfi0 0 i1 1\n", mtime=0) + gzip.compress(b"i0 0 i2 0\n", mtime=0)
    for name in ("some.qrels", "some.qrels.gz"):
        labels = read_label_file(written(tmp_path, content, name), CATALOG).labels
        assert labels.query.tolist() == ["i0", "i0"]


def test_a_format_that_is_named_is_not_guessed(tmp_path):
    path = written(tmp_path, "i0 0 i1 1\n", "labels.csv")
    assert len(read_label_file(path, CATALOG).labels) == 1
    with pytest.raises(LabelsError, match="no column 'query'"):
        read_label_file(written(tmp_path, "i0 0 i1 1\ni0 0 i2 1\n", "labels.csv"), CATALOG, "table")
    with pytest.raises(ArgumentError, match="format is 'trec'"):
        read_label_file(path, CATALOG, "trec")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("i0 0 i1\n\ni0 0 i2 1\n", ["four fields", "line 1", "'i0 0 i1'"]),
        ("i0 0 i1 1\ni0 0 i 2 1\n", ["four fields", "line 2"]),
        ("i0 0 i1 yes\n", ["whole number", "line 1", "'yes'"]),
        ("i0 0 i1 0.5\n", ["whole number", "'0.5'"]),
        ("i0 0 i1 1_0\n", ["whole number"]),
        ("i0 0 i1 99999999999999999999999\n", ["whole number"]),
        ("i0 0 i1 ²\n", ["whole number"]),
        ("i0 0 i1 1\ni0 0 i1 0\ni0 0 i2 0\n", ["contradict", "lines 1 and 2"]),
        ("i0 0 i1 1\ni0 0 i1 -1\n", ["contradict", "lines 1 and 2"]),
        ("i0 0 i9 1\n", ["no such image", "line 1", "'i9'"]),
        ("i0 0 i0 1\n", ["itself", "line 1"]),
    ],
)
def test_faulty_lines_refuse_the_file_as_a_whole(tmp_path, text, words):
    complaint = refusal_of(written(tmp_path, text))
    for word in ["nothing was imported", "--skip-invalid", *words]:
        assert word in complaint


def test_all_faults_are_listed_and_the_rest_can_be_used(tmp_path):
    text = "i0 0 i1 1\ni0 0\ni0 0 i2 x\ni0 0 i2 0\ni0 0 i1 1\ni3 0 i4 1\ni3 0 i4 0\ni3 0 i9 -1\n"
    file = read_label_file(written(tmp_path, text), CATALOG)
    assert [(fault.count, fault.where.split(" (")[0]) for fault in file.faults] == [
        (1, "line 2"),
        (1, "line 3"),
        (2, "lines 6 and 7"),
        (1, "line 8"),
    ]
    assert file.repeated == 1
    assert list(zip(file.labels.candidate, file.labels.label.tolist(), strict=True)) == [("i1", 1), ("i2", 0)]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["no line", "qrels (query"]),
        (b" \n\n\t\n", ["no line", "qrels"]),
        (gzip.compress(b"", mtime=0), ["no line", "qrels"]),
        ("i0 0 i1 1\ni0 0 stühle 1\n".encode("latin-1"), ["line 2 is not UTF-8", "0xfc", "iconv"]),
        ("i0 0 i1 1\n".encode("utf-16"), ["line 1 is not UTF-8"]),
        (b"i0 0 i1 1\ni0 0 i2 1\0\n", ["line 2", "zero bytes"]),
        (b"\x1f\x8bnothing", ["is damaged", "line 1", "again"]),
        (gzip.compress(b"i0 0 i1 1\n", mtime=0) + b"rest", ["is damaged", "after line 2"]),
    ],
)
def test_files_that_are_none(tmp_path, content, words):
    complaint = refusal_of(written(tmp_path, content))
    for word in words:
        assert word in complaint, complaint


@pytest.mark.parametrize("kept", [12, 2000, -9, -1])
def test_a_truncated_gzip_file_is_reported_with_its_line(tmp_path, kept):
    text = "".join(f"i{at % 6} 0 i{at * 7919 % 10007} {at % 2}\n" for at in range(4000))
    complaint = refusal_of(written(tmp_path, gzip.compress(text.encode())[:kept], "some.qrels.gz"))
    assert "ends in the middle" in complaint
    assert "after line" in complaint
    assert "download" in complaint


def test_missing_files_and_folders(tmp_path):
    assert "does not exist" in refusal_of(tmp_path / "none.qrels")
    (tmp_path / "folder.qrels").mkdir()
    assert "is a folder" in refusal_of(tmp_path / "folder.qrels")


def test_lines_on_left_out_images_are_counted(tmp_path):
    from dataclasses import replace

    catalog = replace(CATALOG, left_out=(LeftOut("gone", "gone", 7, "it is empty"),))
    file = read_label_file(written(tmp_path, "i0 0 gone 1\ni0 0 gone2 1\ni0 0 i1 1\n"), catalog)
    assert (file.on_left_out, len(file.labels), file.faults[0].count) == (1, 1, 1)


@pytest.mark.parametrize("image", ["with space.png", "new\nline.png", "no\N{NO-BREAK SPACE}break.png", ""])
def test_ids_that_hold_white_space_cannot_be_written(tmp_path, image):
    with pytest.raises(LabelsError, match="1 id cannot") as refused:
        write_label_file(Labels.of(["i0", image], [image, "i1"], [1, 0]), tmp_path / "a.qrels")
    assert repr(image) in refused.value.problem
    assert "Parquet" in refused.value.fix
    assert not list(tmp_path.iterdir())


def test_pairs_with_both_labels_are_found():
    labels = Labels.of(["a", "a", "b", "a"], ["x", "x", "x", "y"], [0, 1, 1, 1])
    kept, (gone,) = one_per_pair(labels)
    assert list(zip(kept.query, kept.candidate, kept.label, strict=True)) == [("b", "x", 1), ("a", "y", 1)]
    assert (gone.count, gone.examples) == (2, (("a", "x"), ("a", "x")))


FIELDS = st.sampled_from([b"i0", b"0", b"i1", b"1", b"-1", b"x", b"\xff", b" ", b"\n", b"\t", b"\r\n", b"\0"])
garbage = st.one_of(st.binary(max_size=60), st.lists(FIELDS, max_size=40).map(b" ".join))


@given(garbage, st.booleans(), st.integers(0, 80))
def test_any_bytes_are_qrels_or_refused_in_words(tmp_path_factory, content: bytes, zipped: bool, kept: int):
    content = gzip.compress(content)[:kept] if zipped else content
    path = written(tmp_path_factory.getbasetemp(), content)
    refusal = None
    try:
        file = read_label_file(path, CATALOG)
    except LabelsError as error:
        refusal = error
    if refusal is not None:
        assert str(path) in refusal.problem
        assert refusal.fix
        return
    assert len(file.labels) + file.unjudged + file.repeated + sum(fault.count for fault in file.faults) > 0
