"""Ours in every table of the papers that audits and measures fill: the numbers of `audit` and `evaluate` themselves."""

import csv
import json
import math
import shutil

import pytest
from PIL import Image, ImageOps

from lookalike.cli.app import run as run_command
from lookalike.research.papers.published import published
from lookalike.store.workspace import Workspace

AUDITED = ("eds-table-3", "vsd-table-1", "vsd-table-5", "vsd-table-6")


KINDS = (("SC", "spearman"), ("KT", "kendall"), ("r", "pearson"))
AREAS = {"AUC_mic": "Micro ROC-AUC", "AUC_mac": "Macro ROC-AUC"}
NAMES = {"DCS(alpha=10)": "DCS", "BPREF": "BPF"}


@pytest.fixture(scope="module")
def stocked(tmp_path_factory, photos):
    """Three generators, an encoder that fed nothing, a wild query for each category, the whole pool labelled."""
    folder = tmp_path_factory.mktemp("stocked")

    def run(*arguments: object) -> None:
        assert run_command([str(one) for one in (*arguments, "--workspace", folder)]) == 0

    for category in ("bowl", "box", "rod"):
        target = folder / "wild" / category / "x" / "1.png"
        target.parent.mkdir(parents=True)
        ImageOps.mirror(Image.open(photos / category / "000" / "1.png")).save(target)
    run("init", photos)
    run("catalog", "add", folder / "wild", "--set", "role=query")
    run("embed", "descriptor:color", "descriptor:hog", "descriptor:lbp")
    run("discover", "--generators", "color,hog,lbp", "--top", 5)
    run("embed", "descriptor:layout")
    pool = Workspace(folder).pool()
    rows = [
        f"{q},{c},{int(q.split('/')[-3] == c.split('/')[-3])}"
        for q, c in zip(pool.query, pool.candidate, strict=True)
    ]
    (folder / "labels.csv").write_text("query,candidate,label\n" + "\n".join(rows) + "\n")
    run("labels", "import", folder / "labels.csv")
    return folder


@pytest.fixture
def shop(stocked, lookalike, tmp_path):
    """A copy of that workspace, in which commands run."""
    shutil.copytree(stocked, tmp_path, dirs_exist_ok=True)
    return tmp_path


def ours(lookalike, key: str) -> dict[tuple[tuple[str, ...], str], dict]:
    """Our figures of a table, by the names of the row and the column."""
    result = lookalike("reproduce", key, "--json").json
    assert result["missing"] is None, result["missing"]
    return {
        (tuple(cell["row"].values()), cell["column"]): cell["ours"]
        for cell in result["cells"]
        if cell["ours"]
    }


def same(figure: dict, value: float | None, times: float = 1.0) -> bool:
    return (
        figure["value"] is None
        if value is None
        else math.isclose(figure["value"], times * value, abs_tol=1e-12)
    )


def same_correlation(figure: dict, shown: dict) -> bool:
    """Value, n, p and interval."""
    known = {key: shown[key] for key in ("n", "p", "low", "high", "reason") if shown[key] not in (None, "")}
    return figure == {"value": shown["value"], **known}


def row_of(measure: str, encoder: str) -> tuple[str, str]:
    return NAMES.get(measure, measure), encoder


def test_scores_without_a_generators_labels_are_what_audit_finds(lookalike, shop):
    found = lookalike("audit", "--json").json["leave_one_out"]
    table = ours(lookalike, "vsd-table-1")
    assert len(found["spreads"]) == 5 * 4
    for one in found["spreads"]:
        score = table[row_of(one["measure"], one["encoder"]), "Score"]
        assert same(score, one["mean"], 100)
        assert score["n"] == one["n"]
        assert score["spread"] == (None if one["sd"] is None else pytest.approx(100 * one["sd"]))


def test_consistency_is_what_audit_finds(lookalike, shop):
    found = lookalike("audit", "--json").json
    table = ours(lookalike, "vsd-table-1")
    parts = {"Bias": found["leave_one_out"]["bias"], "FC": found["full_coverage"]["agreements"]}
    compared = [
        same_correlation(
            table[row_of(one["measure"], one["omitted"]), f"{part} / {column}"], one["correlations"][kind]
        )
        for part, agreements in parts.items()
        for one in agreements
        for column, kind in KINDS
        if one["omitted"]
    ]
    assert compared == [True] * (2 * 5 * 3 * 3)
    assert any("low" in figure for figure in table.values())


def test_areas_without_a_generators_labels_are_what_audit_finds(lookalike, shop):
    found = lookalike("audit", "--json").json["leave_one_out"]
    table = ours(lookalike, "eds-table-3")
    assert {names for names, _ in table} == {("color",), ("hog",), ("lbp",)}
    for one in found["bias"]:
        if one["measure"] in AREAS:
            head, rank = AREAS[one["measure"]], one["correlations"]["spearman"]
            assert same_correlation(table[(one["omitted"],), f"{head} / SC"], rank)
            assert same(table[(one["omitted"],), f"{head} / p-value"], rank["p"])
    for one in found["spreads"]:
        if one["measure"] in AREAS and one["encoder"] != "layout":
            assert same(table[(one["encoder"],), f"{AREAS[one['measure']]} / AUC"], one["mean"], 100)


def test_the_coverage_sweep_is_what_audit_finds(lookalike, shop):
    found = lookalike("audit", "--json").json["coverage_sweep"]
    table = ours(lookalike, "vsd-table-5")
    assert table == ours(lookalike, "vsd-table-6")
    for one in found["cells"]:
        row = row_of(f"{one['coverage']:.1f}", NAMES.get(one["measure"], one["measure"]))
        for column, kind in KINDS if one["measure"] != "AUC_mic" else ():
            assert same_correlation(table[row, column], one["over_queries"][kind])
    assert len(table) == 4 * 6 * 3
    assert any(figure["value"] is not None for figure in table.values())


def test_identification_is_what_evaluate_finds(lookalike, shop):
    found = lookalike("evaluate", "--task", "identification", "--json").json
    table = ours(lookalike, "eds-table-4")
    for encoder, scores in found["scores"].items():
        for column, name in (
            ("HR / @5", "HR@5(of=possible)"), ("HR / @9", "HR@9(of=possible)"),
            ("MRR / @5", "MRR@5"), ("MRR / @9", "MRR@9"),
        ):  # fmt: skip
            assert same(table[(encoder,), column], scores[name]["value"], 100)
            assert table[(encoder,), column]["n"] == scores[name]["queries"]
    assert len(table) == 4 * 4


@pytest.mark.parametrize(("key", "role"), [("eds-table-5", "both"), ("eds-table-6", "query")])
def test_discovery_is_what_evaluate_finds_at_the_papers_level(lookalike, shop, key, role):
    options = ("--level", "paper", "--where", f"role={role}", "--json")
    found = lookalike("evaluate", *options, "--measures", "HR@5,HR@9,MRR@5,MRR@9,AUC_mic,AUC_mac").json
    table = ours(lookalike, key)
    columns = {name: f"{name[:-2]} / {name[-2:]}" for name in ("HR@5", "HR@9", "MRR@5", "MRR@9")}
    columns |= {"AUC_mic": "ROC-AUC / Micro / Anno.", "AUC_mac": "ROC-AUC / Macro / Anno."}
    for encoder, scores in found["scores"].items():
        kind = "New models" if encoder == "layout" else "GT generators"
        for name, column in columns.items():
            assert same(table[(kind, encoder), column], scores[name]["value"], 100)
    assert {column for _, column in table} == set(published(key).columns)
    # a gallery of 18 items has no rank 100 to draw negatives from
    sampled = [figure for (_, column), figure in table.items() if "ROC" in column and "Neg" in column]
    assert all(figure["value"] is None and figure["reason"] for figure in sampled)
    result = lookalike("reproduce", key).out
    assert f"{found['labels']} labelled pairs of" in result
    assert "nan: undefined, because " in result


def test_every_table_goes_to_a_file(lookalike, shop):
    for key in ("eds-table-3", "eds-table-4", "eds-table-5", "vsd-table-1", "vsd-table-5"):
        done = lookalike("reproduce", key, "--output", f"{key}.csv", "--json").json
        assert lookalike("reproduce", key, "--output", f"{key}.json").status == 0
        assert json.loads((shop / f"{key}.json").read_text()) == done
        result = lookalike("reproduce", key, "--output", f"{key}.txt").out
        assert (shop / f"{key}.txt").read_text() in result
        with (shop / f"{key}.csv").open() as file:
            rows = list(csv.DictReader(file))
        in_json = [cell["ours"]["value"] if cell["ours"] else "" for cell in done["cells"]]
        in_csv = [float(row["ours"]) if row["ours"] else "" for row in rows]
        assert [None if one != "" and math.isnan(one) else one for one in in_csv] == in_json


def test_correlations_of_two_encoders_are_nan_and_it_says_what_to_do(lookalike, labelled):
    for key, start in (("vsd-table-1", "AUC_mac  color "), ("eds-table-3", "color ")):
        result = lookalike("reproduce", key)
        assert result.status == 0, result.err
        words = " ".join(result.out.split())
        assert "2 encoders" in words
        assert "at least 3" in words
        assert "lookalike embed ENCODER" in words
        (color,) = [line for line in result.out.splitlines() if line.startswith(start)]
        assert "nan" in color
        undefined = [figure for figure in ours(lookalike, key).values() if figure["value"] is None]
        assert undefined
        assert all(figure["reason"] for figure in undefined)


def test_what_a_workspace_lacks_is_reported_with_the_command_that_adds_it(lookalike, photos, labelled):
    # the pool is of the top 3, so no list of five is labelled
    for key in ("vsd-table-5", "vsd-table-6"):
        assert "lookalike discover --top 5" in lookalike("reproduce", key, "--json").json["missing"]
    assert "lookalike discover --top 5" in lookalike("reproduce", "vsd-table-1").out
    wild = lookalike("reproduce", "eds-table-6", "--json").json
    assert "--set role=query" in wild["missing"]
    assert lookalike("init", photos, "--workspace", "fresh").status == 0
    for key in AUDITED:
        assert "lookalike labels import" in lookalike("reproduce", key, "--workspace", "fresh").out
    assert "lookalike embed" in lookalike("reproduce", "eds-table-4", "--workspace", "fresh").out
    assert "lookalike labels import" in lookalike("reproduce", "eds-table-5", "--workspace", "fresh").out


def test_one_photo_of_each_item_leaves_nothing_to_identify(lookalike, photos, tmp_path):
    alone = tmp_path / "alone"
    for photo in photos.glob("*/*/1.png"):
        copy = alone / photo.parts[-3] / photo.parts[-2] / "1.png"
        copy.parent.mkdir(parents=True)
        copy.write_bytes(photo.read_bytes())
    assert lookalike("init", alone).status == 0
    assert lookalike("embed", "descriptor:color").status == 0
    result = lookalike("reproduce", "eds-table-4")
    assert result.status == 0
    assert "two photos" in result.out
    assert "two photos" in lookalike("reproduce", "eds-table-4", "--json").json["missing"]
    assert "99.9" in result.out
