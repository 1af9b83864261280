"""`report` with a trained encoder: the test split before and after, the same queries' results, nothing mixed."""

import html
import re

import numpy as np
import pytest
from trained_shop import LEARNED, make_shop, split_of, train_as_if

from lookalike.evaluate.measures.table import DEFAULT
from lookalike.evaluate.significance.summary import significance
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.evaluate import evaluate
from lookalike.workflows.decide.trained import trained_encoders
from lookalike.workflows.decide.verdict import NOT_CORRECTED
from lookalike.workflows.report.learning import gains, how, learning_part
from lookalike.workflows.report.strips import Photos


@pytest.fixture
def taught(tmp_path) -> Workspace:
    workspace = make_shop(tmp_path)
    train_as_if(workspace)
    return workspace


def text(page: str) -> str:
    shown = html.unescape(re.sub(r"<[^>]+>", "", page.replace("<wbr>", "")))
    return re.sub(r"\s+", " ", shown).replace("\N{NO-BREAK SPACE}", " ")


def parts(folder) -> dict[str, str]:
    page = (folder / "reports/report.html").read_text()
    return {part.partition('"')[0]: part for part in re.split(r'<(?:section|div) id="', page)[1:]}


def test_the_page_says_what_evaluate_says_of_the_test_split(lookalike, taught):
    assert lookalike("report").status == 0
    shown = text(parts(taught.folder)["learned"])
    found = evaluate(taught, ["plain", "run-7"], DEFAULT)
    sure = significance(found.scores)
    assert f"{found.labels} labelled pairs of" in shown
    for name in ("DCS(alpha=10)", "EHR@5", "HR@5", "coverage@5", "AUC_mac"):
        for one in found.scores:
            around = sure.intervals[one.encoder][name]
            assert f"{one[name].value:.3f}[{around.low:.3f}, {around.high:.3f}]" in shown
        difference = sure.comparisons[name][0].swapped.difference
        assert f"{difference:+.3f}" in shown
    assert "run-7, trained on plain" in shown
    assert "Whether run-7 is better than plain cannot be told" in shown
    for sentence in how(LEARNED):
        assert sentence in shown


def test_the_rest_of_the_page_shows_the_other_encoders(lookalike, taught):
    assert lookalike("report").status == 0
    found = parts(taught.folder)
    assert "run-7 was trained" in text(found["measures"])
    assert f"{len(taught.labels()):,} labelled pairs" in text(found["notes"])
    for part in ("audit", "results"):
        assert "run-7" not in found[part]


def test_every_strip_is_of_the_test_split_and_both_better_and_worse_are_shown(taught):
    found = evaluate(taught, ["plain", "run-7"], DEFAULT)
    gallery, seed = Photos(taught.catalog, taught.photos), taught.settings.seed
    (lesson,) = learning_part(
        gallery, taught.embeddings, trained_encoders(taught), found, NOT_CORRECTED, seed
    ).lessons
    gain = dict(zip(found.scores[0]["HR@5"].query, gains(*found.scores), strict=True))
    assert (np.array(list(gain.values())) > 0).any()
    assert (np.array(list(gain.values())) < 0).any()
    groups = {group.title: group.rows for group in lesson.strips}
    shown = {title: [strip.query.image for strip in rows[::2]] for title, rows in groups.items()}
    up, down = ([query for query in sorted(gain) if sign * gain[query] > 0] for sign in (1, -1))
    assert shown["Most improved"] == sorted(up, key=lambda query: -gain[query])[:3]
    assert shown["Most worsened"] == sorted(down, key=lambda query: gain[query])[:3]
    every = [query for queries in shown.values() for query in queries]
    assert len(set(every)) == len(every) == min(len(up), 3) + min(len(down), 3) + 3
    for rows in groups.values():
        assert [strip.encoder for strip in rows] == ["plain", "run-7"] * (len(rows) // 2)
        for strip in rows:
            assert {split_of(int(hit.photo.image[1:])) for hit in strip.hits} == {"test"}
            assert split_of(int(strip.query.image[1:])) == "test"
    similar = {
        (strip.query.image, strip.encoder): sum(hit.label == 1 for hit in strip.hits)
        for rows in groups.values()
        for strip in rows
    }
    for query in shown["Most improved"] + shown["Most worsened"]:
        assert similar[query, "run-7"] - similar[query, "plain"] == gain[query]
    better, worse = sum(g > 0 for g in gain.values()), sum(g < 0 for g in gain.values())
    assert f"{better} show more" in lesson.counted
    assert f"{worse} fewer" in lesson.counted


def test_without_the_vectors_beneath_how_it_was_trained_is_all(lookalike, taught):
    assert lookalike("embed", "--remove", "plain").status == 0
    assert lookalike("report").status == 0
    shown = text(parts(taught.folder)["learned"])
    assert "no vectors" in shown
    assert "lookalike embed ENCODER" in shown
    assert "Of 30 epochs" in shown


def test_with_trained_encoders_alone_the_page_is_of_the_test_split(lookalike, taught):
    for name in ("plain", "other", "third"):
        assert lookalike("embed", "--remove", name).status == 0
    assert lookalike("report").status == 0
    found = parts(taught.folder)
    assert "run-7 was trained" in text(found["measures"])
    assert "within the test" in text(found["notes"])
    assert "run <code>lookalike audit</code>" in found["audit"]


def test_a_head_on_a_head_is_compared_with_that(lookalike, taught):
    train_as_if(taught, "second", "run-7", wide=6, learned={})
    assert lookalike("report").status == 0
    shown = text(parts(taught.folder)["learned"])
    assert "run-7, trained on plain" in shown
    assert "second, trained on run-7" in shown


@pytest.mark.parametrize(
    ("training", "expected"),
    [
        ({}, ()),
        ({"loss": "trpl"}, ("trpl",)),
        (LEARNED,
         ("The loss was supcon, with soft positives (SPA): pairs up to 7 labelled steps apart count as similar, with "
          "weights that decrease with beta 0.7.",
          "Of 30 epochs the 12th was the best on the validation split. Its weights are used.",
          "There DCS(alpha=10) was 0.710; before training it was 0.600.")),
        ({"settings": "?", "epochs": "many", "value": None}, ()),
        ({"epochs": 3, "best": 2},
         ("Of 3 epochs the 2nd",)),
        ({"best": 111, "epochs": 120, "stopped": "the loss is nan"},
         ("Of 120 epochs the 111th", "the loss is nan")),
        ({"value": 0.5, "before": None}, ("0.500",)),
        ({"epochs": 90, "best": 41, "bootstrap": {"epochs": 41, "recall": 0.5}, "value": 0.25, "before": 0.125},
         ("Resamples of the training pairs chose 41 epochs.", "On the validation split")),
    ],
)  # fmt: skip
def test_the_page_describes_the_training_as_far_as_known(training, expected):
    shown = how(training)
    assert len(shown) == len(expected)
    assert all(part in sentence for part, sentence in zip(expected, shown, strict=True))


def test_a_page_without_a_trained_encoder_has_no_such_part(lookalike, tmp_path):
    make_shop(tmp_path)
    assert lookalike("report").status == 0
    assert "learned" not in parts(tmp_path)
