"""ADAPT's experiment on small worlds, and the claims of its text against its own table."""

import numpy as np
import pytest
from oracles.pairing import recall

from lookalike.core.errors import ArgumentError
from lookalike.research.papers.published import published
from lookalike.store.journal import Journal

torch = pytest.importorskip("torch")

from lookalike.research.adaptation import repeats  # noqa: E402
from lookalike.research.adaptation.protocol import KS, AdaptationProtocol  # noqa: E402
from lookalike.research.adaptation.repeats import PairedVectors, one_repeat, prepared, run_repeats  # noqa: E402
from lookalike.research.adaptation.tables import adaptation_table, curve_rows  # noqa: E402

QUICK = AdaptationProtocol(repeats=2, resamples=2, epochs=4)


def world(pairs: int = 40, wide: int = 12, seed: int = 0) -> PairedVectors:
    random = np.random.default_rng(seed)
    shared = random.normal(size=(pairs, wide))
    left, right = (shared + 0.8 * random.normal(size=(pairs, wide)) for _ in range(2))
    return PairedVectors(f"world{seed}", left.astype(np.float32), right.astype(np.float32))


def oracle(left: np.ndarray, right: np.ndarray, k: int) -> float:
    units = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in (left, right)]
    return recall((units[0] @ units[1].T).tolist(), k)


def test_a_split_has_75_percent_to_train_and_components_of_these_alone():
    vectors = world()
    one, other = (prepared(vectors, repeat, QUICK) for repeat in (0, 1))
    assert (len(one.train), len(one.test)) == (30, 10)
    assert sorted([*one.train.left, *one.test.left]) == list(range(40))
    assert (one.train.right == one.train.left + 40).all()
    assert one.test.left.tolist() != other.test.left.tolist()
    assert one.components[np.concatenate([one.train.left, one.train.right])].mean(0) == pytest.approx(
        0, abs=1e-5
    )


def test_recall_before_adaptation_is_that_of_the_test_pairs():
    vectors = world()
    split = prepared(vectors, 0, QUICK)
    entry = one_repeat(vectors, 0, QUICK)
    for kind, made in (("concatenated", split.vectors), ("pca", split.components)):
        left, right = made[split.test.left].astype(float), made[split.test.right].astype(float)
        for at in (0, 1):
            assert entry[kind][at] == pytest.approx(oracle(left, right, KS[at]))
    assert (entry["features"], entry["pairs"]) == (12, [30, 10])
    assert entry["share"] == pytest.approx(1.0)


def test_recall_after_adaptation_is_that_of_the_head_itself():
    vectors = world()
    split = prepared(vectors, 0, QUICK)
    entry = one_repeat(vectors, 0, QUICK)["adapted"]
    made = []
    for sigma in (1.0, 15.0):
        after = repeats.adapted(split, repeats.settings_of(QUICK, 0, sigma))
        left, right = after[split.test.left].astype(float), after[split.test.right].astype(float)
        assert entry[f"{sigma:g}"]["fixed"][0] == pytest.approx(oracle(left, right, 1))
        assert 1 <= entry[f"{sigma:g}"]["epochs"] <= 4
        made.append(after)
    assert np.abs(made[0] - made[1]).max() > 1e-4


def test_finished_repeats_are_not_run_again(tmp_path, monkeypatch):
    given = [world(seed=0), world(seed=1)]
    first = run_repeats(given, QUICK, Journal(tmp_path / "j.jsonl"))
    monkeypatch.setattr(repeats, "one_repeat", lambda *_: pytest.fail("a repeat was run again"))
    assert run_repeats(given, QUICK, Journal(tmp_path / "j.jsonl")) == first
    with pytest.raises(pytest.fail.Exception):
        run_repeats(given, QUICK.changed(epochs=3), Journal(tmp_path / "j.jsonl"))


def test_the_table_has_means_and_standard_deviations(tmp_path):
    found = run_repeats([world()], QUICK, Journal(tmp_path / "j.jsonl"))
    entries = found["world0"]
    table = adaptation_table(found)
    assert [row.names for row in table.rows] == [("world0",), ("world0, all epochs",)]
    for column, kind in ((2, "concatenated"), (3, "pca")):
        values = [entry[kind][0] for entry in entries]
        figure = table.rows[0].figures[column]
        assert (figure.value, figure.spread) == pytest.approx((np.mean(values), np.std(values, ddof=1)))
    for row, kind in enumerate(("chosen", "fixed")):
        values = [entry["adapted"]["15"][kind][0] for entry in entries]
        assert table.rows[row].figures[5].value == pytest.approx(np.mean(values))
    curves = curve_rows(found)
    assert [row.names for row in curves.rows] == [("world0", "before"), ("world0", "adapted")]
    assert curves.columns[:3] == ("aR@1", "aR@3", "aR@5")


def test_left_and_right_have_one_length():
    some = np.ones((9, 3), np.float32)
    with pytest.raises(ArgumentError, match="9 left and 8 right"):
        PairedVectors("x", some, some[:8])


def figures(column: str) -> dict[str, float]:
    return {
        name: float(cell.split("±")[0]) for (name,), cell in published("adapt-table-1").column(column).items()
    }


def test_sigma_15_loses_for_one_extractor_only():
    one, fifteen = figures("sigma = 1"), figures("sigma = 15")
    assert [name for name in one if fifteen[name] < one[name]] == ["resnext101_32x8d_ssl"]
    assert (one["resnext101_32x8d_ssl"], fifteen["resnext101_32x8d_ssl"]) == (0.1589, 0.1550)


def test_self_supervised_networks_are_not_the_best():
    after = figures("sigma = 15")
    kind = {name: cell for (name,), cell in published("adapt-table-1").column("Learning type").items()}
    best = max((name for name in after if kind[name] == "self-supervised"), key=after.__getitem__)
    assert (best, after[best]) == ("dino_resnet50", 0.2435)
    above = {name for name in after if after[name] > after[best]}
    assert {"BIT-M-R152x2", "clip_rn50x4"} < above
    assert {kind[name] for name in above} == {"supervised", "natural language supervision"}
    assert max(after, key=after.__getitem__) == "clip_rn50x4"


def test_the_gain_of_the_text_is_over_the_concatenated_features():
    after = figures("sigma = 15")["clip_rn50x4"]
    assert after / figures("Concatenated")["clip_rn50x4"] == pytest.approx(2.25, abs=0.02)
    assert after / figures("PCA")["clip_rn50x4"] > 2.3


def test_a_network_of_256_numbers_loses_nothing_to_its_components():
    sizes, share = figures("Concatenated size"), figures("PCA variance sum")
    assert {name for name in sizes if sizes[name] <= 256} == {name for name in share if share[name] == 1.0}
