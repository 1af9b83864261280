"""Votes, tags, tasks and packages through the commands, as a person uses them."""

import hashlib
import json
import sqlite3
import stat
import zipfile

import pytest
from PIL import Image
from sqlalchemy import insert, select

from lookalike.store.history.rows import history
from lookalike.store.labelling.due import apply_all_due
from lookalike.store.sql.labelling_schema import annotator, audit, example, guideline
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.queue import queue_pairs


def refused(result, *words: str) -> None:
    assert result.status == 1, result
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err, result.err


def annotation(number: int, who: object, choice: str | None, **more: object) -> dict:
    """An annotation as Label Studio's JSON export has it."""
    result = [] if choice is None else [
        {"id": f"r{number}", "type": "choices", "value": {"choices": [choice]}, "origin": "manual",
         "from_name": "similarity", "to_name": "left"}
    ]  # fmt: skip
    return {
        "id": number, "completed_by": who, "result": result, "was_cancelled": False, "ground_truth": False,
        "created_at": f"2026-03-01T10:00:{number % 60:02d}.123456Z", "updated_at": "2026-03-01T11:00:00.000000Z",
        "draft_created_at": None, "lead_time": 2.5, "prediction": {}, "result_count": 0, "task": 1, "project": 1,
        **more,
    }  # fmt: skip


@pytest.fixture
def tasks(lookalike, workspace):
    queue_pairs(Workspace(workspace))
    result = lookalike(
        "labels", "export", "tasks.json", "--format", "label-studio", "--image-prefix", "http://here/"
    )
    assert "tasks.config.xml" in result.out
    return json.loads((workspace / "tasks.json").read_text())


def results(tasks) -> list[dict]:
    """What two annotators made of the first three tasks."""
    made = (
        [annotation(1, 7, "similar"), annotation(2, {"id": 8, "email": "ann@shop.example"}, "similar")],
        [annotation(3, 7, "dissimilar"), annotation(4, 8, "similar")],
        [annotation(5, 7, None, was_cancelled=True), annotation(6, 8, "unsure")],
    )
    return [
        {"id": at + 1, "annotations": made[at], "file_upload": "tasks.json", "drafts": [], "predictions": [],
         "data": tasks[at]["data"], "meta": {}, "project": 1}
        for at in range(3)
    ]  # fmt: skip


def test_tasks_show_both_photos_and_come_back_as_votes(lookalike, workspace, tasks):
    assert {"query", "candidate", "side", "left", "right"} == set(tasks[0]["data"])
    assert all(task["data"]["left"].startswith("http://here/") for task in tasks)
    assert {task["data"]["side"] for task in tasks} == {0, 1}
    assert 'name="similarity"' in (workspace / "tasks.config.xml").read_text()
    (workspace / "results.json").write_text(json.dumps(results(tasks)))
    result = lookalike("labels", "import", "results.json", "--json").json
    assert (result["votes"], result["new_questions"], result["changed_questions"]) == (5, 0, 3)
    assert lookalike("labels", "import", "results.json", "--json").json["votes"] == 0
    opened = Workspace(workspace)
    labels = opened.labels()
    first = tasks[0]["data"]
    assert (first["query"], first["candidate"], 1) in set(
        zip(labels.query, labels.candidate, labels.label, strict=True)
    )
    apply_all_due(opened.database)
    with opened.database.read() as connection:
        rows = list(history(connection))
        roles = set(connection.execute(select(annotator.c.role)).scalars())
    assert roles == {"imported"}
    assert [row.event for row in rows if row.event != "question"] == ["vote"] * 4 + ["skip", "vote"]
    assert {row.took for row in rows if row.event == "vote"} == {2500}
    assert not any("@" in row.who for row in rows)
    second = tuple(sorted(tasks[1]["data"][name] for name in ("query", "candidate")))
    assert next(row.state for row in rows if row.pair == second) == "discussion"


def test_json_min_is_the_same_votes(lookalike, workspace, tasks):
    flat = [
        {**one["data"], "id": one["id"], "similarity": made["result"][0]["value"]["choices"][0], "annotator": 7,
         "annotation_id": made["id"], "created_at": made["created_at"], "lead_time": 2.5}
        for one in results(tasks)[:2] for made in one["annotations"][:1]
    ]  # fmt: skip
    (workspace / "min.json").write_text(json.dumps(flat))
    assert lookalike("labels", "import", "min.json", "--json").json["votes"] == 2
    (workspace / "results.json").write_text(json.dumps(results(tasks)))
    assert lookalike("labels", "import", "results.json", "--json").json["votes"] == 3


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda one: one["data"].update(query="nowhere.png"), "'nowhere.png'"),
        (lambda one: one["data"].pop("query"), "no query"),
        (
            lambda one: one["annotations"][0]["result"][0]["value"].update(choices=["maybe"]),
            "similar, dissimilar, unsure",
        ),
        (lambda one: one["annotations"][0].update(created_at="soon"), "created_at"),
    ],
)
def test_faulty_results_are_refused_whole_and_can_be_passed_over(lookalike, workspace, tasks, change, word):
    made = results(tasks)
    change(made[0])
    (workspace / "results.json").write_text(json.dumps(made))
    refused(lookalike("labels", "import", "results.json"), word, "--skip-invalid")
    assert Workspace(workspace).label_count() == 0
    result = lookalike("labels", "import", "results.json", "--skip-invalid", "--json").json
    (fault,) = result["invalid"]
    assert word in f"{fault['reason']} {fault['where']}"
    assert result["votes"] == 3


def test_votes_go_out_and_come_into_another_workspace(lookalike, workspace, tasks, photos):
    (workspace / "results.json").write_text(json.dumps(results(tasks)))
    lookalike("labels", "import", "results.json")
    Workspace(workspace).labels()
    assert lookalike("labels", "export", "votes.csv", "--format", "votes").status == 0
    assert lookalike("init", photos, "--workspace", "other").status == 0
    assert lookalike("labels", "import", "votes.csv", "--workspace", "other").status == 0
    lookalike("labels", "export", "again.csv", "--format", "votes", "--workspace", "other")
    assert (workspace / "again.csv").read_bytes() == (workspace / "votes.csv").read_bytes()
    assert set(map(tuple, zip(*vars(Workspace(workspace / "other").labels()).values(), strict=True))) == set(
        map(tuple, zip(*vars(Workspace(workspace).labels()).values(), strict=True))
    )


def test_tags_of_vsd_fashion(lookalike, labelled):
    before = Workspace(labelled).labels()
    assert lookalike("labels", "export", "tags.json", "--format", "vsd").status == 0
    first = json.loads((labelled / "tags.json").read_text())[0]
    assert first == {"key": [before.query[0], before.candidate[0]], "value": int(before.label[0])}
    assert lookalike("labels", "import", "tags.json", "--json").json["added"] == 0
    lookalike("labels", "export", "again.json")
    assert (labelled / "again.json").read_bytes() == (labelled / "tags.json").read_bytes()
    q, c = first["key"]
    bad = [{"key": [q, "nowhere"], "value": 1}, {"key": [q, c], "value": 1},
           {"key": [q, c], "value": 1}, {"key": [c, q], "value": 0},
           {"key": [c, q], "value": 1}, {"key": [q], "value": 1}, {"key": [q, q], "value": 2}]  # fmt: skip
    (labelled / "bad.json").write_text(json.dumps(bad))
    refused(
        lookalike("labels", "import", "bad.json"),
        "'nowhere'",
        "contradict",
        '{"key": [seed, candidate]',
        "not 0 or 1",
    )
    (labelled / "bad.json").write_text("[{")
    refused(lookalike("labels", "import", "bad.json"), "bad.json", "JSON")


def content(path) -> dict[str, bytes]:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as packed:
            return {name: packed.read(name) for name in packed.namelist()}
    return {p.relative_to(path).as_posix(): p.read_bytes() for p in path.rglob("*") if p.is_file()}


@pytest.fixture
def released(lookalike, labelled, tasks):
    """A workspace with labels, votes, a guideline with an example, and one photo gone."""
    (labelled / "results.json").write_text(json.dumps(results(tasks)))
    opened = Workspace(labelled)
    with opened.database.write() as connection:
        connection.execute(insert(guideline).values(text="Look at the legs.", at=1))
        pair = {"query": opened.catalog.image[0], "candidate": opened.catalog.image[2]}
        connection.execute(insert(example).values(**pair, label=1, note="same legs"))
    assert lookalike("labels", "import", "results.json", "--skip-invalid").status == 0
    return labelled


def test_a_package_can_be_read_back(lookalike, released):
    refused(lookalike("labels", "export", "out", "--format", "package"), "--license")
    refused(lookalike("labels", "export", "out", "--format", "package", "--license", "free"), "'free'")
    assert lookalike("labels", "export", "out", "--format", "package", "--license", "CC0-1.0").status == 0
    found = content(released / "out")
    assert {"catalog.csv", "labels.csv", "votes.csv", "provenance.csv", "guidelines.md", "README.md",
            "agreement.md", "agreement.json", "LICENSE", "SHA256SUMS",
            "manifest.json", "splits/train.txt"} <= found.keys()  # fmt: skip
    sums = dict(reversed(line.split("  ", 1)) for line in found["SHA256SUMS"].decode().splitlines())
    assert sums == {
        name: hashlib.sha256(held).hexdigest() for name, held in found.items() if name != "SHA256SUMS"
    }
    assert b"A1" in found["votes.csv"]
    assert b"Label Studio" not in b"".join(found.values())
    assert b"Look at the legs." in found["guidelines.md"]
    assert b"same legs" in found["guidelines.md"]
    assert lookalike("init", "out/catalog.csv", "--workspace", "back").status == 0
    assert lookalike("labels", "import", "out/labels.csv", "--workspace", "back").status == 0
    assert lookalike("labels", "import", "out/votes.csv", "--workspace", "back").status == 0
    lookalike("labels", "export", "a.csv")
    lookalike("labels", "export", "b.csv", "--workspace", "back")
    assert (released / "a.csv").read_bytes() == (released / "b.csv").read_bytes() == found["labels.csv"]
    back, here = Workspace(released / "back").catalog, Workspace(released).catalog
    assert (back.fingerprint, len(back)) == (here.fingerprint, len(here))


def test_a_package_is_the_same_bytes_each_time(lookalike, released):
    for name in ("a", "b", "a.zip", "b.zip"):
        assert (
            lookalike("labels", "export", name, "--format", "package", "--license", "CC-BY-4.0").status == 0
        )
    assert content(released / "a") == content(released / "b") == content(released / "a.zip")
    assert (released / "a.zip").read_bytes() == (released / "b.zip").read_bytes()
    refused(lookalike("labels", "export", "a", "--format", "package", "--license", "CC0-1.0"), "exists")
    assert (
        lookalike("labels", "export", "a", "--format", "package", "--license", "CC0-1.0", "--replace").status
        == 0
    )
    assert b"CC0" in (released / "a/LICENSE").read_bytes()
    assert not list(released.glob(".*.new*"))


def test_photos_lose_their_metadata_and_missing_ones_are_named(lookalike, tmp_path):
    exif = Image.Exif()
    exif[0x010F] = "secret camera"
    exif.get_ifd(0x8825)[1] = "N"
    (tmp_path / "mine").mkdir()
    for at in range(4):
        Image.new("RGB", (40, 30), (50 * at, 90, 200 - 40 * at)).save(
            tmp_path / f"mine/{at}.jpg", exif=exif, comment=b"secret words"
        )
    assert lookalike("init", "mine").status == 0
    (tmp_path / "mine/2.jpg").unlink()
    result = lookalike("labels", "export", "out", "--format", "package", "--license", "CC0-1.0")
    assert "Missing: 2.jpg" in result.out
    assert "2.jpg" in (tmp_path / "out/README.md").read_text()
    photos = sorted((tmp_path / "out/images").iterdir())
    assert len(photos) == 3
    for path in photos:
        assert b"secret" not in path.read_bytes()
        with Image.open(path) as photo:
            assert not photo.getexif()


def test_backup_and_restore_as_commands(lookalike, labelled):
    result = lookalike("backup", "kept.backup")
    assert "password hashes" in result.out
    assert "lookalike.toml" in result.out
    assert "photos" in result.out
    assert stat.S_IMODE((labelled / "kept.backup").stat().st_mode) == 0o600
    with Workspace(labelled).database.write() as connection:
        connection.execute(insert(audit).values(at=1, action="later"))
    refused(lookalike("restore", "kept.backup"), "--overwrite")
    assert "Restored" in lookalike("restore", "kept.backup", "--overwrite").out
    with sqlite3.connect(labelled / "lookalike.db") as found:
        assert found.execute("SELECT count(*) FROM audit").fetchone() == (0,)
