"""`lookalike compare`: from "cannot be separated" to a decision, by labelling the pairs it names."""

import csv


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
    result = lookalike("compare", "color", "hog", "--width", "1").out
    assert "hog is better than color" in result
    assert "Next: " not in result
    assert "--width" not in result


def test_mistakes_are_errors(lookalike, workspace):
    assert "takes two" in lookalike("compare", "color").err
    assert "takes two" in lookalike("compare", "color", "color").err
    assert "'nobody'" in lookalike("compare", "color", "nobody").err
    assert "width" in lookalike("compare", "color", "hog", "--width", "0").err


def test_a_width_that_labels_cannot_reach(lookalike, workspace):
    never = ("compare", "color", "hog", "--width", "0.01")
    assert lookalike(*never, "--json").json["wanted"] is None
    assert "--width" in lookalike(*never).out
