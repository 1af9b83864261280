"""Judged ranks in a file are the same values when read back, on the same basis, or are refused."""

import math
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import polars
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.ranking import Rules
from oracles.worlds import World, catalog_of, embeddings_of, labels_of, rule_of, rules, worlds

from lookalike.core.checks import strings
from lookalike.core.errors import ArgumentError, CatalogError, LabelsError, LookalikeError, NotComparableError
from lookalike.core.types import JUDGED_COLUMNS, Basis, Drawing, JudgedRanks, Rule, Score, Scores
from lookalike.evaluate.measures.table import evaluate
from lookalike.evaluate.significance.intervals import Interval
from lookalike.rank.judged import judged_ranks
from lookalike.store.formats.judged_files import read_judged_ranks, write_judged_ranks, write_scores

ENDINGS = ["csv", "parquet"]


def some(name: str = "encoder", seed: int = 0, **changes: object) -> JudgedRanks:
    random = np.random.default_rng(seed)
    above, candidates = random.integers(0, 5, 6), np.full(6, 12)
    columns = {
        "query": strings(["007", "007", "a,b", 'q"uote', "new\nline", " ü 🪑"]),
        "candidate": strings(["7", "7.0", "", "None", "nan", "x"]),
        "label": np.array([1, 0, 1, 1, 0, 0], np.int8),
        "above": above,
        "tied": random.integers(0, 3, 6),
        "score": random.standard_normal(6).astype(np.float32),
        "candidates": candidates,
        "basis": Basis("cat", "lab", Rule("image", "dot", own_item=True, split="test")),
        "tolerance": 1e-7 / 3,
        "drawn": np.array([0, 0, 0, 0, 1, 2], np.int8),
    }
    return JudgedRanks(encoder=name, **(columns | changes))


def require_same(one: JudgedRanks, other: JudgedRanks) -> None:
    assert (one.encoder, one.basis, one.tolerance) == (other.encoder, other.basis, other.tolerance)
    for column in JUDGED_COLUMNS:
        assert getattr(one, column).tolist() == getattr(other, column).tolist(), column


def test_every_field_of_judged_ranks_is_a_column_or_the_same_in_all_rows():
    """`kept` is computed of the others, and ranks with `in_list` are refused."""
    apart = {"encoder", "basis", "tolerance", "kept", "in_list"}
    assert {part.name for part in fields(JudgedRanks)} == apart | set(JUDGED_COLUMNS)


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_sampling_stays_part_of_the_basis(tmp_path, ending):
    sampled = Drawing("sampled", 2, 7, ("a,b", 'c"'), "0f", 5, 1), Drawing("catalog", 3, 0, (), "1e")
    written = some(basis=Basis("cat", "lab", Rule(), sampled))
    write_judged_ranks(written, tmp_path / f"j.{ending}")
    (read,) = read_judged_ranks(tmp_path / f"j.{ending}")
    assert read.basis == written.basis


def test_a_list_of_items_beside_the_ranks_is_not_lost_silently(tmp_path):
    with pytest.raises(LabelsError, match="paper"):
        write_judged_ranks(some(in_list=some()), tmp_path / "j.csv")


@pytest.mark.parametrize("ending", ENDINGS)
def test_odd_ids_and_every_part_of_the_basis_come_back(tmp_path, ending):
    written = [some("color"), some("hog", 1, basis=Basis("cat", "lab", Rule())), some("007", 2)]
    write_judged_ranks(written, tmp_path / f"j.{ending}")
    read = read_judged_ranks(tmp_path / f"j.{ending}")
    for one, other in zip(written, read, strict=True):
        require_same(one, other)


@given(worlds, rules, st.sampled_from(ENDINGS))
def test_measures_of_what_was_read_are_those_of_what_was_written(
    tmp_path_factory, w: World, r: Rules, ending
):
    catalog = catalog_of(w.photos)
    assume(catalog.is_gallery(r.split).any())
    judged = judged_ranks(catalog, embeddings_of(catalog, w.vectors), labels_of(w.votes), rule_of(r))
    assume(len(judged))
    path = tmp_path_factory.getbasetemp() / f"w.{ending}"
    write_judged_ranks(judged, path)
    (read,) = read_judged_ranks(path)
    require_same(judged, read)
    ours, theirs = evaluate(judged), evaluate(read)
    for name, score in ours.scores.items():
        np.testing.assert_array_equal(score.value, theirs.scores[name].value)


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_ranks_give_the_same_bytes(tmp_path, ending):
    for name in ("one", "two"):
        write_judged_ranks(some(), tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


def test_a_part_of_the_labels_comes_back_on_its_own_basis(tmp_path):
    part = some().only(np.array([1, 1, 0, 1, 0, 0], bool))
    write_judged_ranks(part, tmp_path / "part.csv")
    (read,) = read_judged_ranks(tmp_path / "part.csv")
    require_same(part, read)
    with pytest.raises(NotComparableError):
        read.basis.require_same(some().basis)


def changed(change: Callable[[polars.DataFrame], polars.DataFrame], folder: Path) -> Path:
    write_judged_ranks([some("color"), some("hog", 1)], folder / "j.parquet")
    change(polars.read_parquet(folder / "j.parquet")).write_csv(folder / "changed.csv")
    return folder / "changed.csv"


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda t: t.head(11), LabelsError, "rows of hog"),
        (lambda t: t.reverse(), LabelsError, "rows of hog"),
        (lambda t: t.with_columns(label=1 - polars.col("label")), LabelsError, "rows of color"),
        (lambda t: t.with_columns(polars.col("score").round(3)), LabelsError, "every digit"),
        (lambda t: t.with_columns(above=polars.col("above") + 1), LabelsError, "rows of color"),
        (lambda t: t.drop("tied", "hash"), LabelsError, "no column 'tied', 'hash'"),
        (lambda t: t.drop("catalog"), LabelsError, "no column 'catalog'"),
        (
            lambda t: t.with_columns(
                level=polars.when(polars.col("above") > 2).then(polars.lit("item")).otherwise("level")
            ),
            NotComparableError,
            "several bases: level is",
        ),
        (lambda t: t.with_columns(score=polars.lit("high")), LabelsError, "line 2: score is 'high'"),
        (lambda t: t.with_columns(above=polars.lit("1.5")), LabelsError, "above is '1.5'"),
        (
            lambda t: t.with_columns(label=polars.lit(300)),
            LabelsError,
            "label has .* too large",
        ),
        (lambda t: t.with_columns(level=polars.lit("pixel")), LabelsError, "level is 'pixel'"),
        (lambda t: t.with_columns(own_item=polars.lit("maybe")), LabelsError, "own_item is 'maybe'"),
        (lambda t: t.head(0), CatalogError, "no rows"),
    ],
)
def test_files_that_lost_or_changed_something_are_refused(tmp_path, change, kind, words):
    with pytest.raises(kind, match=words):
        read_judged_ranks(changed(change, tmp_path))


@pytest.mark.parametrize(
    "wrong",
    [
        {"above": np.full(6, 12)},
        {"above": np.full(6, -1)},
        {"score": np.full(6, np.nan)},
        {"label": np.full(6, 2, np.int8)},
    ],
)
def test_rows_that_no_ranking_gives_are_refused(tmp_path, wrong):
    write_judged_ranks(replace(some(), **wrong), tmp_path / "j.csv")
    with pytest.raises(LabelsError, match="no ranking gives"):
        read_judged_ranks(tmp_path / "j.csv")


def test_endings_and_files_that_are_none(tmp_path):
    with pytest.raises(ArgumentError, match=r"j\.docx.* judged ranks"):
        write_judged_ranks(some(), tmp_path / "j.docx")
    with pytest.raises(LookalikeError, match="does not exist"):
        read_judged_ranks(tmp_path / "none.csv")


@pytest.mark.parametrize("ending", ENDINGS)
def test_scores_as_a_table(tmp_path, ending):
    none = np.empty(0)
    kept = Score("HR@5", 0.1 + 0.2, 4, none, none, none)
    undefined = Score("AUC_mac", float("nan"), 0, none, none, none, "no query has both")
    scores = Scores("color", some().basis, {"HR@5": kept, "AUC_mac": undefined})
    few = "only 4 queries count, and an interval needs 10"
    known = {
        "HR@5": Interval(0.2, 0.1 + 0.3, 0.95, "percentile", 2000, 3),
        "AUC_mac": Interval(math.nan, math.nan, 0.95, "bca", 2000, 0, few),
    }
    write_scores([scores], tmp_path / f"s.{ending}", {"color": known})
    write_scores([scores], tmp_path / f"bare.{ending}")
    empty = None if ending == "csv" else ""
    reader = {"csv": polars.read_csv, "parquet": polars.read_parquet}[ending]
    read = reader(tmp_path / f"s.{ending}")
    assert read.rows() == [
        ("color", "HR@5", 0.1 + 0.2, 4, empty, 0.2, 0.1 + 0.3, 0.95, "percentile", 2000, empty),
        ("color", "AUC_mac", None, 0, "no query has both", None, None, 0.95, "bca", 2000, few),
    ]
    bare = reader(tmp_path / f"bare.{ending}")
    assert bare.columns == read.columns
    assert read.columns[:5] == ["encoder", "measure", "value", "queries", "reason"]
    assert bare["low"].to_list() == bare["confidence"].to_list() == [None, None]
    assert bare["replicates"].to_list() == [0, 0]
    if ending == "parquet":
        assert bare.schema == read.schema
