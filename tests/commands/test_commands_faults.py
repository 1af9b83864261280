"""What users do wrong: a sentence that says what, where and how to mend it; nothing lost; no traceback."""

import errno
import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

NASTY = ["with space.png", "quo\"te's.png", "new\nline.png", "ünï-ëmoji-🪑.png", "[bold]brackets.png"]


def refused(result, *words: str) -> str:
    """The command ended with a plain error that holds these words and a way out."""
    assert result.status == 1, result
    assert "Traceback" not in result.err
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") >= 2
    for word in words:
        assert word in result.err, result.err
    return result.err


@pytest.fixture
def odd_photos(tmp_path) -> Path:
    """Every kind of photo that shops really have, good and bad."""
    folder = tmp_path / "odd"
    folder.mkdir()
    good = Image.effect_noise((64, 48), 80).convert("RGB")
    good.save(folder / "plain.png")
    good.convert("CMYK").save(folder / "cmyk.jpg")
    Image.fromarray(np.arange(64 * 48, dtype=np.uint16).reshape(48, 64) * 20).save(folder / "deep.png")
    good.convert("P").save(folder / "palette.png", transparency=0)
    exif = Image.Exif()
    exif[0x0112] = 6
    good.save(folder / "turned.jpg", exif=exif)
    good.save(folder / "moving.gif", save_all=True, append_images=[good.rotate(90)])
    for name in NASTY:
        good.save(folder / name)
    whole = (folder / "turned.jpg").read_bytes()
    (folder / "truncated.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "zero.jpg").write_bytes(b"")
    (folder / "text.jpg").write_text("I am no photo")
    Image.new("RGB", (1, 1)).save(folder / "dot.png")
    Image.new("1", (20_000, 10_000)).save(folder / "huge.png")
    return folder


def test_odd_photos_are_used_or_left_out_with_their_reason(lookalike, odd_photos, tmp_path):
    made = lookalike("init", odd_photos, "--json").json
    reasons = {gone["image"]: gone["reason"] for gone in made["left_out"]}
    assert set(reasons) == {"truncated.jpg", "zero.jpg", "text.jpg", "dot.png", "huge.png"}
    assert "200" in reasons["huge.png"]
    assert made["images"] == 6 + len(NASTY)
    assert lookalike("embed", "descriptor:color+hog+lbp+layout").status == 0
    for name in NASTY:
        shown = {result["image"] for result in lookalike("search", name, "--json").json["results"]}
        assert {"turned.jpg", "deep.png"} <= shown  # and of the many copies of one photo one
        assert len(shown & {*NASTY, "plain.png", "moving.gif"}) == 1
        assert lookalike("search", name).status == 0
    assert lookalike("report").status == 0
    assert "zero.jpg" in (tmp_path / "reports/report.html").read_text()


def test_no_workspace_yet(lookalike):
    for command in (
        ["status"],
        ["embed", "descriptor:color"],
        ["discover"],
        ["labels", "stats"],
        ["evaluate"],
    ):
        refused(lookalike(*command), "is not a workspace", "lookalike init")


def test_errors_are_json_for_programs(lookalike):
    result = lookalike("status", "--json")
    assert result.status == 1
    assert result.json["error"]["kind"] == "WorkspaceError"
    assert result.json["error"]["fix"]


def test_init_twice_needs_a_word(lookalike, workspace, photos):
    refused(lookalike("init", photos), "workspace already", "--overwrite")
    assert lookalike("init", photos, "--overwrite", "--json").json["images"] == 36
    assert lookalike("status", "--json").json["encoders"] == []


def test_a_failed_init_leaves_the_old_workspace(lookalike, labelled):
    refused(lookalike("init", "nowhere", "--overwrite"), "nowhere")
    assert lookalike("labels", "stats", "--json").json["labels"] > 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("image;item\na.png;007\na.png;008\n", ["a.png", "lines 2 and 3"]),
        ("foto,item\na.png,007\n", ["image", "'foto'"]),
        ("", ["no line of text"]),
        ("image,role\na.png,boss\n", ["boss", "gallery"]),
        ("image,split\na.png,holdout\n", ["holdout", "validation"]),
    ],
)
def test_tables_that_cannot_be_read(lookalike, tmp_path, text, words):
    Image.new("RGB", (20, 20)).save(tmp_path / "a.png")
    (tmp_path / "catalog.csv").write_text(text)
    refused(lookalike("init", "catalog.csv"), *words)
    assert not (tmp_path / "lookalike.toml").exists()


def test_a_latin_1_table_with_semicolons_keeps_007(lookalike, photos, tmp_path):
    text = "image;item;category\nbowl/000/1.png;007;Stühle\nbox/000/1.png;0070;Stühle\n"
    (tmp_path / "catalog.csv").write_bytes(text.encode("latin-1"))
    assert lookalike("init", "catalog.csv", "--images", photos).status == 0
    lookalike("embed", "descriptor:color")
    assert lookalike("search", "bowl/000/1.png", "--json").json["results"][0]["item"] == "0070"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("bowl/000/1.png,box/000/1.png,2", ["not 0 or 1", "line 2"]),
        ("bowl/000/1.png,box/000/1.png,maybe", ["not 0 or 1", "'maybe'"]),
        ("bowl/000/1.png,box/999/1.png,1", ["no such image", "box/999/1.png"]),
        ("bowl/000/1.png,bowl/000/1.png,1", ["itself"]),
    ],
)
def test_labels_that_cannot_be_used(lookalike, workspace, row, words):
    (workspace / "bad.csv").write_text(f"query,candidate,label\n{row}\nbowl/000/1.png,rod/000/1.png,0\n")
    refused(lookalike("labels", "import", "bad.csv"), "nothing was imported", "--skip-invalid", *words)
    assert lookalike("labels", "stats", "--json").json["labels"] == 0
    assert lookalike("labels", "import", "bad.csv", "--skip-invalid", "--json").json["added"] == 1


def test_labels_on_left_out_images_are_passed_over_and_counted(lookalike, odd_photos, tmp_path):
    lookalike("init", odd_photos)
    (tmp_path / "labels.csv").write_text(
        "query,candidate,label\nplain.png,zero.jpg,1\nplain.png,deep.png,0\n"
    )
    result = lookalike("labels", "import", "labels.csv", "--json").json
    assert (result["added"], result["on_left_out_images"]) == (1, 1)


def test_label_files_that_are_none(lookalike, workspace):
    refused(lookalike("labels", "import", "nowhere.csv"), "nowhere.csv", "does not exist")
    (workspace / "two.csv").write_text("query,candidate\na,b\n")
    refused(lookalike("labels", "import", "two.csv"), "no column 'label'")
    refused(lookalike("labels", "export", "labels.docx"), ".csv, .parquet, .qrels, .qrels.gz or .json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda v: v[:-1], ["35 rows", "36"]),
        (lambda v: v[:, 0], ["shape (36,)"]),
        (lambda v: np.where(np.arange(36)[:, None] == 5, np.nan, v), ["NaN", "bowl/002/2.png"]),
        (lambda v: np.where(np.arange(36)[:, None] == 5, 0.0, v), ["only zeros", "bowl/002/2.png"]),
        (lambda v: v.astype(np.int64), ["int64"]),
        (lambda v: np.array(["x"]), ["floating-point"]),
    ],
)
def test_vectors_that_do_not_fit(lookalike, workspace, change, words):
    np.save("bad.npy", change(np.random.default_rng(0).standard_normal((36, 4))))
    refused(lookalike("embed", "precomputed:bad.npy"), *words)
    assert "bad" not in [encoder["name"] for encoder in lookalike("status", "--json").json["encoders"]]


def test_vector_files_that_are_none(lookalike, workspace):
    refused(lookalike("embed", "precomputed:nowhere.npy"), "nowhere.npy")
    Path("text.npy").write_text("1,2,3")
    refused(lookalike("embed", "precomputed:text.npy"), "numpy.save")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("my-network", ["source:name"]),
        ("descripter:color", ["mean descriptor:color"]),
        ("descriptor:colour", ["'colour'", "color, layout, hog, lbp"]),
        ("descriptor:color+color", ["twice"]),
        ("huggingface:facebook/dinov2-base", ["'huggingface'", "hf:", "precomputed:"]),
    ],
)
def test_encoder_strings_that_name_nothing(lookalike, workspace, text, words):
    refused(lookalike("embed", text), *words)


def test_names_that_cannot_be_folders(lookalike, workspace):
    for name in ("../up", "a/b", "", ".hidden", "a" * 200):
        refused(lookalike("embed", "descriptor:color", "--name", name), "not a valid name")


def test_measuring_what_is_not_there(lookalike, workspace):
    refused(lookalike("evaluate"), "no labels yet")
    refused(lookalike("evaluate", "dinov2"), "Unknown encoder 'dinov2'", "color and hog")
    refused(lookalike("evaluate", "--measures", "ERH@5"), "EHR@5")
    refused(lookalike("search", "bowl/000/9.png", "--encoder", "color"), "bowl/000/1.png")
    refused(lookalike("search", "bowl/000/1.png", "--encoder", "dino"), "'dino'")


def test_options_that_are_wrong(lookalike, labelled):
    for name, wrong, allowed in (
        ("--level", "pixel", "paper"),
        ("--similarity", "l2", "euclidean"),
        ("--split", "half", "validation"),
    ):
        result = lookalike("evaluate", name, wrong)
        assert result.status == 2
        assert f"{name}: {wrong}." in result.err
        assert allowed in result.err
    for command, name, wrong in (("discover", "--top", "0"), ("search", "-k", "none")):
        result = lookalike(command, *(["bowl/000/1.png"] if command == "search" else []), name, wrong)
        assert result.status == 2
        assert f"{name}: {wrong}." in result.err
        assert "whole number" in result.err
    assert lookalike("frobnicate").status == 2


def test_a_photo_removed_after_init_is_named(lookalike, photos, tmp_path):
    mine = tmp_path / "mine"
    shutil.copytree(photos, mine)
    lookalike("init", mine)
    (mine / "bowl/000/1.png").unlink()
    refused(lookalike("embed", "descriptor:color"), "bowl/000/1.png", "no longer there")
    (mine / "bowl/000/1.png").write_bytes(b"not a photo")
    refused(lookalike("embed", "descriptor:color"), "bowl/000/1.png", "changed since")


def test_settings_edited_by_hand(lookalike, workspace):
    settings = workspace / "lookalike.toml"
    settings.write_text(settings.read_text().replace("seed = 0", "seed = -4"))
    refused(lookalike("status"), "'seed'", "-4")


def test_a_damaged_or_newer_database(lookalike, workspace):
    database = workspace / "lookalike.db"
    import sqlite3

    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    refused(lookalike("status"), "newer Lookalike")
    for path in workspace.glob("lookalike.db*"):
        path.unlink()
    database.write_bytes(b"this is no database at all" * 100)
    refused(lookalike("status"), "damaged")


def test_vectors_of_another_catalog_are_stale(lookalike, workspace, photos):
    keep = workspace / "keep"
    shutil.copytree(workspace / "embeddings", keep)
    (workspace / "catalog.csv").write_text("image\nbowl/000/1.png\nbox/000/1.png\n")
    assert lookalike("init", "catalog.csv", "--images", photos, "--overwrite").status == 0
    shutil.copytree(keep, workspace / "embeddings")
    refused(lookalike("search", "bowl/000/1.png", "--encoder", "color"), "stale", "lookalike embed")
    assert "lookalike embed" in lookalike("status", "--json").json["next"]


def test_a_catalog_of_one_image(lookalike, photos, tmp_path):
    (tmp_path / "catalog.csv").write_text("image\nbowl/000/1.png\n")
    assert lookalike("init", "catalog.csv", "--images", photos).status == 0
    assert lookalike("embed", "descriptor:color").status == 0
    assert lookalike("search", "bowl/000/1.png", "--json").json["results"] == []
    assert lookalike("discover", "--json").json["pairs"] == 0
    assert lookalike("report").status == 0


@pytest.mark.skipif(sys.platform != "linux", reason="paths that are no folders are made the Linux way here")
def test_a_workspace_that_cannot_be_written(lookalike, photos):
    refused(lookalike("init", photos, "--workspace", "/proc/nowhere"), "/proc/nowhere")


def test_pairs_that_cannot_be_written_leave_the_pool(lookalike, workspace):
    before = lookalike("status", "--json").json["pool"]
    refused(
        lookalike("discover", "--top", 1, "--queries", 2, "--overwrite", "--pairs", "no/such/pairs.csv"),
        "pairs.csv",
    )
    refused(lookalike("discover", "--top", 1, "--queries", 2, "--overwrite", "--pairs", "pairs.docx"), ".csv")
    assert lookalike("status", "--json").json["pool"] == before


def test_a_name_of_another_encoder_is_taken(lookalike, workspace):
    refused(lookalike("embed", "descriptor:lbp", "--name", "color"), "taken", "--replace")
    refused(lookalike("embed", "descriptor:color", "--name", "COLOR"), "taken")
    assert lookalike("embed", "descriptor:color").status == 0
    assert lookalike("embed", "descriptor:lbp", "--name", "color", "--replace").status == 0
    made_by = {encoder["name"]: encoder["spec"] for encoder in lookalike("status", "--json").json["encoders"]}
    assert made_by["color"] == "descriptor:lbp"


@pytest.mark.parametrize("damage", ["other", "zeros", "gone", "manifest"])
def test_damaged_vectors_are_never_measured(lookalike, labelled, damage):
    vectors = labelled / "embeddings/hog/vectors.npy"
    if damage == "other":
        np.save(vectors, np.ones((36, 8), np.float16))
    elif damage == "zeros":
        content = vectors.read_bytes()
        vectors.write_bytes(content[:-4000] + bytes(4000))
    elif damage == "gone":
        vectors.unlink()
    else:
        (labelled / "embeddings/hog/manifest.json").write_text("{}")
    refused(lookalike("evaluate", "hog"), "hog are damaged", "embeddings/hog", "`lookalike embed`")
    assert lookalike("evaluate", "color").status == 0
    states = {encoder["name"]: encoder["state"] for encoder in lookalike("status", "--json").json["encoders"]}
    assert states["color"] == ""
    assert states["hog"].startswith("damaged")


def test_a_missing_database_is_not_made_anew(lookalike, workspace):
    for path in workspace.glob("lookalike.db*"):
        path.unlink()
    refused(lookalike("status"), "no lookalike.db", "backup")
    assert not (workspace / "lookalike.db").exists()


def test_photos_that_moved_are_noticed(lookalike, photos, tmp_path):
    mine = tmp_path / "mine"
    shutil.copytree(photos, mine)
    lookalike("init", mine)
    lookalike("embed", "descriptor:color")
    mine.rename(tmp_path / "elsewhere")
    assert lookalike("status", "--json").json["photos_missing"] == 36
    assert lookalike("report").status == 0
    page = (tmp_path / "reports/report.html").read_text()
    assert re.search(r"[1-9]\d* photos of this page", page)


def test_impossible_numbers(lookalike, workspace, photos):
    assert lookalike("init", photos, "-w", "x", "--seed", -1).status == 2
    assert lookalike("discover", "--seed", -5, "--overwrite").status == 2
    assert lookalike("discover", "--top", 99999999999999999999, "--overwrite").status == 2
    refused(lookalike("evaluate", "--measures", ""), "No measure was named")
    refused(lookalike("discover", "--generators", "", "--overwrite"), "generators")


def test_a_table_with_very_many_columns(lookalike, tmp_path):
    (tmp_path / "wide.csv").write_text(
        "image," + ",".join(f"c{i}" for i in range(50_000)) + "\n" + "a.png" + "," * 50_000 + "\n"
    )
    refused(lookalike("init", "wide.csv"), "50,001 columns")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_an_output_that_cannot_be_written(labelled, started):
    with Path("/dev/full").open("w") as full:
        process = started("evaluate", cwd=labelled, out=full)
        _, complaint = process.communicate()
    assert process.returncode == 1
    assert "output" in complaint
    assert os.strerror(errno.ENOSPC) in complaint
    assert "Traceback" not in complaint
