"""`lookalike audit` on a small shop, with and without its pool."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lookalike.audit.leave_one_out import NOT_VALIDITY
from lookalike.cli.decide.audit.text import no_intervals
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.audit import audit


@pytest.fixture
def shop(lookalike, photos, tmp_path):
    """Three encoders, two of which fed the pool, and a label for every pair of it."""
    assert lookalike("init", photos).status == 0
    assert lookalike("embed", "descriptor:color", "descriptor:hog", "descriptor:lbp").status == 0
    assert lookalike("discover", "--generators", "color,hog", "--top", 3, "--pairs", "pairs.csv").status == 0
    pairs = pl.read_csv(tmp_path / "pairs.csv", infer_schema=False)
    same = (pairs["query"].str.head(3) == pairs["candidate"].str.head(3)).cast(pl.Int8)
    pairs.with_columns(label=same).write_csv(tmp_path / "labels.csv")
    assert lookalike("labels", "import", "labels.csv").status == 0
    return lookalike


def test_it_prints_the_papers_tables_within_a_hundred_columns(shop):
    result = shop("audit", "--k", 3, "--replicates", 100, "--research")
    assert result.status == 0
    for heading in ("VSD Table 1", "EDS Table 3", "VSD Tables 5 and 6"):
        assert heading in result.out
    assert re.search(r"Caution: [^.]* 3 encoders ", " ".join(result.out.split()))
    tables = [
        line for line in result.out.splitlines() if line.startswith(("measure", "DCS", "EHR", "AUC", "BPREF"))
    ]
    assert tables
    assert max(map(len, tables)) <= 100
    assert max(map(len, result.out[result.out.index("Caution: ") :].splitlines())) <= 100
    assert " ".join(result.out.split()).endswith("lookalike report")
    plain = shop("audit", "--k", 3, "--replicates", 100).out
    assert "VSD Table 1" not in plain
    assert "Caution: " not in plain  # those are about the tables
    assert "lookalike audit --research" in plain
    assert " ".join(NOT_VALIDITY.split()) in " ".join(result.out.split())


def test_what_has_a_value_but_no_interval_is_named(shop):
    found = audit(Workspace(Path()), ["color", "hog", "lbp"], ["DCS"], replicates=0)
    assert no_intervals(found) == ""
    first, *others = found.leave_one_out.bias
    lacking = replace(first.correlations.spearman, no_interval="9 of 100 replicates have no value")
    gone = replace(first, correlations=replace(first.correlations, spearman=lacking))
    without = replace(found, leave_one_out=replace(found.leave_one_out, bias=(gone, *others)))
    assert re.findall("'(.*?)'", no_intervals(without)) == [f"{first.measure} without {first.omitted}"]


def test_as_json_it_holds_everything_and_no_nan(shop):
    found = shop("audit", "--k", 3, "--replicates", 100, "--json").json
    assert found["recorded"] is True
    assert found["generators"] == ["color", "hog"]
    assert found["leave_one_out"]["omissions"][0]["dropped"] > 0
    assert found["replicates"] == 100
    spreads = {(one["measure"], one["encoder"]): one for one in found["leave_one_out"]["spreads"]}
    own = spreads["EHR@5", "lbp"]
    assert own["n"] == 2
    assert own["mean"] == pytest.approx(np.mean(own["without"]))


def test_it_says_which_items_are_shown_with_all_columns_as_json(shop):
    found = shop("audit", "--k", 3, "--replicates", 0, "--json").json["exposure"]
    catalog = Workspace(Path()).catalog
    items, queries = len(set(catalog.item)), len(catalog)
    assert [one["encoder"] for one in found] == ["color", "hog", "lbp"]
    for one in found:
        assert (one["k"], one["queries"], one["all_queries"], one["items"]) == (3, queries, queries, items)
        assert one["mean"] == pytest.approx(3 * queries / items)
        shown = sum(item["times"] for item in one["most_shown"])
        assert shown == 3 * queries
        assert one["never"] == pytest.approx(1 - len(one["most_shown"]) / items)
        categories = next(column for column in one["columns"] if column["column"] == "category")
        assert {group["group"] for group in categories["groups"]} == set(catalog.category)
        assert sum(group["items"] for group in categories["groups"]) == items
    lines = shop("audit", "--k", 3, "--replicates", 0, "--research").out.splitlines()
    assert any(line.startswith("Exposure@3: ") for line in lines)
    said = " ".join(" ".join(lines).split())
    for one in found:
        assert (f"{one['encoder']} never shows " in said) == (one["never"] > 0)
        if one["never"]:
            more = round(one["never"] * one["items"]) - 3
            sentence = said.partition(f"{one['encoder']} never shows ")[2].partition(
                f" {one['encoder']} by "
            )[0]
            assert sentence.startswith(one["never_shown"][0])
            assert (f" and {more} more." in sentence) == (more > 0)
    (row,) = [line for line in lines if line.startswith("hog ") and "%" in line]
    hog = found[1]
    assert row.split()[3:] == [
        f"{hog['mean']:.1f}", str(hog["most_shown"][0]["times"]), f"{hog['gini']:.2f}",
    ]  # fmt: skip


def test_how_often_each_item_is_shown_goes_to_a_file(shop):
    assert shop("audit", "--k", 3, "--replicates", 0, "--items", "items.csv", "hog", "lbp").status == 0
    found = {
        one["encoder"]: one for one in shop("audit", "--k", 3, "--replicates", 0, "--json").json["exposure"]
    }
    table = pl.read_csv("items.csv", schema_overrides={"item": pl.String})
    assert table.columns == ["item", "hog", "lbp"]
    assert sorted(table["item"]) == sorted(set(Workspace(Path()).catalog.item))
    for name in ("hog", "lbp"):
        times = dict(zip(table["item"], table[name], strict=True))
        assert {item: n for item, n in times.items() if n} == {
            one["item"]: one["times"] for one in found[name]["most_shown"]
        }
    refused = shop("audit", "--items", "items.csv")
    assert (refused.status, "--force" in refused.err) == (1, True)
    assert "not a format for items" in shop("audit", "--items", "items.txt").err


def test_options_reach_the_audits(shop):
    only = shop(
        "audit",
        "--rule",
        "only",
        "generators",
        "--replicates",
        0,
        "--measures",
        "DCS",
        "--json",
    ).json
    every = shop("audit", "--replicates", 0, "--measures", "DCS", "--json").json
    assert only["leave_one_out"]["encoders"] == ["color", "hog"]
    for a, b in zip(only["leave_one_out"]["omissions"], every["leave_one_out"]["omissions"], strict=True):
        assert a["dropped"] <= b["dropped"]
    rebuilt = shop("audit", "--replicates", 0, "--top", 3, "--measures", "DCS", "--json").json
    assert rebuilt["recorded"] is False
    assert rebuilt["leave_one_out"]["omissions"] == every["leave_one_out"]["omissions"]
    named = shop("audit", "--generators", "lbp", "hog", "--replicates", 0, "--json").json
    assert (named["generators"], named["leave_one_out"]["encoders"]) == (["lbp"], ["hog"])


def test_without_a_pool_provenance_is_rebuilt_for_all_encoders(lookalike, photos, tmp_path):
    assert lookalike("init", photos).status == 0
    assert lookalike("embed", "descriptor:color", "descriptor:hog").status == 0
    names = sorted(str(path.relative_to(photos)) for path in photos.rglob("1.png"))
    rows = [(a, b, int(a[:3] == b[:3])) for a in names[:6] for b in names if a != b]
    pl.DataFrame(rows, schema=["query", "candidate", "label"], orient="row").write_csv(
        tmp_path / "labels.csv"
    )
    assert lookalike("labels", "import", "labels.csv").status == 0
    found = lookalike("audit", "--replicates", 0, "--json").json
    assert (found["generators"], found["recorded"], found["top"]) == (["color", "hog"], False, 5)
    assert found["of_none"] > 0
    assert found["full_coverage"]["covered"][0]["queries"] == 6
    assert "No pool records" in " ".join(found["cautions"])


def test_what_cannot_be_audited_says_what_to_do(lookalike, photos):
    assert lookalike("init", photos).status == 0
    unlabelled = lookalike("audit")
    assert unlabelled.status == 1
    assert "no labels" in unlabelled.err
    assert "lookalike labels import" in unlabelled.err
    for wrong in (
        ("--rule", "none"),
        ("--full-coverage", "half"),
        ("nobody",),
        ("--measures", "XYZ"),
    ):
        assert lookalike("audit", *wrong).status in (1, 2)


def test_wrong_options_are_refused(shop):
    for status, *wrong in (
        (2, "--rule", "none"),
        (2, "--full-coverage", "half"),
        (1, "nobody"),
        (1, "--measures", "XYZ"),
    ):
        result = shop("audit", "--replicates", 0, *wrong, "--json")
        assert result.status == status
        assert wrong[-1] in result.json["error"]["problem"]
    for few in (1, 99):
        result = shop("audit", "--replicates", few, "--research")
        assert (result.status, result.out) == (2, "")
        assert f"--replicates: {few}." in result.err
        assert "100 to 1,000,000" in result.err
