"""The commands as written in the README, from an empty folder."""

import csv

import numpy as np
import polars
import pytest

from lookalike.store.people import people
from lookalike.store.people.passwords import hashed
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.serve import look


def test_the_whole_job_on_a_folder_of_photos(lookalike, labelled):
    measured = lookalike(
        "evaluate", "color", "hog", "--measures", "DCS,HR@5,EHR@5,coverage@5,AUC_mic", "--json"
    ).json
    assert set(measured["scores"]) == {"color", "hog"}
    for scores in measured["scores"].values():
        assert set(scores) == {"DCS", "HR@5", "EHR@5", "coverage@5", "AUC_mic"}
        assert all(0 <= score["value"] <= 1 and score["queries"] == 36 for score in scores.values())
    found = lookalike("search", "bowl/000/1.png", "--encoder", "color", "-k", 7, "--json").json
    assert len(found["results"]) == 7
    assert len({result["item"] for result in found["results"]}) == 7
    assert "bowl/000" not in {result["item"] for result in found["results"]}
    assert set(found["results"][0]) == {"image", "item", "score", "label"}
    scores = [result["score"] for result in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert lookalike("report").status == 0
    page = (labelled / "reports/report.html").read_text()
    assert "bowl" in page
    assert len(page) < 5_000_000


def test_discover_says_what_labelling_costs_and_knows_positives_once_labelled(lookalike, workspace):
    before = lookalike("discover", "--generators", "color,hog", "--top", 3, "--json").json
    assert before["positives"] is None
    assert before["most"] == 2 * 36 * 3
    assert before["pairs"] == round(before["most"] * (1 - before["duplicates"]))
    assert before["overlap"]["color"]["hog"] == before["overlap"]["hog"]["color"]
    assert before["asked"] <= before["pairs"]
    pair = polars.DataFrame({"query": ["bowl/000/1.png"], "candidate": ["bowl/001/1.png"], "label": [1]})
    from lookalike.store.workspace import Workspace

    pool = Workspace(workspace).pool()
    pair = pair.with_columns(query=polars.lit(pool.query[0]), candidate=polars.lit(pool.candidate[0]))
    pair.write_parquet("one.parquet")
    assert lookalike("labels", "import", "one.parquet", "--json").json["added"] == 1
    after = lookalike("discover", "--generators", "color,hog", "--top", 3, "--json").json
    assert (after["labelled"], after["positives"]) == (1, 1)
    assert after["pairs"] == before["pairs"]


def test_a_new_generator_adds_only_its_own_pairs(lookalike, workspace):
    before = lookalike("discover", "--generators", "color,hog", "--top", 3, "--json").json
    assert lookalike("embed", "descriptor:lbp").status == 0
    after = lookalike("discover", "--generators", "lbp", "--top", 3, "--json").json
    assert after["generators"] == ["color", "hog", "lbp"]
    assert after["pairs"] == before["pairs"] + after["only_by"]["lbp"]
    refused = lookalike("discover", "--generators", "lbp", "--top", 4)
    assert refused.status == 1
    assert "--overwrite" in refused.err
    assert lookalike("discover", "--generators", "lbp", "--top", 4, "--overwrite", "--json").json[
        "generators"
    ] == ["lbp"]


def test_the_pairs_go_out_to_be_labelled_and_come_back(lookalike, workspace):
    done = lookalike("discover", "--top", 3, "--pairs", "pairs.csv", "--json").json
    with (workspace / "pairs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == done["pairs"]
    assert {row["label"] for row in rows} == {""}
    assert list(rows[0]) == ["query", "candidate", "label", "item"]
    rows[0]["label"], rows[1]["label"] = "1", "0"
    with (workspace / "pairs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    result = lookalike("labels", "import", "pairs.csv", "--json").json
    assert (result["added"], result["blank"]) == (2, len(rows) - 2)
    assert lookalike("labels", "stats", "--json").json["pool_labelled"] == 2


def test_precomputed_vectors_follow_the_table_left_out_rows_included(lookalike, photos, tmp_path):
    rows = ["image,item,category", "bowl/000/1.png,007,bowl", "no/such.png,008,bowl", "box/000/1.png,009,box"]
    (tmp_path / "catalog.csv").write_text("\n".join(rows))
    made = lookalike("init", "catalog.csv", "--images", photos, "--json").json
    assert (made["images"], [gone["image"] for gone in made["left_out"]]) == (2, ["no/such.png"])
    np.save("vectors.npy", np.array([[1.0, 0.0], [np.nan, 0.0], [0.6, 0.8]]))
    assert lookalike("embed", "precomputed:vectors.npy", "--name", "mine").status == 0
    found = lookalike("search", "bowl/000/1.png", "--encoder", "mine", "--json").json["results"]
    assert [(r["image"], r["item"], round(r["score"], 6)) for r in found] == [("box/000/1.png", "009", 0.6)]


def test_ids_beside_the_vectors_assign_the_rows(lookalike, photos, tmp_path):
    (tmp_path / "catalog.csv").write_text("image\nbowl/000/1.png\nbox/000/1.png\n")
    lookalike("init", "catalog.csv", "--images", photos)
    np.save("vectors.npy", np.array([[9.0, 9.0], [0.0, 2.0], [3.0, 4.0]], np.float32))
    (tmp_path / "ids.txt").write_text("other\nbox/000/1.png\nbowl/000/1.png\n")
    assert lookalike("embed", "precomputed:vectors.npy").status == 0
    found = lookalike("search", "bowl/000/1.png", "--encoder", "vectors", "--json").json["results"]
    assert round(found[0]["score"], 6) == 0.8


def test_labels_out_and_in_again_are_the_same_bytes(lookalike, labelled, photos, tmp_path):
    for ending in ("csv", "parquet"):
        assert lookalike("labels", "export", f"one.{ending}").status == 0
        other = tmp_path / f"other-{ending}"
        assert lookalike("init", photos, "--workspace", other).status == 0
        assert lookalike("labels", "import", f"one.{ending}", "--workspace", other).status == 0
        assert lookalike("labels", "export", f"two.{ending}", "--workspace", other).status == 0
        assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()
    with (tmp_path / "one.csv").open() as file:
        assert {row["label"] for row in csv.DictReader(file)} == {"0", "1"}


def test_stats_count_conflicts_and_measures_leave_them_out(lookalike, labelled):
    a, b = _a_pair(labelled)
    before = lookalike("labels", "stats", "--json").json
    label = _label_of(labelled, a, b)
    (labelled / "again.csv").write_text(f"query,candidate,label\n{a},{b},{1 - label}\n")
    assert lookalike("labels", "import", "again.csv").status == 0
    after = lookalike("labels", "stats", "--json").json
    assert after["labels"] == before["labels"] + 1
    conflict = [part for part in after["unusable"] if "both similar and dissimilar" in part["reason"]]
    assert conflict
    assert after["usable"] < before["usable"]
    assert lookalike("labels", "import", "again.csv", "--replace").status == 0
    assert _label_of(labelled, a, b) == 1 - label


def _a_pair(folder) -> tuple[str, str]:
    from lookalike.store.workspace import Workspace

    labels = Workspace(folder).labels()
    return labels.query[0], labels.candidate[0]


def _label_of(folder, a: str, b: str) -> int:
    from lookalike.store.workspace import Workspace

    labels = Workspace(folder).labels()
    found = [
        int(y)
        for q, c, y in zip(labels.query, labels.candidate, labels.label, strict=True)
        if (q, c) == (a, b)
    ]
    assert len(found) == 1
    return found[0]


def test_a_new_photo_is_searched_by_descriptors_and_refused_by_precomputed(lookalike, workspace, tmp_path):
    from PIL import Image

    Image.new("RGB", (50, 70), (200, 30, 30)).save(tmp_path / "new.jpg")
    found = lookalike("search", "new.jpg", "--encoder", "color", "-k", 18, "--json").json
    assert found["image"] is None
    assert len(found["results"]) == 18
    np.save("vectors.npy", np.random.default_rng(0).standard_normal((36, 4)).astype(np.float32))
    assert lookalike("embed", "precomputed:vectors.npy", "--name", "mine").status == 0
    refused = lookalike("search", "new.jpg", "--encoder", "mine", "--json")
    assert refused.status == 1
    assert refused.json["error"]["kind"] == "EncoderError"
    assert "new photo" in refused.err


def test_a_photo_of_the_catalog_named_by_its_path_is_that_image(lookalike, workspace, photos):
    found = lookalike("search", photos / "box" / "002" / "1.png", "--encoder", "hog", "--json").json
    assert found["image"] == "box/002/1.png"
    assert "box/002" not in {result["item"] for result in found["results"]}


def test_status_names_the_next_step(lookalike, photos):
    assert lookalike("init", photos).status == 0
    assert "lookalike embed" in lookalike("status", "--json").json["next"]
    lookalike("embed", "descriptor:color")
    assert "lookalike discover" in lookalike("status", "--json").json["next"]
    assert "36 of 18 items" in lookalike("status").out
    lookalike("discover", "--top", "2")
    assert lookalike("status", "--json").json["next"] == "lookalike users add NAME --role lead"
    assert "Or write the pairs to a file: lookalike discover --pairs" in " ".join(
        lookalike("status").out.split()
    )


def test_status_of_a_workspace_with_experts_names_the_app(lookalike, photos, tmp_path):
    for words in (("init", photos), ("embed", "descriptor:color"), ("discover", "--top", "2")):
        assert lookalike(*words).status == 0
    workspace = Workspace(tmp_path)
    with workspace.database.write() as connection:
        people.add(connection, "Lea", "lead", 0, kept=hashed("a long enough password"))
    look(workspace)  # as the app does at its start: the pool's pairs join the queue
    found = lookalike("status", "--json").json
    assert (found["next"], found["people"]) == ("lookalike serve", 1)
    assert found["open_pairs"] == found["pool_asked"] > 0
    assert f"{found['open_pairs']:,} open pairs" in lookalike("status").out
    assert "hours of labelling" in found["cost"]


@pytest.mark.parametrize(
    "command", ["init", "embed", "discover", "evaluate", "search", "report", "demo", "studio", "status"]
)
def test_every_command_explains_itself(lookalike, command):
    result = lookalike(command, "--help")
    assert result.status == 0
    assert "--json" in result.out


def test_ranking_happens_once_per_encoder(lookalike, labelled, monkeypatch):
    from lookalike.rank import counting

    calls = []
    each = counting.each_block
    monkeypatch.setattr(counting, "each_block", lambda *a, **k: (calls.append(1), each(*a, **k))[1])
    assert lookalike("evaluate").status == 0
    assert len(calls) == 2


def test_without_options_a_pool_is_shown_and_written_unchanged(lookalike, workspace):
    small = lookalike(
        "discover", "--generators", "color,hog", "--top", 2, "--queries", 5, "--overwrite", "--json"
    ).json
    again = lookalike("discover", "--pairs", "pairs.csv", "--json").json
    assert (again["pairs"], again["queries"], again["top"]) == (small["pairs"], 5, 2)
    assert len((workspace / "pairs.csv").read_text().splitlines()) == small["pairs"] + 1
    lookalike("embed", "descriptor:lbp")
    more = lookalike("discover", "--generators", "lbp", "--json").json
    assert (more["queries"], more["top"], more["generators"]) == (5, 2, ["color", "hog", "lbp"])


def test_next_steps_name_the_workspace_they_are_for(lookalike, photos, tmp_path):
    result = lookalike("init", photos, "--workspace", "my shop").out
    assert "descriptor:lbp --workspace 'my shop'" in result
    for command in (
        ("status",),
        ("embed", "descriptor:color"),
        ("embed", "descriptor:hog"),
        ("discover", "--top", 2),
        ("discover", "--pairs", "pairs.csv"),
    ):
        done = lookalike(*command, "-w", "my shop").out.split("Next: ")[1]
        assert all(line.strip().endswith("--workspace 'my shop'") for line in done.splitlines()), done


def test_the_tutorials_photo_is_in_the_demo():
    from pathlib import Path

    from lookalike.studio import studio

    tutorial = (Path(__file__).parents[2] / "docs/tutorial/from-photos-to-a-decision.md").read_text()
    image = tutorial.split("lookalike search ")[1].split()[0]
    assert image in studio(1000, photos_per_item=2).catalog().row


def test_the_report_names_the_largest_categories_and_counts_the_others(lookalike, photos, tmp_path):
    rows = "".join(f"bowl/00{n % 6}/{1 + n // 6 % 2}.png,p{n},kind{n:02d}\n" for n in range(15))
    (tmp_path / "catalog.csv").write_text("path,image,category\n" + rows)
    assert lookalike("init", "catalog.csv", "--images", photos).status == 0
    assert lookalike("report").status == 0
    page = (tmp_path / "reports/report.html").read_text()
    assert "kind11 1 and 3 more" in page
