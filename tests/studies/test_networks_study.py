"""The study of whole networks: every method is scored on the truth, wild photos and labels, and none runs twice."""

import csv
import os
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WEIGHTS = Path(os.environ.get("LOOKALIKE_DATA", ROOT.parent / "shared" / "data")) / "weights"


@pytest.mark.slow
@pytest.mark.real
@pytest.mark.skipif(not WEIGHTS.is_dir(), reason="the data pack is not here (set LOOKALIKE_DATA)")
def test_methods_are_compared_with_the_network_as_it_is(tmp_path, capsys):
    small = ["--catalogs", "1", "--images", "200", "--size", "64", "--epochs", "1"]
    where = ["--journal", str(tmp_path / "j.jsonl"), "--folder", str(tmp_path / "f"), "--out", str(tmp_path)]
    asked = [*where, "--weights", str(WEIGHTS), *small, "--methods", "Pre", "SupCon_SPA", "CAT"]
    study = runpy.run_path(str(ROOT / "studies" / "networks.py"))
    study["main"](asked)
    rows = list(csv.DictReader((tmp_path / "networks.csv").read_text().splitlines()))
    assert {row["method"] for row in rows} == {"Pre", "SupCon_SPA", "CAT"}
    assert {row["scored on"] for row in rows} == {"truth", "wild", "labels"}
    values = {(row["method"], row["scored on"], row["measure"]): float(row["value"]) for row in rows}
    assert all(0 < value < 1 for value in values.values())
    assert len(set(values.values())) > 20
    kept = (tmp_path / "j.jsonl").read_bytes()
    study["main"](asked)
    assert (tmp_path / "j.jsonl").read_bytes() == kept


def test_gains_are_over_the_network_of_the_same_catalog():
    study = runpy.run_path(str(ROOT / "studies" / "networks.py"))
    entries = [
        {
            "key": f"{seed} {name} net 1 1 1 1",
            "network": "net",
            "method": name,
            "values": {on: dict.fromkeys(names, value) for on, names in study["MEASURES"].items()},
        }
        for seed, before in ((1, 0.25), (2, 0.5))
        for name, value in (("Pre", before), ("SupCon", before + seed / 8))
    ]
    found = {tuple(row[:4]): row for row in study["rows_of"](entries)}
    row = found["net", "SupCon", "truth", "HR@5"]
    assert row[4:7] == [2, "0.5625", "0.1875"]
    assert row[-1] == 2
    assert found["net", "Pre", "wild", "HR@5"][4:6] == [2, "0.3750"]
