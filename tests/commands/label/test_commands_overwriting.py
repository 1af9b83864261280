"""Labels typed into a file of pairs, and files that exist, are lost only if the user says so."""

import csv
import itertools
from pathlib import Path

import polars
import pytest

HEADER = ["query", "candidate", "label", "item"]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def ends(rows: list[dict[str, str]]) -> list[tuple[str, str]]:
    return [(row["query"], row["candidate"]) for row in rows]


def test_typed_labels_and_notes_are_kept_and_new_pairs_join(lookalike, workspace):
    first = lookalike("discover", "--pairs", "pairs.csv", "--json").json["pairs_file"]
    blank = rows_of(workspace / "pairs.csv")
    assert first == {"file": "pairs.csv", "rows": len(blank), "typed": 0, "new": len(blank)}
    typed = [dict(row, note="") for row in blank]
    typed[0]["label"], typed[5]["label"], typed[7]["note"] = "1", "0", "look again"
    write(workspace / "pairs.csv", typed)
    again = lookalike("discover", "--pairs", "pairs.csv", "--json").json["pairs_file"]
    assert again == {"file": "pairs.csv", "rows": len(blank), "typed": 3, "new": 0}
    assert rows_of(workspace / "pairs.csv") == typed
    more = lookalike("discover", "--random", 60, "--pairs", "pairs.csv", "--json").json
    rows = rows_of(workspace / "pairs.csv")
    assert more["pairs_file"]["new"] == len(rows) - len(typed) > 0
    assert len(rows) == more["to_label"]
    assert [row for row in rows if row in typed] == typed
    assert len(set(ends(rows))) == len(rows)


def test_labels_that_were_imported_stay_in_the_file(lookalike, workspace):
    lookalike("discover", "--pairs", "pairs.csv")
    rows = rows_of(workspace / "pairs.csv")
    rows[3]["label"], rows[4]["label"] = "1", "0"
    write(workspace / "pairs.csv", rows)
    assert lookalike("labels", "import", "pairs.csv", "--json").json["added"] == 2
    done = lookalike("discover", "--pairs", "pairs.csv", "--json").json
    assert done["to_label"] == len(rows) - 2
    assert rows_of(workspace / "pairs.csv") == [rows[3], rows[4], *rows[:3], *rows[5:]]


def test_a_parquet_file_and_a_file_of_a_spreadsheet_keep_their_labels(lookalike, workspace):
    lookalike("discover", "--pairs", "pairs.parquet")
    frame = polars.read_parquet("pairs.parquet").with_columns(
        label=polars.Series([1, 0, *[None] * 1000][: len(polars.read_parquet("pairs.parquet"))])
    )
    frame.write_parquet("pairs.parquet")
    lookalike("discover", "--pairs", "pairs.parquet")
    assert polars.read_parquet("pairs.parquet")["label"].to_list()[:3] == ["1", "0", ""]
    text = frame.write_csv(separator=";")
    (workspace / "pairs.csv").write_text("\ufeff" + text.replace("query;", "Query;", 1), encoding="utf-8")
    lookalike("discover", "--pairs", "pairs.csv")
    assert [row["label"] for row in rows_of(workspace / "pairs.csv")[:3]] == ["1", "0", ""]


def test_a_file_of_something_else_is_never_taken_for_pairs(lookalike, workspace):
    for name, text in (("a.csv", "image,item\nx,y\n"), ("b.csv", 'query,"candidate\n'), ("c.csv", "notes\n")):
        (workspace / name).write_text(text)
        for command in (("discover", "--random", 9), ("compare", "color", "hog")):
            assert lookalike(*command, "--pairs", name).status == 1
        assert (workspace / name).read_text() == text
    assert lookalike("discover", "--json").json["random"]["drawn"] == 0  # refused before anything was done
    (workspace / "empty.csv").write_text(",".join(HEADER) + "\n")
    assert lookalike("discover", "--pairs", "empty.csv").status == 0


def test_the_pairs_of_a_comparison_keep_typed_labels(lookalike, workspace):
    assert lookalike("compare", "color", "hog", "--width", 1, "--pairs", "next.csv").status == 0
    rows = rows_of(workspace / "next.csv")
    rows[1]["label"] = "1"
    write(workspace / "next.csv", rows)
    assert lookalike("compare", "color", "hog", "--width", 1, "--pairs", "next.csv").status == 0
    assert rows_of(workspace / "next.csv") == rows


WRITERS = {
    ("labels", "export", "labels.csv"): ["labels.csv"],
    ("labels", "export", "votes.csv", "--format", "votes"): ["votes.csv"],
    ("labels", "export", "tasks.json", "--format", "label-studio"): ["tasks.json", "tasks.config.xml"],
    ("evaluate", "--replicates", "0", "--output", "s.csv", "--output-judged", "j.csv"): ["s.csv", "j.csv"],
    ("evaluate", "--replicates", "0", "--output-runs", "."): ["hog.run", "labels.qrels"],
    ("discover", "--provenance", "who.csv"): ["who.csv"],
    ("positiveness", "--split", "all", "--out", "soft.csv"): ["soft.csv"],
    ("positiveness", "--split", "all", "--contradictions", "review.csv"): ["review.csv"],
    ("reproduce", "eds-table-2", "--output", "table.txt"): ["table.txt"],
    ("report", "--output", "page.html"): ["page.html"],
    ("audit", "--replicates", "0", "--items", "items.csv"): ["items.csv"],
}


@pytest.mark.parametrize(
    ("command", "name"), [(command, name) for command, names in WRITERS.items() for name in names]
)
def test_a_file_that_exists_is_overwritten_only_on_request(lookalike, labelled, command, name):
    before = sorted(labelled.iterdir())
    (labelled / name).write_text("mine")
    refused = lookalike(*command, "--json")
    assert (refused.status, refused.json["error"]["kind"]) == (1, "ArgumentError")
    assert name in refused.json["error"]["problem"]
    assert "--force" in refused.json["error"]["fix"]
    assert sorted(labelled.iterdir()) == sorted({*before, labelled / name})
    assert (labelled / name).read_text() == "mine"
    assert lookalike(*command, "--force").status == 0
    assert (labelled / name).read_bytes() != b"mine"


def test_a_backup_is_overwritten_only_on_request_and_another_file_never(lookalike, workspace):
    assert lookalike("backup", "kept.backup").status == 0
    before = (workspace / "kept.backup").stat().st_ino
    assert lookalike("backup", "kept.backup").status == 1
    assert (workspace / "kept.backup").stat().st_ino == before
    assert lookalike("backup", "kept.backup", "--force").status == 0
    assert (workspace / "kept.backup").stat().st_ino != before
    (workspace / "notes.txt").write_text("mine")
    assert lookalike("backup", "notes.txt", "--force").status == 1
    assert (workspace / "notes.txt").read_text() == "mine"


def test_long_commands_refuse_before_they_begin(lookalike, labelled):
    files = ("bias.csv", "pools.csv", "bias.svg", "t.toml", "head.onnx")
    for name in files:
        (labelled / name).write_text("mine")
    for command in (
        ("bias", "--output", "."),
        ("bias", "--calibration", "t.toml"),
        ("finetune", "hog", "--name", "better", "--onnx", "head.onnx"),
    ):
        refused = lookalike(*command, "--json")
        assert "exists" in refused.json["error"]["problem"], refused
    assert {(labelled / name).read_text() for name in files} == {"mine"}


def test_the_default_path_of_a_report_is_written_again(lookalike, labelled):
    for _ in itertools.repeat(None, 2):
        assert lookalike("report").status == 0
