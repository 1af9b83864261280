"""TREC files, tables of scores and judged ranks through the commands; ir_measures gives our numbers on our files."""

import csv
import gzip
import math
import re
from pathlib import Path
from unittest.mock import Mock

import ir_measures
import numpy as np
import polars
import pytest
from ir_measures import Bpref, Judged, P

import lookalike as api
from lookalike.rank.pairs import judged_pairs
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide import files


@pytest.fixture
def mine(labelled, lookalike):
    """The labelled workspace with an encoder that has no ties."""
    np.save("vectors.npy", np.random.default_rng(5).standard_normal((36, 8)))
    assert lookalike("embed", "precomputed:vectors.npy", "--name", "mine").status == 0
    return labelled


def refused(result, *words: str) -> None:
    assert result.status == 1, result
    assert "Traceback" not in result.err
    for word in words:
        assert word in result.err, result.err


def mistyped(result, *words: str) -> None:
    """The command did not begin: an option has a value that it cannot have."""
    assert result.status == 2, result
    for word in words:
        assert word in result.err, result.err


def values(lookalike, *arguments: object) -> dict[str, dict[str, float]]:
    """encoder -> measure -> value."""
    scores = lookalike("evaluate", *arguments, "--json").json["scores"]
    return {name: {m: score["value"] for m, score in one.items()} for name, one in scores.items()}


@pytest.mark.parametrize("level", ["item", "image"])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_ir_measures_gives_our_numbers_on_the_exported_files(lookalike, mine, level, ending):
    zipped = ["--gzip"] if ending else []
    result = lookalike("evaluate", "mine", "--level", level, "--runs", "runs", *zipped, "--json").json
    assert result["written"] == [f"runs/labels.qrels{ending}", f"runs/mine.run{ending}"]
    assert lookalike("labels", "export", f"labels.qrels{ending}", "--level", level).status == 0
    exported = (mine / f"labels.qrels{ending}").read_bytes()
    assert exported == (mine / f"runs/labels.qrels{ending}").read_bytes()
    qrels = list(ir_measures.read_trec_qrels(f"runs/labels.qrels{ending}"))
    run = list(ir_measures.read_trec_run(f"runs/mine.run{ending}"))
    theirs = ir_measures.calc_aggregate([P @ 5, P @ 1, P @ 12, Judged @ 5, Judged @ 12], qrels, run)
    wanted = "HR@5,HR@1,HR@12,coverage@5,coverage@12,BPREF"
    ours = values(lookalike, "mine", "--level", level, "--measures", wanted)["mine"]
    for name, measure in (("HR@5", P @ 5), ("HR@1", P @ 1), ("HR@12", P @ 12)):
        assert ours[name] == pytest.approx(theirs[measure], abs=1e-9)
    assert ours["coverage@5"] == pytest.approx(theirs[Judged @ 5], abs=1e-9)
    assert ours["coverage@12"] == pytest.approx(theirs[Judged @ 12], abs=1e-9)
    with_positive = {line.query_id for line in qrels if line.relevance}
    each = [m.value for m in ir_measures.iter_calc([Bpref], qrels, run) if m.query_id in with_positive]
    assert ours["BPREF"] == pytest.approx(sum(each) / len(with_positive), abs=1e-6)
    assert 0 < ours["HR@5"] < ours["coverage@5"] < 1


@pytest.mark.parametrize("level", ["item", "image"])
def test_the_run_of_an_encoder_scores_as_the_encoder(lookalike, mine, level):
    assert lookalike("evaluate", "mine", "--level", level, "--runs", "runs").status == 0
    (mine / "runs/mine.run").rename(mine / "theirs.run")
    found = values(lookalike, "mine", "--level", level, "--run", "theirs.run")
    assert list(found) == ["mine", "theirs"]
    # Those that compare scores of different queries: two that lie the tolerance apart tie or not by their last bits,
    # which differ between a run's products and an encoder's, on some processors only.
    micro = {"AUC_mic", "PR-AUC_mic"}
    for name, value in found["mine"].items():
        assert found["theirs"][name] == pytest.approx(value, abs=1e-3 if name in micro else 1e-9), name


def test_runs_are_in_the_table_and_what_they_lack_is_reported(lookalike, mine):
    lookalike("evaluate", "mine", "--runs", "runs", "--depth", 3)
    lines = (mine / "runs/mine.run").read_text().splitlines()
    queries = list(dict.fromkeys(line.split()[0] for line in lines))
    assert len(lines) == 3 * len(queries)
    kept = [line.rsplit(" ", 1)[0] + " other" for line in lines if line.split()[0] in queries[2:]]
    own = f"{queries[2]} Q0 {Workspace(mine).catalog.item[0]} 9 -5 other"
    (mine / "short.run.gz").write_bytes(gzip.compress("\n".join([*kept, own]).encode()))
    result = lookalike("evaluate", "mine", "--run", "short.run.gz", "--run", "runs/mine.run")
    refused(result, "'mine'", "another name")
    result = lookalike("evaluate", "mine", "--run", "short.run.gz")
    assert any(line.split()[:1] == ["other"] for line in result.out.splitlines())
    assert f"2 of {len(queries)} labelled queries" in result.out
    assert any(line.startswith("other ") and "labelled pairs" in line for line in result.out.splitlines())
    as_json = lookalike("evaluate", "mine", "--run", "short.run.gz", "--json").json
    assert set(as_json["scores"]) == {"mine", "other"}
    for what in (f"2 of {len(queries)} labelled queries", "labelled pairs"):
        assert any(one.startswith("other ") and what in one for one in as_json["absences"]), what


def test_a_run_needs_no_encoder_here(lookalike, mine):
    lookalike("evaluate", "mine", "--runs", "runs")
    for name in Workspace(mine).encoders:
        Workspace(mine).remove_embeddings(name)
    refused(lookalike("evaluate"), "no encoders to measure")
    assert list(values(lookalike, "--run", "runs/mine.run")) == ["mine"]


def test_runs_for_the_queries_of_the_pool(lookalike, workspace):
    pool = Workspace(workspace).pool()
    (workspace / "few.csv").write_text(f"query,candidate,label\n{pool.query[0]},{pool.candidate[0]},1\n")
    assert lookalike("labels", "import", "few.csv").status == 0
    for queries, expected in (("pool", set(pool.queries)), ("labels", {pool.query[0]})):
        options = ("--output-runs", "runs", "--runs-queries", queries, "--force")
        assert lookalike("evaluate", "hog", *options).status == 0
        lines = (workspace / "runs/hog.run").read_text().splitlines()
        assert {line.split()[0] for line in lines} == expected
    mistyped(
        lookalike("evaluate", "--output-runs", "runs", "--runs-queries", "all"),
        "--runs-queries",
        "labels, pool",
    )


def test_a_split_keeps_runs_and_qrels_within_it(lookalike, mine):
    lookalike("evaluate", "mine", "--split", "train", "--runs", "runs", "--level", "image")
    catalog = Workspace(mine).catalog
    for name, at in (("labels.qrels", 2), ("mine.run", 2), ("mine.run", 0)):
        ids = [line.split()[at] for line in (mine / "runs" / name).read_text().splitlines()]
        assert {catalog.split[catalog.row[image]] for image in ids} == {"train"}


def test_qrels_out_and_in_again_are_the_same_bytes(lookalike, labelled, photos, tmp_path):
    for name in ("one.qrels", "one.qrels.gz"):
        assert lookalike("labels", "export", name).status == 0
        other = tmp_path / f"other-{name}"
        assert lookalike("init", photos, "--workspace", other).status == 0
        assert lookalike("labels", "import", name, "--workspace", other).status == 0
        assert lookalike("labels", "export", f"two-{name}", "--workspace", other).status == 0
        assert (tmp_path / name).read_bytes() == (tmp_path / f"two-{name}").read_bytes()
        before, after = (lookalike("labels", "stats", "-w", w, "--json").json for w in (labelled, other))
        assert before["labels"] == after["labels"]


def test_a_qrels_file_of_any_name_and_what_it_calls_unjudged(lookalike, workspace):
    (workspace / "judgements").write_text(
        "bowl/000/1.png 0 box/000/1.png 2\nbowl/000/1.png 0 rod/000/1.png 0\nbowl/000/1.png 0 rod/001/1.png -1\n"
    )
    result = lookalike("labels", "import", "judgements")
    assert "Added 2 labels" in result.out
    assert "1 row marked unjudged" in result.out
    labels = Workspace(workspace).labels()
    assert labels.label.tolist() == [1, 0]
    (workspace / "bad.qrels").write_text("bowl/000/1.png 0 box/000/1.png\nbowl/001/1.png 0 rod/000/1.png 1\n")
    refused(
        lookalike("labels", "import", "bad.qrels"),
        "1 row",
        "four fields",
        "line 1",
    )
    assert lookalike("labels", "import", "bad.qrels", "--skip-invalid", "--json").json["added"] == 1
    mistyped(lookalike("labels", "import", "judgements", "--format", "csv"), "--format", "table, qrels")


def test_pairs_with_both_labels_are_left_out_of_qrels_and_reported(lookalike, labelled):
    labels = Workspace(labelled).labels()
    q, c, y = labels.query[0], labels.candidate[0], labels.label[0]
    (labelled / "again.csv").write_text(f"query,candidate,label\n{q},{c},{1 - y}\n")
    lookalike("labels", "import", "again.csv")
    assert "2 labels left out" in lookalike("labels", "export", "a.qrels").out
    assert len((labelled / "a.qrels").read_text().splitlines()) == len(labels) - 1
    result = lookalike("labels", "export", "b.txt", "--format", "qrels", "--level", "item", "--json").json
    matched = judged_pairs(Workspace(labelled).catalog, Workspace(labelled).labels(), api.Rule("item"))
    assert result["labels"] == len(matched) == len((labelled / "b.txt").read_text().splitlines())
    assert sum(part["count"] for part in result["left_out"]) >= 2
    refused(lookalike("labels", "export", "c.csv", "--level", "item"), "--level")


def test_names_that_trec_files_cannot_hold(lookalike, photos, tmp_path):
    rows = [
        f"{image},{'arm chair' if 'bowl' in image else image}"
        for image in ("bowl/000/1.png", "box/000/1.png", "rod/000/1.png")
    ]
    (tmp_path / "catalog.csv").write_text("image,item\n" + "\n".join(rows) + "\n")
    lookalike("init", "catalog.csv", "--images", photos)
    lookalike("embed", "descriptor:color")
    (tmp_path / "labels.csv").write_text("query,candidate,label\nbox/000/1.png,bowl/000/1.png,1\n")
    lookalike("labels", "import", "labels.csv")
    refused(lookalike("evaluate", "--runs", "runs"), "1 id cannot", "'arm chair'", "lookalike init TABLE")
    assert not (tmp_path / "runs").exists()
    refused(lookalike("labels", "export", "a.qrels", "--level", "item"), "'arm chair'")
    assert lookalike("evaluate", "--runs", "runs", "--level", "image").status == 0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_scores_and_judged_ranks_as_tables(lookalike, mine, ending):
    result = lookalike("evaluate", "--output", f"s.{ending}", "--judged", f"j.{ending}", "--json").json
    assert result["written"] == [f"s.{ending}", f"j.{ending}"]
    read = {"csv": polars.read_csv, "parquet": polars.read_parquet}[ending](mine / f"s.{ending}")
    listed = {(row["encoder"], row["measure"]): row for row in read.to_dicts()}
    for encoder, scores in result["scores"].items():
        for score in scores.values():
            row, around = listed.pop((encoder, score["measure"])), score["interval"]
            assert row["value"] == score["value"]
            assert (row["low"], row["high"]) == (around["low"], around["high"])
            assert (row["method"], row["replicates"]) == (around["method"], around["replicates"])
    assert not listed
    for judged in api.read_judged_ranks(mine / f"j.{ending}"):
        again = api.score_ranks(judged, ",".join(result["scores"][judged.encoder]))
        for score in result["scores"][judged.encoder].values():
            value = again[score["measure"]].value
            assert (None if math.isnan(value) else value) == score["value"]
        assert judged.basis.catalog == result["catalog"]
        assert judged.basis.labels == result["labels_fingerprint"]


def test_judged_ranks_of_a_run_come_back_too(lookalike, mine):
    lookalike("evaluate", "mine", "--runs", "runs", "--depth", 2)
    result = lookalike("evaluate", "hog", "--run", "runs/mine.run", "--judged", "j.csv", "--json").json
    hog, run = api.read_judged_ranks(mine / "j.csv")
    assert (hog.encoder, run.encoder, run.tolerance) == ("hog", "mine", 0.0)
    assert api.score_ranks(run, "AUC_mic")["AUC_mic"].value == result["scores"]["mine"]["AUC_mic"]["value"]
    with (mine / "j.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(hog) + len(run)


def test_names_that_cannot_be_written_are_refused_before_anything_is_ranked(lookalike, mine):
    refused(lookalike("evaluate", "--output", "s.docx"), "s.docx", ".csv or .parquet")
    refused(lookalike("evaluate", "--judged", "j"), "judged ranks")
    refused(lookalike("evaluate", "--judged", "no/j.csv"), "no folder no", "mkdir -p no")
    refused(lookalike("evaluate", "--runs", "no way/runs"), "no folder no way", "mkdir -p 'no way'")
    assert not (mine / "no way").exists()
    (mine / "file").write_text("")
    refused(lookalike("evaluate", "--runs", "file"), "is a file")
    refused(lookalike("evaluate", "--run", "none.run"), "does not exist")
    assert lookalike("evaluate", "--runs", "runs", "--depth", 0).status == 2
    assert not (mine / "runs").exists()


@pytest.mark.parametrize(
    "given", [("--output", "s.csv"), ("--judged", "j.csv"), ("--runs", "r"), ("--runs", "")]
)
def test_folders_that_take_no_file_are_refused_before_anything_is_ranked(lookalike, mine, monkeypatch, given):
    option, name = given
    (mine / "full").mkdir()
    monkeypatch.setattr(files, "TemporaryFile", Mock(side_effect=PermissionError))
    result = lookalike("evaluate", option, f"full/{name}")
    refused(result, "folder full", "write to")
    assert list((mine / "full").iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="this system has no /proc")
def test_a_folder_of_the_system_takes_no_file(lookalike, mine):
    refused(lookalike("evaluate", "--output", "/proc/x.csv"), "folder /proc")


def test_the_same_from_python(lookalike, mine, photos):
    lookalike("evaluate", "mine", "--runs", "runs")
    lookalike("labels", "export", "labels.qrels")
    catalog = Workspace(mine).catalog
    labels = api.read_labels("labels.qrels", catalog)
    run = api.read_run("runs/mine.run")
    color = api.embed(catalog, "descriptor:color", photos=photos)
    scores = api.score(catalog, [color, run], labels, "HR@5")
    assert [one.encoder for one in scores] == ["color", "mine"]
    scores[0].basis.require_same(scores[1].basis)
    found = api.rank_run(catalog, run, labels)
    assert found.queries_absent == 0
    assert api.score_ranks(found.judged, ["HR@5"])["HR@5"].value == scores[1]["HR@5"].value


def test_the_examples_of_the_document_run(lookalike, mine, capsys):
    document = (Path(__file__).parents[3] / "docs/reference/formats.md").read_text(encoding="utf-8")
    (mine / "other.run.gz").write_bytes(gzip.compress(_a_run(mine, "other").encode()))
    (mine / "third.run").write_text(_a_run(mine, "third"))
    commands = [line for line in document.splitlines() if line.startswith("    lookalike ")]
    for command in commands:
        assert lookalike(*command.split()[1:]).status == 0, command
    assert lookalike("evaluate", "--judged", "judged.parquet").status == 0
    examples = re.findall(r"```python\n(.*?)```", document, re.DOTALL)
    for code in examples:
        exec(compile(code, "docs/reference/formats.md", "exec"), {})
    assert (len(commands), len(examples)) == (3, 2)
    printed = capsys.readouterr().out
    assert "P@5" in printed
    assert "hog {'DCS(alpha=10)': 0." in printed


def _a_run(folder: Path, tag: str) -> str:
    labels = Workspace(folder).labels()
    pairs = enumerate(zip(labels.query, labels.candidate, strict=True))
    return "".join(f"{query} Q0 {candidate} 0 {at % 7} {tag}\n" for at, (query, candidate) in pairs)
