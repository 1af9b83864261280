"""The growth page: its fits, its journal, and that the page is what the command writes."""

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

import lookalike

ROOT = Path(__file__).parents[2]
SIZES = [10_000, 31_600, 100_000, 316_000]
MACHINE = {"date": "2026-01-02", "processor": "a processor", "cores": 2, "gigabytes": 25, "python": "3.11.7"}


@pytest.fixture(scope="module")
def growth():
    """The command as a module, with its neighbours; none of them stays imported. Folders of tests have their names."""
    names = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    folders = {name: sys.modules.pop(name) for name in names & set(sys.modules)}
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        yield importlib.import_module("growth")
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "").parent == ROOT / "benchmarks":
            del sys.modules[name]
    sys.modules.update(folders)


def result(stage: str, size: int, seconds: float = 1.0, megabytes: float = 0.0, disk: int = 0) -> dict:
    return {
        "stage": stage,
        "size": size,
        "seconds": seconds,
        "processor": 2 * seconds,
        "megabytes": megabytes,
        "disk": disk,
        "load": 1.5,
    }


def write(journal: Path, lines: list[dict]) -> None:
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))


def sample(growth) -> list[dict]:
    """A journal of all vector stages: near duplicates grow like n^1.5, all others like n; the largest is left out."""
    lines = [{"machine": MACHINE}]
    for name in growth.stages.VECTORS:
        power = 1.5 if name == "near duplicates" else 1.0
        lines += [result(name, size, (size / 1e4) ** power, size / 1000, 40 * size) for size in SIZES]
        lines.append({"stage": name, "size": 1_000_000, "skipped": 5_000})
    return lines


def options(growth, folder: Path, *more: str):
    words = ["--most-images", "0", "--output", "page.md", "--journal", "run.jsonl", "--folder", "work"]
    given = growth.arguments([*words, *more])
    for name in ("output", "journal", "folder"):
        setattr(given, name, folder / getattr(given, name))
    return given


def no_work(stage, folder, size):
    raise AssertionError(f"{stage} of {size} is measured again")


def test_the_fit_is_that_of_polyfit(growth):
    seconds = [1.1, 3.9, 10.2, 41.0]
    fit = growth.fitted(SIZES, seconds)
    (slope, constant), covariance = np.polyfit(np.log(SIZES), np.log(seconds), 1, cov=True)
    assert (fit.exponent, fit.constant) == pytest.approx((slope, constant))
    half = student.ppf(0.975, 2) * covariance[0, 0] ** 0.5
    assert fit.interval() == pytest.approx((slope - half, slope + half))
    assert fit.at(1e8) == pytest.approx(np.exp(constant) * 1e8**slope)
    assert fit.at(fit.reaches(77.0)) == pytest.approx(77.0)


def test_intervals_are_those_of_a_hand_calculation(growth):
    # log n = 0, 1, 2, 3; log seconds = 0, 2, 2, 4: b = 6 / 5, mean 1.5, rest 0.8, error^2 = 0.8 / 2, spread 5
    fit = growth.fitted(np.exp([0, 1, 2, 3]), np.exp([0, 2, 2, 4]))
    assert fit.exponent == pytest.approx(1.2)
    quantile = 4.302652730  # of t with 2 degrees of freedom at 0.975, from a table
    half = quantile * (0.4 / 5) ** 0.5
    assert fit.interval() == pytest.approx((1.2 - half, 1.2 + half))
    # at log n = 5: 2 + 1.2 x 3.5 = 6.2; half = t sqrt(0.4 (1 + 1/4 + 3.5^2 / 5))
    half = quantile * (0.4 * (1 + 0.25 + 12.25 / 5)) ** 0.5
    assert np.log(fit.interval_at(np.exp(5))) == pytest.approx((6.2 - half, 6.2 + half))


def test_intervals_of_three_sizes_are_undefined(growth):
    fit = growth.fitted(SIZES[:3], [1, 3, 11])
    with pytest.raises(ValueError, match="needs 4 sizes, and there are 3"):
        fit.interval()
    with pytest.raises(ValueError, match="needs 4 sizes"):
        fit.interval_at(1e8)


def test_the_command_writes_the_page_of_a_journal_without_measuring(growth, tmp_path):
    given = options(growth, tmp_path, "--price", "0.2")
    write(given.journal, sample(growth))
    growth.main(given, no_work)
    text = given.output.read_text()
    assert text == growth.page(growth.read(given.journal), growth.target.rates(), 0.2)
    assert "2026-01-02, on 2 cores of a processor, 25 GB, Python 3.11.7." in text
    lines = text.splitlines()
    # 10,000 images take 1 s; n^1.5 gives 10^6 s at 10^8, and 2 x 10^6 processor seconds; 1 KB per image
    assert (
        "| `near duplicates` | 4 | 1.50 (1.50 to 1.50) | 1.50 (1.50 to 1.50) "
        "| 1,000,000 (1,000,000 to 1,000,000) | 556 (556 to 556) | 100 |"
    ) in lines
    assert "| `near duplicates` | 1.50 | 556 | 2 | 111 |" in lines
    assert "|  | 316,000 | 178 | 355 | 0.562 | 316 | 40 |" in lines
    # 86,400 s are reached at 10,000 x 86,400^(2/3), before 64 GB
    assert any(line.startswith("| `near duplicates` | 64,000,000 | 19,500,000 | [shards]") for line in lines)
    assert "- **First of all:** `near duplicates`, by time, at about 19,500,000 images." in text
    assert "near duplicates of 1,000,000 (about 5,000 s expected)" in text


def test_rates_of_photos_are_those_of_the_page_on_speed(growth):
    rates = growth.target.rates()
    text = (ROOT / "docs/internals/performance.md").read_text()
    decoded, embedded = rates["`timm:resnet50`"]
    assert f"| `timm:resnet50` | {decoded:.0f} |" in text
    assert f"| {embedded:.1f} | 0.98 | 28 |" in text
    assert len(rates) == 4


def test_the_page_in_the_documentation_is_that_of_its_journal(growth):
    journal = growth.read(ROOT / "benchmarks/growth.jsonl")
    assert {name for name, _ in journal.results} == {*growth.stages.IMAGES, *growth.stages.VECTORS}
    text = growth.page(journal, growth.target.rates(), growth.target.PRICE)
    assert (ROOT / "docs/scale.md").read_text(encoding="utf-8") == text


def test_a_stopped_run_goes_on_where_it_stopped(growth, tmp_path, monkeypatch):
    for name in ("draw", "write_table", "write_vectors"):
        monkeypatch.setattr(growth.stages, name, lambda *given: None)
    given = options(growth, tmp_path, "--most-images", "3160", "--most-vectors", "31600")
    done: list[tuple[str, int]] = []

    def measure(stage, folder, size):
        if len(done) == stop:
            raise KeyboardInterrupt
        if size:
            done.append((stage, size))
        return result(stage, size)

    images, vectors = list(growth.stages.IMAGES), list(growth.stages.VECTORS)
    every = [(name, size) for size in (1_000, 3_160) for name in images]
    every += [(name, size) for name in vectors for size in (10_000, 31_600)]
    stop = len(images) + 3  # within the second catalog
    with pytest.raises(KeyboardInterrupt):
        growth.main(given, measure)
    assert not given.output.exists()
    with given.journal.open("a") as file:
        file.write('{"stage": "lab')  # the process was killed while it wrote
    done.clear()
    stop = len(images) + 5  # its second catalog anew, then vectors
    with pytest.raises(KeyboardInterrupt):
        growth.main(given, measure)
    assert done == every[len(images) : len(images) + stop]
    done.clear()
    stop = 1000
    growth.main(given, measure)
    assert done == every[2 * len(images) + 5 :]
    assert set(growth.read(given.journal).results) == set(every)
    assert given.output.exists()
    assert not given.folder.exists()
    growth.main(given, no_work)


def test_a_size_above_the_time_limit_is_left_out_and_noted(growth, tmp_path, monkeypatch):
    monkeypatch.setattr(growth.stages, "write_vectors", lambda *given: None)
    given = options(growth, tmp_path, "--most-vectors", "1000000", "--most-seconds", "150")
    growth.main(given, lambda stage, folder, size: result(stage, size, seconds=(size / 1e4) ** 1.5))
    journal = growth.read(given.journal)
    # 31.6^1.5 = 178 s are expected at 316,000
    assert {size for _, size in journal.results} == {10_000, 31_600, 100_000}
    assert journal.skipped["ranks", 316_000] == 178
    growth.main(given, no_work)


def test_a_stage_is_measured_in_its_own_process(growth, tmp_path):
    found = growth.in_its_own_process("catalog written", tmp_path, 1_000)
    assert (found["stage"], found["size"]) == ("catalog written", 1_000)
    assert found["disk"] == growth.on_disk(tmp_path / "catalog-1000") > 100_000
    assert found["seconds"] > 0


@pytest.mark.slow
def test_every_stage_runs(growth, tmp_path):
    stages = growth.stages
    stages.draw(tmp_path, 200)
    stages.write_table(tmp_path, 200)
    stages.write_vectors(tmp_path, 200)
    for name in (*stages.IMAGES, *stages.VECTORS):
        stages.made(name, tmp_path, 200).work()
    shop = lookalike.open_workspace(tmp_path / "images-200/workspace")
    assert len(shop.catalog.image) == 200
    assert len(set(shop.pool.query)) == 200
    assert 0 < shop.labels.label.mean() < 1
