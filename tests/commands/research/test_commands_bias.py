"""`lookalike bias`: simulated pools on the studio and on a workspace with complete labels."""

import csv
import tomllib
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from audit.complete_worlds import world

from lookalike.research.bias.run import CHUNK, simulated
from lookalike.research.bias.simulate import simulate
from lookalike.store.workspace import Workspace


def rows_of(path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.mark.slow
def test_on_the_studio_it_prints_writes_and_repeats(lookalike, tmp_path):
    command = ("bias", "--images", 200, "--pools", 4, "--seed", 2)
    result = lookalike(*command, "--output", "out", "--calibration", "table.toml")
    assert result.status == 0, result.err
    for part in ("4 simulated pools", "200 photos", "24 encoders", "HR@5 corrected", "expected"):
        assert part in result.out
    figures = rows_of(tmp_path / "out/bias.csv")
    done = lookalike(*command, "--json").json
    assert done["pools"] == 4
    for cell, row in zip(done["figures"], figures, strict=True):
        assert (cell["measure"], cell["figure"], cell["where"]) == (
            row["measure"],
            row["figure"],
            row["where"],
        )
        if row["value"]:
            assert cell["value"] == pytest.approx(float(row["value"]), abs=1e-5)
    pools = rows_of(tmp_path / "out/pools.csv")
    assert len(pools) == 4 * 24
    shown = np.mean(
        [
            float(row["EHR@5"]) - float(row["true HR@5 of the pool's queries"])
            for row in pools
            if row["generator"] == "0"
        ]
    )
    (bias,) = [
        c for c in done["figures"] if (c["measure"], c["figure"], c["where"]) == ("EHR@5", "bias", "outside")
    ]
    assert bias["value"] == pytest.approx(shown, abs=1e-4)
    ET.parse(tmp_path / "out/bias.svg")
    table = tomllib.loads((tmp_path / "table.toml").read_text())
    assert table["made"]["pools"] == 4
    assert len(table["made"]["encoders"]) == 24
    assert "HR@5 corrected" in table["cells"]


@pytest.fixture
def shop(lookalike, photos, tmp_path):
    """A workspace of 18 items in which three descriptors search."""
    assert lookalike("init", photos, "-w", "shop").status == 0
    for name in ("color", "hog", "layout"):
        assert lookalike("embed", f"descriptor:{name}", "-w", "shop").status == 0
    return tmp_path / "shop"


def every_pair(folder, leave_out=0) -> str:
    """Items of one kind are similar; the last pairs may be left out."""
    catalog = Workspace(folder).catalog
    first = {item: image for image, item in reversed(list(zip(catalog.image, catalog.item, strict=True)))}
    rows = [
        f"{query},{candidate},{int(item[:3] == other[:3])}\n"
        for query, item in zip(catalog.image, catalog.item, strict=True)
        for other, candidate in first.items()
        if other != item
    ]
    return "query,candidate,label\n" + "".join(rows[: len(rows) - leave_out])


def test_a_workspace_with_complete_labels_is_its_own_truth(lookalike, shop, tmp_path):
    (tmp_path / "labels.csv").write_text(every_pair(shop))
    assert lookalike("labels", "import", "labels.csv", "-w", "shop").status == 0
    done = lookalike("bias", "-w", "shop", "--pools", 5, "--json")
    assert done.status == 0, done.err
    evaluated = lookalike("evaluate", "-w", "shop", "--measures", "HR@5", "--json").json["scores"]
    assert done.json["true_hr5"] == pytest.approx({n: s["HR@5"]["value"] for n, s in evaluated.items()})
    result = lookalike("bias", "-w", "shop", "--pools", 5)
    assert "5 simulated pools" in result.out


def test_a_workspace_with_missing_labels_is_refused_with_what_is_missing(lookalike, shop, tmp_path):
    (tmp_path / "labels.csv").write_text(every_pair(shop, leave_out=12))
    assert lookalike("labels", "import", "labels.csv", "-w", "shop").status == 0
    result = lookalike("bias", "-w", "shop", "--pools", 5)
    assert result.status == 1
    assert "top 10 of color" in result.err
    assert "1 of 36 queries" in " ".join(result.err.split())
    assert "Traceback" not in result.err


def test_a_workspace_without_labels_and_a_calibration_of_a_workspace_are_refused(lookalike, shop):
    unlabelled = lookalike("bias", "-w", "shop")
    assert unlabelled.status == 1
    assert "no labels" in unlabelled.err
    result = lookalike("bias", "-w", "shop", "--calibration", "table.toml")
    assert result.status == 1
    assert "--calibration" in result.err
    assert "--workspace" in result.err


@pytest.mark.parametrize("wrong", [("--pools", 0), ("--images", 10), ("--studios", 0)])
def test_wrong_numbers_are_refused(lookalike, wrong):
    assert lookalike("bias", *wrong).status == 2


def test_fewer_pools_than_studios_are_refused(lookalike):
    result = lookalike("bias", "--pools", 2, "--studios", 3)
    assert result.status == 1
    assert "pools is 2" in result.err


def test_the_number_of_processes_does_not_change_a_pool():
    complete, steps = world(encoders=4, queries=20), []
    parts = simulated(complete, CHUNK + 3, 1, lambda done, total: steps.append((done, total)))
    alone = simulate(complete, CHUNK + 3, 1)
    assert np.array_equal(np.concatenate([one.value for one in parts]), alone.value, equal_nan=True)
    assert steps == [(CHUNK, CHUNK + 3), (CHUNK + 3, CHUNK + 3)]
