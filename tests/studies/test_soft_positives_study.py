"""The trial of soft positives: it resumes, its two processes agree with one, and its means are Student's."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def study(name: str) -> dict:
    return runpy.run_path(str(ROOT / "studies" / f"{name}.py"))


FEW = ["--catalogs", "2", "--items", "200"]


@pytest.fixture(scope="module")
def first_stage(tmp_path_factory) -> Path:
    """The journal of the primary test on two catalogs, made by one process."""
    journal = tmp_path_factory.mktemp("soft") / "j.jsonl"
    study("soft_positives")["main"](["--journal", str(journal), *FEW, "--stages", "1", "--workers", "1"])
    return journal


def test_soft_positives_tells_what_is_finished_and_resumes(first_stage, tmp_path, capsys):
    """Two catalogs and the first two stages: the primary test, its other head, and the same journal a second time."""
    journal = tmp_path / "j.jsonl"
    journal.write_bytes(first_stage.read_bytes())
    few = ["--journal", str(journal), *FEW, "--workers", "1", "--out", str(tmp_path)]
    made = study("soft_positives")
    made["main"]([*few, "--stages", "1"])
    assert (
        "ahead on" in capsys.readouterr().out.partition("Primary: middling, residual, third, supcon, SPA")[2]
    )
    assert journal.read_bytes() == first_stage.read_bytes()
    assert len(journal.read_text().splitlines()) == 2 * 2 * 3
    made["main"]([*few, "--stages", "2"])
    kept = journal.read_bytes()
    assert len(kept.splitlines()) == 2 * 2 * 2 * 3
    made["main"]([*few, "--stages", "2"])
    made["main"]([*few, "--tell"])
    assert journal.read_bytes() == kept
    text = (tmp_path / "soft-positives.md").read_text()
    assert text.count("| supcon SPA | 2 |") == 2
    assert text.count("| middling, projection, third, supcon, SPA |") == 1


def test_every_cell_is_run_once_and_the_primary_ones_first():
    made = study("soft_positives")
    listed = [cell for cells in made["stages"](objects=True) for cell in cells]
    assert listed[:2] == [made["PRIMARY"]._replace(kind="plain"), made["PRIMARY"]]
    assert len(set(listed)) == len(listed) == (2 * 2 * 3 + 2) * 3 * 4


def test_soft_positives_in_two_processes_make_the_same_entries(first_stage, tmp_path):
    """Of each catalog two entries are missing, so that each process makes some."""
    whole, journal = first_stage.read_text().splitlines(), tmp_path / "j.jsonl"
    journal.write_text("\n".join([*whole[:4], *whole[6:10], ""]))
    command = [sys.executable, str(ROOT / "studies" / "soft_positives.py"), *FEW, "--stages", "1"]
    subprocess.run([*command, "--workers", "2", "--journal", str(journal)], check=True)
    assert sorted(journal.read_text().splitlines()) == sorted(whole)


def test_thinned_labels_are_whole_pairs():
    from lookalike.core.types import Labels

    a, b = np.divmod(np.arange(400), 20)
    labels = Labels.of(a[a != b], b[a != b], ((a + b) % 2)[a != b].astype(np.int8))
    made = study("soft_positives")
    few = made["thinned"](labels, 30, 0)
    assert (made["pairs"](few), len(few)) == (30, 60)
    assert all(
        (int(x) + int(y)) % 2 == label
        for x, y, label in zip(few.query, few.candidate, few.label, strict=True)
    )


def test_the_mean_of_fresh_catalogs_is_student_s_and_the_rate_the_best_by_validation():
    from scipy.stats import ttest_1samp

    made = study("soft_positives_tables")
    values = np.array([0.002, 0.001, np.nan, -0.0005, 0.0012])
    found, known = made["mean_of"](values), values[~np.isnan(values)]
    peer = ttest_1samp(known, 0.0)
    assert (found.low, found.high) == pytest.approx(tuple(peer.confidence_interval(0.95)))
    assert found.p == pytest.approx(peer.pvalue)
    assert found.alike == all(abs(end) < 0.003 for end in peer.confidence_interval(0.90))
    assert made["mean_of"](known + 0.003).alike is False
    entry = {
        rate: {"validation": {"DCS(alpha=10)": value}}
        for rate, value in ((1e-3, 0.8), (3e-4, 0.9), (3e-3, 0.9))
    }
    assert made["best"](entry) is entry[3e-4]


def test_the_verdicts_of_the_study_are_counted_by_encoder_and_head(tmp_path):
    study("training_verdicts")["main"]([*FEW, "--out", str(tmp_path)])
    rows = [line.split(" | ") for line in (tmp_path / "training-verdicts.md").read_text().splitlines()[2:]]
    assert [row[:3] for row in rows] == [
        [f"| {encoder}", head, "2"] for encoder in ("middling", "good") for head in ("projection", "residual")
    ]
    assert all(sum(int(word.split()[-1]) for word in row[4].split(", ")) == 2 for row in rows)


def test_heads_compares_both_heads_on_every_encoder(tmp_path):
    few = ["--catalogs", "1", "--items", "200", "--epochs", "2"]
    study("heads")["main"](["--journal", str(tmp_path / "j.jsonl"), "--out", str(tmp_path), *few])
    assert len((tmp_path / "j.jsonl").read_text().splitlines()) == 6
    table = (tmp_path / "heads.md").read_text()
    for encoder in ("good", "middling", "color"):
        assert f"| {encoder} | projection | 1 |" in table
        assert f"| {encoder} | residual | 1 |" in table
