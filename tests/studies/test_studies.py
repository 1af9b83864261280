"""Every study runs end to end, prints its results, and resumes from its journal."""

import csv
import json
import os
import runpy
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LOOKALIKE_DATA", ROOT.parent / "shared" / "data"))
FEW = ["--splits", "2", "--epochs", "2", "--projection", "8"]
SMALL = ["--images", "200"]
pytestmark = pytest.mark.slow
real = pytest.mark.skipif(
    not (DATA / "objects92").is_dir(), reason="the data pack is not here (set LOOKALIKE_DATA)"
)


def study(name: str) -> dict:
    return runpy.run_path(str(ROOT / "studies" / f"{name}.py"))


@pytest.fixture(scope="module")
def photos(tmp_path_factory) -> list[str]:
    """A folder that keeps the photos of 200 items for all studies."""
    return ["--photos", str(tmp_path_factory.mktemp("photos"))]


def test_studio_reports_all_methods_and_runs_no_trial_twice(tmp_path, photos, capsys):
    arguments = [
        "--journal",
        str(tmp_path / "j.jsonl"),
        "--out",
        str(tmp_path / "out"),
        *FEW,
        *SMALL,
        *photos,
    ]
    study("studio")["main"](arguments)
    printed, kept = capsys.readouterr().out, (tmp_path / "j.jsonl").read_bytes()
    assert len(kept.splitlines()) == 18
    for way in ("pretrained", "SupCon", "Con SPA", "TRPL NSPA"):
        assert f"| {way} | 0." in printed
    assert "Without squeezenet1_0" in printed
    assert len((tmp_path / "out" / "studio.csv").read_text().splitlines()) > 100
    assert "<svg" in (tmp_path / "out" / "studio.svg").read_text()
    study("studio")["main"](arguments)
    assert (tmp_path / "j.jsonl").read_bytes() == kept


def test_flips_flip_the_given_shares_and_report_each(tmp_path, photos, capsys):
    made = study("flips")
    shares = ["--shares", "0", "0.2"]
    where = ["--journal", str(tmp_path / "j.jsonl"), "--out", str(tmp_path)]
    made["main"](["studio", *where, *FEW, *SMALL, *photos, *shares])
    assert "| 20 % | 0." in capsys.readouterr().out
    assert len((tmp_path / "j.jsonl").read_text().splitlines()) == 12
    assert "flipped" in (tmp_path / "flips-studio.svg").read_text()


def test_a_flipped_pair_is_flipped_in_both_directions():
    from lookalike.core.types import Labels

    a, b = np.divmod(np.arange(10_000), 100)
    a, b = a[a != b], b[a != b]
    labels = Labels.of(a, b, ((a + b) % 2).astype(np.int8))
    turned = study("flips")["flipped"](labels, 0.1, 0)
    moved = {
        (x, y): m
        for x, y, m in zip(a.tolist(), b.tolist(), (turned.label != labels.label).tolist(), strict=True)
    }
    assert all(moved[x, y] == moved[y, x] for x, y in moved)
    assert np.mean(list(moved.values())) == pytest.approx(0.1, abs=0.015)
    assert np.array_equal(study("flips")["flipped"](labels, 0.0, 0).label, labels.label)


def test_softness_prints_the_grid_and_the_selected_cell(tmp_path, photos, capsys):
    grid = ["--hops", "2", "7", "--betas", "0.1", "0.7"]
    where = ["--journal", str(tmp_path / "j.jsonl"), "--out", str(tmp_path)]
    study("softness")["main"](["studio", *where, *FEW, *SMALL, *photos, *grid])
    printed = capsys.readouterr().out
    assert "| L | beta 0.1 | beta 0.7 |" in printed
    assert "chosen by DCS(alpha=10)" in printed
    assert len((tmp_path / "softness-studio.csv").read_text().splitlines()) == 5


def test_distances_count_every_training_pair_once(tmp_path, photos, capsys):
    study("distances")["main"](["--splits", "2", "--out", str(tmp_path), *SMALL, *photos])
    rows = [line.split(",") for line in (tmp_path / "distances.csv").read_text().splitlines()[1:]]
    assert sum(float(row[2]) for row in rows) == 120 * 119 / 2
    near, far = (float(row[3]) for row in rows if row[1] in ("distance 2", "farther or apart"))
    assert near > 10 * far
    assert "labelled dissimilar" in capsys.readouterr().out


@pytest.mark.real
@real
def test_people_learns_from_the_pool_and_scores_on_all_pairs(tmp_path, capsys):
    where = ["--journal", str(tmp_path / "j.jsonl"), "--out", str(tmp_path / "out")]
    study("people")["main"]([str(DATA), *where, *FEW])
    printed = capsys.readouterr().out
    assert "## people, 2 splits" in printed
    assert len((tmp_path / "j.jsonl").read_text().splitlines()) == 18


@pytest.mark.real
@real
def test_people_with_wrong_labels(tmp_path, capsys):
    where = ["--journal", str(tmp_path / "j.jsonl"), "--data", str(DATA), "--shares", "0.1"]
    study("flips")["main"](["people", *where, *FEW])
    assert "| 10 % | 0." in capsys.readouterr().out


def test_agreement_prints_estimated_errors_beside_true_ones(capsys):
    study("agreement")["main"](["--images", "400", "--repeats", "50", "--gold", "100"])
    printed = capsys.readouterr().out
    for part in (
        "krippendorff",
        "experts 3 and 4: Cohen's kappa 0.",
        "expert 4 again",
        "from 100 gold pairs",
    ):
        assert part in printed


def test_depth_prints_the_grid_and_runs_no_catalog_twice(tmp_path, capsys, monkeypatch):
    """A size with its two seeds, and one catalog of small photos: it has no table, because no other seed chooses."""
    monkeypatch.setattr("lookalike.research.bias.run.SIZE", 48)
    where = ["--journal", str(tmp_path / "j.jsonl"), "--out", str(tmp_path), "--items", "200", "--seeds", "2"]
    small = [*where, "--pools", "1", "--rendered", "100", "--rendered-seeds", "1"]
    study("depth")["main"](small)
    printed, kept = capsys.readouterr().out, (tmp_path / "j.jsonl").read_bytes()
    assert [b'"descriptors' in line for line in kept.splitlines()] == [False, False, True]
    for part in ("# simulated encoders", "| 200 | 10% | ", "minus DCS(alpha=10)", "both outside"):
        assert part in printed
    rows = (tmp_path / "depth.csv").read_text().splitlines()
    assert len(rows) == 1 + 3 * 2 * 3 * 4 * 10
    study("depth")["main"](small)
    assert (tmp_path / "j.jsonl").read_bytes() == kept


def test_consistency_prints_both_correlations_of_every_measure(capsys):
    study("consistency")["main"](["--studios", "2", "--pools", "2", "--images", "400"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["DCS", "EHR@5", "AUC_mic", "AUC_mac", "BPREF"]
    shown = [[float(cell.strip("()")) for cell in line.split()[1:] if cell != "to"] for line in lines[1:]]
    assert all(-1 <= low <= mean <= high <= 1 for line in shown for mean, low, high in (line[:3], line[3:]))


def test_exposure_prints_the_groups_of_every_encoder(photos, capsys):
    study("exposure")["main"]([*SMALL, *photos, "--encoders", "descriptor:color", "descriptor:hog"])
    lines = capsys.readouterr().out.splitlines()
    heads = [line for line in lines if not line.startswith(" ")]
    assert [head.partition(":")[0] for head in heads] == ["color", "hog"]
    for at, head in enumerate(heads):
        groups = lines[lines.index(head) + 1 : lines.index(heads[at + 1]) if at + 1 < len(heads) else None]
        items = [int(line.split()[1]) for line in groups]
        times = [float(line.split()[3]) for line in groups]
        assert sum(items) == 100
        assert sum(n * mean for n, mean in zip(items, times, strict=True)) == pytest.approx(500, rel=0.02)


def test_sampling_prints_its_tables_and_computes_no_value_twice(tmp_path, capsys):
    small = ["--studios", "1", "--images", "300", "--draws", "10", "--out", str(tmp_path)]
    arguments = ["--journal", str(tmp_path / "j.jsonl"), *small]
    study("sampling")["main"](arguments)
    printed, kept = capsys.readouterr().out, (tmp_path / "j.jsonl").read_bytes()
    assert "studio, difference: 28 values" in printed
    assert len((tmp_path / "sampling.csv").read_text().splitlines()) > 20
    study("sampling")["main"](arguments)
    assert (tmp_path / "j.jsonl").read_bytes() == kept


@pytest.mark.real
@real
def test_sampling_of_the_objects(tmp_path, capsys):
    where = ["--journal", str(tmp_path / "j.jsonl"), "--data", str(DATA), "--studios", "0", "--draws", "20"]
    study("sampling")["main"](where)
    assert "objects92, difference: 45 values" in capsys.readouterr().out


def test_negatives_prints_the_correlations_over_all_and_over_those_outside(capsys):
    study("negatives")["main"](["--studios", "2", "--images", "1200", "--queries", "40"])
    lines = capsys.readouterr().out.splitlines()
    assert [line[:30].split() for line in lines] == [
        [*who, average, kind]
        for who in (["all", "encoders"], ["outside", "the", "pool"])
        for average in ("micro", "macro")
        for kind in ("Anno.", "Neg")
    ]
    shown = [[float(cell.strip("()")) for cell in line[30:].split() if cell != "to"] for line in lines]
    assert all(-1 <= low <= mean <= high <= 1 for mean, low, high in shown)


@pytest.mark.real
@pytest.mark.skipif(not (DATA / "weights").is_dir(), reason="the data pack is not here (set LOOKALIKE_DATA)")
def test_adaptation_prints_its_tables_and_runs_no_catalog_twice(tmp_path, capsys):
    where = [
        "--journal",
        str(tmp_path / "j.jsonl"),
        "--weights",
        str(DATA / "weights"),
        "--out",
        str(tmp_path),
    ]
    few = ["--catalogs", "2", "--pairs", "12", "--resamples", "1", "--epochs", "2"]
    study("adaptation")["main"]([*where, *few])
    printed, kept = capsys.readouterr().out, (tmp_path / "j.jsonl").read_bytes()
    assert len(kept.splitlines()) == 2 * 3
    assert "2 catalogs of 12 pairs, 3 of them tested; chance: 0.5556." in printed
    assert printed.count("| mobilenetv1") == 3  # chosen, all epochs, differences
    assert "dash-1" in (tmp_path / "adaptation.svg").read_text()
    study("adaptation")["main"]([*where, *few, "--tell"])
    assert (tmp_path / "j.jsonl").read_bytes() == kept
    assert capsys.readouterr().out in printed


@pytest.mark.real
@pytest.mark.skipif(not (DATA / "weights").is_dir(), reason="the data pack is not here (set LOOKALIKE_DATA)")
def test_which_encoder_tries_every_way_on_every_encoder_and_trains_none_twice(tmp_path, capsys):
    where = [
        "--journal",
        str(tmp_path / "j.jsonl"),
        "--weights",
        str(DATA / "weights"),
        "--out",
        str(tmp_path),
    ]
    few = ["--catalogs", "1", "--items", "200", "--counts", "80", "--resamples", "1"]
    study("which_encoder")["main"]([*where, *few])
    kept, table = ((tmp_path / name).read_bytes() for name in ("j.jsonl", "which-encoder.csv"))
    rows = [line.split(",") for line in table.decode().splitlines()[1:]]
    assert [row[:2] + row[3:5] for row in rows] == [
        [encoder, "80", way, "1"]
        for encoder in ("color", "mobilenetv2", "as-if")
        for way in ("diagonal", "adaptation", "residual", "blend")
    ]
    for entry in map(json.loads, kept.splitlines()):
        assert entry["pairs"] == 80 > entry["training"] > 0
        if entry["word"] in ("won", "lost"):
            assert (entry["word"] == "won") == (entry["after"] > entry["before"]) or entry["wrong"]
    assert "| color | 0." in capsys.readouterr().out
    study("which_encoder")["main"]([*where, *few, "--tell"])
    assert ((tmp_path / "j.jsonl").read_bytes(), (tmp_path / "which-encoder.csv").read_bytes()) == (
        kept,
        table,
    )


def test_the_page_on_encoders_has_the_tables_of_the_study():
    docs = ROOT / "docs"
    made = study("which_encoder")["tables"]((docs / "research/results/which-encoder.csv").read_text())
    page = (docs / "how-to/which-encoder.md").read_text()
    figures = [line.split(" | ")[1:] for line in made.splitlines() if line[:1] == "|" and "0." in line]
    assert len(figures) > 9
    assert [line for line in figures if " | ".join(line) not in page] == []


def test_the_study_of_promises_prints_both_thresholds(tmp_path, capsys):
    study("promise")["main"](["--studios", "1", "--images", "1000", "--out", str(tmp_path)])
    printed = capsys.readouterr().out
    assert "| 300 | naive | " in printed
    assert "| 600 | tested | " in printed
    header, *rows = (tmp_path / "promise.csv").read_text().splitlines()
    assert header == "studio,encoder,similar,labels,way,made,error,kept"
    assert len(rows) == 11 * 3 * 2


@pytest.mark.real
@pytest.mark.skipif(not (DATA / "weights").is_dir(), reason="the data pack is not here (set LOOKALIKE_DATA)")
def test_the_study_of_regions_measures_each_region_on_both_sides_and_no_catalog_twice(tmp_path, capsys):
    where = [
        "--journal",
        str(tmp_path / "j.jsonl"),
        "--weights",
        str(DATA / "weights"),
        "--out",
        str(tmp_path),
    ]
    study("regions")["main"]([*where, "--catalogs", "1", "--items", "20"])
    kept, table = ((tmp_path / name).read_bytes() for name in ("j.jsonl", "regions.csv"))
    rows = list(csv.DictReader(table.decode().splitlines()))
    assert len(rows) == 2 * 2 * 7
    assert all(0 <= float(row["HR@5"]) <= 1 for row in rows)
    assert "mobilenetv2, mask, pool - box, crop: " in capsys.readouterr().out
    study("regions")["main"]([*where, "--items", "20", "--tell"])
    assert ((tmp_path / "j.jsonl").read_bytes(), (tmp_path / "regions.csv").read_bytes()) == (kept, table)


def test_the_page_on_regions_has_the_figures_of_the_study():
    docs = ROOT / "docs/research"
    rows = list(csv.DictReader((docs / "results/regions.csv").read_text().splitlines()))
    page = (docs / "regions.md").read_text()
    shown = [" [".join(f"{float(row[name]):.3f}"[1:] for name in ("HR@5", "low")) for row in rows]
    assert len(shown) == 28
    assert [one for one in shown if f"| {one}, " not in page] == []
