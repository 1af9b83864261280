"""`lookalike compare`: from "cannot be separated" to a decision, by labelling the pairs it names."""

import csv
import re

import pytest

from lookalike.audit.next_pairs import Standing
from lookalike.cli.decide.compare import sentence


def fill(path):
    """Answer every pair by its category and end."""
    with path.open() as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        out = csv.DictWriter(file, ["query", "candidate", "label"], extrasaction="ignore")
        out.writeheader()
        for row in rows:
            same = row["query"].split("/")[0] == row["candidate"].split("/")[0]
            out.writerow(row | {"label": int(same)})
    return len(rows)


def test_labelling_what_it_names_decides(lookalike, workspace):
    before = lookalike("compare", "color", "hog", "--width", "1", "--pairs", "next.csv", "--json").json
    assert before["queries"] == 36
    assert (before["judged"], before["encoders"][0]["decision"]) == (0, "open")
    assert before["next"]["pairs"] == before["wanted"]["labels"] == fill(workspace / "next.csv")
    assert lookalike("labels", "import", "next.csv").status == 0
    after = lookalike("compare", "color", "hog", "--width", "1", "--json").json
    assert after["judged"] >= before["wanted"]["queries"]
    one = after["encoders"][0]
    assert one["least"] <= one["most"]
    assert (one["first"], one["second"], one["decision"]) == ("color", "hog", "worse")
    assert after["next"]["pairs"] == 0
    result = " ".join(lookalike("compare", "color", "hog", "--width", "1").out.split())
    assert result.startswith("hog is better than color")
    assert (result.count(". "), result.count(": ")) == (0, 1)  # one sentence, and no table
    assert [float(number) for number in re.findall(r"[+-]?\d\.\d+", result)] == pytest.approx(
        [-one["difference"], -one["high"], -one["low"]], abs=0.0005
    )
    turned = lookalike("compare", "hog", "color", "--width", "1").out
    assert " ".join(turned.split()) == result


def test_mistakes_are_errors(lookalike, workspace):
    assert "takes two" in lookalike("compare", "color").err
    assert "takes two" in lookalike("compare", "color", "color").err
    assert "'nobody'" in lookalike("compare", "color", "nobody").err
    assert "width" in lookalike("compare", "color", "hog", "--width", "0").err


def test_a_width_that_labels_cannot_reach(lookalike, workspace):
    never = ("compare", "color", "hog", "--width", "0.01")
    assert lookalike(*never, "--json").json["wanted"] is None
    assert "--width" in lookalike(*never).out


@pytest.mark.parametrize(("low", "high"), [(-0.04, 0.09), (float("nan"), float("nan"))])
def test_an_end_without_a_decision_asks_for_no_more_labels(low, high):
    one = Standing("a", "b", 60, 2, 0.025, low, high, "open", -0.1, 0.2)
    words = sentence(one, "HR@5", 0.02, is_done=True)
    assert words.count(".") - len(re.findall(r"\d\.\d", words)) == 1
    assert "+0.200" not in words
    assert "+0.200" in sentence(one, "HR@5", 0.02, is_done=False)
