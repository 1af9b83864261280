"""Judges that call no model: what is judged, what is printed, and that nothing else changes."""

import csv
import json

import numpy as np
import pytest

from lookalike.store.judges import judge_names, read_judgments
from lookalike.store.workspace import Workspace


@pytest.fixture
def scores(labelled):
    """A file with a score for every pair of the pool, .9 for one category and .2 for others, some in both orders."""
    pool = Workspace(labelled).pool()
    rows = [
        (a, b, 0.9 if a.split("/")[0] == b.split("/")[0] else 0.2)
        for a, b in zip(pool.query, pool.candidate, strict=True)
    ]
    with (labelled / "scores.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("query", "candidate", "score"), *rows])
    return rows


def test_an_encoder_judges_the_open_questions_and_is_compared_with_the_labels(lookalike, labelled):
    found = lookalike("judge", "color", "hog", "--encoder", "hog", "-k", 3, "--json").json
    assert found["judged"] == found["pairs"] > found["judge"]["questions"] > 0
    assert found["judge"]["probability"] == 1
    assert found["agreement"]["correlation"]["value"] > 0.1
    assert {one["category"] for one in found["categories"]} == {"bowl", "box", "rod"}
    kept = read_judgments(labelled, "hog")
    assert np.all((kept.score > 0) & (kept.score < 1))
    assert (kept.lists > 0).sum() >= found["judge"]["questions"]
    notes = " ".join(found["notes"])
    assert "hog is the judge itself" in notes
    assert "color" not in notes
    assert "hog is the judge itself" in " ".join(
        lookalike("judge", "color", "hog", "--encoder", "hog", "-k", 3).out.split()
    )


def test_a_file_judges_perfectly_and_its_scores_are_found_in_either_order(lookalike, labelled, scores):
    found = lookalike("judge", "--file", "scores.csv", "--json").json
    assert found["agreement"]["kappa"]["value"] == 1
    assert found["agreement"]["correlation"]["value"] == pytest.approx(1)
    assert (found["judge"]["name"], found["judge"]["probability"]) == ("scores", None)
    kept = read_judgments(labelled, "scores")
    a, b, score = zip(*scores, strict=True)
    assert kept.of(b, a).tolist() == kept.of(a, b).tolist() == list(score)
    assert np.isnan(kept.of([a[0]], ["nobody"])).all()


def test_the_file_is_averaged_over_both_orders_and_flips_are_counted(lookalike, workspace):
    a, b, c, d = Workspace(workspace).catalog.image[[0, 4, 8, 12]]
    lines = [
        "Query,Candidate,Score",
        f"{a},{b},0.9",
        f"{b},{a},0.3",
        f"{c},{d},0.6",
        f"{d},{c},0.8",
        f"{a},{c},",
        f"{a},x,1",
    ]
    (workspace / "s.csv").write_text("\n".join(lines))
    found = lookalike("judge", "--file", "s.csv", "--json").json
    assert (
        found["pairs"],
        found["judged"],
        found["agreement"]["flips"]["value"],
        found["agreement"]["flips"]["count"],
    ) == (
        2,
        2,
        0.5,
        2,
    )
    assert read_judgments(workspace, "s").of([a, c], [b, d]).tolist() == pytest.approx([0.6, 0.7])
    assert [note.split(": ")[1] for note in found["notes"]] == ["1.", "1."]
    assert found["agreement"]["correlation"] == {
        "value": None,
        "low": None,
        "high": None,
        "count": 0,
        "reason": "no judged pair has a label",
    }


def test_judgments_are_frozen_and_other_settings_need_another_name(lookalike, labelled, scores):
    first = lookalike("judge", "color", "--encoder", "color", "--json").json
    kept = (labelled / "judges/color/judge.json").read_bytes()
    a, b, _ = scores[0]
    (labelled / "more.csv").write_text(f"query,candidate,label\n{a},{b},1\n")
    assert lookalike("labels", "import", "more.csv", "--replace").status == 0
    again = lookalike("judge", "color", "--encoder", "color", "--json").json
    assert again["judge"] == first["judge"]
    assert (labelled / "judges/color/judge.json").read_bytes() == kept
    refused = lookalike("judge", "color", "hog", "--encoder", "color")
    assert refused.status == 1
    assert "--name" in refused.err
    assert lookalike("judge", "color", "hog", "--encoder", "color", "--name", "two").status == 0
    assert judge_names(labelled) == ["color", "two"]


def test_a_random_part_is_judged_and_its_probability_kept(lookalike, labelled):
    whole = lookalike("judge", "color", "--encoder", "hog", "--name", "all", "--labelled", 0, "--json").json
    questions = whole["judge"]["questions"]
    assert whole["pairs"] == questions
    half = lookalike(
        "judge",
        "color",
        "--encoder",
        "hog",
        "--limit",
        questions // 2,
        "--labelled",
        0,
        "--name",
        "half",
        "--json",
    ).json
    assert half["pairs"] == questions // 2
    assert half["judge"]["probability"] == pytest.approx(half["pairs"] / questions)
    few = lookalike(
        "judge", "color", "--encoder", "hog", "--limit", 0, "--labelled", 7, "--name", "few", "--json"
    ).json
    assert (few["pairs"], few["judge"]["probability"], few["judge"]["questions"]) == (7, 0, questions)
    one, other = (
        set(zip(p.query, p.candidate, strict=True))
        for p in (read_judgments(labelled, n) for n in ("all", "half"))
    )
    assert other < one


def test_a_judge_of_no_pairs_is_refused(lookalike, labelled):
    refused = lookalike("judge", "color", "--encoder", "hog", "--limit", 0, "--labelled", 0)
    assert refused.status == 1
    assert "no pair to judge" in refused.err
    assert judge_names(labelled) == []


def test_the_printed_next_command_uses_the_judge_in_an_estimate(lookalike, labelled):
    for encoders, following in ((("color", "hog"), "compare color hog"), (("hog",), "estimate hog")):
        name = encoders[0]
        shown = lookalike("judge", *encoders, "--encoder", "hog", "--name", name).out
        command = next(line for line in shown.splitlines() if line.startswith("Next: ")).split()[2:]
        assert " ".join(command) == f"{following} --covariate judge:{name} --labels 100"
        found = lookalike(*command[:-2], "--json")
        assert found.status == 0, found.err
        assert f"judge:{name}@vectors" in found.out


def test_a_constant_judge_is_named(lookalike, labelled, scores):
    rows = ["query,candidate,score", *(f"{a},{b},0.4" for a, b, _ in scores)]
    (labelled / "same.csv").write_text("\n".join(rows))
    found = lookalike("judge", "--file", "same.csv", "--json").json
    assert found["constant"] == 0.4
    assert found["agreement"]["correlation"]["value"] is found["agreement"]["worth"]["value"] is None
    assert "0.400" in " ".join(found["notes"])
    assert lookalike("judge", "--file", "same.csv").status == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("query,candidate\na,b\n", "'score'"),
        ("query,candidate,score\na,b,1.5\n", "'1.5'"),
        ("query,candidate,score\na,b,high\n", "line 2"),
        ("query,candidate,score\na,b,0.5\n", "No row"),
    ],
)
def test_files_that_are_no_scores(lookalike, workspace, text, words):
    (workspace / "bad.csv").write_text(text)
    result = lookalike("judge", "--file", "bad.csv")
    assert result.status == 1
    assert words in result.err
    assert judge_names(workspace) == []


CALLS = "http://localhost/v1"


@pytest.mark.parametrize(
    ("command", "problem", "fix"),
    [
        ("--file s.csv --limit 5", "--file does not use --limit.", "one of --endpoint, --encoder."),
        ("color --file s.csv -k 3", "--file does not use ENCODER, -k.", "ENCODER, -k, or give"),
        ("--file s.csv --labelled 0", "--file does not use --labelled.", "--endpoint, --encoder."),
        ("--file s.csv --seed 1", "--file does not use --seed.", "--endpoint, --encoder."),
        ("--file s.csv --dry-run", "--file does not use --dry-run.", "one of --endpoint."),
        ("--encoder hog --yes", "--encoder does not use --yes.", "one of --endpoint."),
        ("--encoder hog --price 1/2", "--encoder does not use --price.", "one of --endpoint."),
        ("--encoder hog --send-photos-to x", "--encoder does not use --send-photos-to.", "--endpoint."),
        ("--encoder hog --examples 4", "--encoder does not use --examples.", "one of --endpoint."),
        ("--encoder hog --pixels 64 -k 2", "--encoder does not use --pixels.", "one of --endpoint."),
        ("--file s.csv --parallel 2", "--file does not use --parallel.", "one of --endpoint."),
        ("--name x --timeout 9", "--name alone does not use --timeout.", "one of --endpoint."),
        ("--name x --limit 5", "--name alone does not use --limit.", "one of --endpoint, --encoder."),
        ("color --name x", "--name alone does not use ENCODER.", "one of --endpoint, --encoder"),
        ("--file s.csv --encoder hog", "judgments given: 2.", "--endpoint, --encoder, --file"),
        ("--file s.csv --model m", "judgments given: 2.", "--endpoint, --encoder, --file"),
        (f"--encoder hog --endpoint {CALLS}", "judgments given: 2.", "--endpoint, --encoder, --file"),
        ("--limit 5", "judgments given: 0.", "--endpoint, --encoder, --file"),
        (f"--endpoint {CALLS}", "belong together", "--model"),
        (
            f"--endpoint {CALLS} --model m --send-photos-to judge.example",
            "receives the photos, not judge.example",
            "Leave out",
        ),
    ],
)
def test_options_that_would_be_ignored_are_refused(lookalike, workspace, command, problem, fix):
    (workspace / "s.csv").write_text("query,candidate,score\n")
    result = lookalike("judge", *command.split())
    assert result.status == 1
    assert problem in result.err
    assert fix in result.err.partition(problem)[2]
    assert not (workspace / "judges").exists()


def test_an_option_that_has_its_default_is_typed_all_the_same(lookalike, workspace):
    assert "does not use -k" in lookalike("judge", "--file", "s.csv", "-k", 5).err


def test_mistakes(lookalike, workspace):
    assert "--endpoint, --encoder, --file" in lookalike("judge", "color").err
    assert "too few" in lookalike("judge", "color", "--encoder", "hog").err
    assert lookalike("judge", "nobody", "--file", "nowhere.csv").status == 1
    assert "valid name" in lookalike("judge", "--name", "x" * 300).err
    assert "valid name" in lookalike("judge", "--name", "../judges/x").err
    assert "0.15/0.60" in lookalike("judge", "--price", "1").err
    assert "belong together" in lookalike("judge", "--model", "m").err
    with pytest.raises(Exception, match="no judge 'x'"):
        read_judgments(workspace, "x")
    (workspace / "judges/x").mkdir(parents=True)
    (workspace / "judges/x/judge.json").write_text("{")
    with pytest.raises(Exception, match="damaged"):
        read_judgments(workspace, "x")


def test_a_new_workspace_has_no_judges(lookalike, labelled, scores, photos):
    assert lookalike("judge", "--file", "scores.csv").status == 0
    assert lookalike("init", photos, "--overwrite").status == 0
    assert judge_names(labelled) == []


def test_a_judge_is_shown_again_by_its_name_with_the_labels_of_today(lookalike, labelled, scores):
    first = lookalike("judge", "--file", "scores.csv", "--json").json
    labels = Workspace(labelled).labels()
    rows = zip(labels.query, labels.candidate, 1 - labels.label, strict=True)
    text = "\n".join(",".join(map(str, row)) for row in rows)
    (labelled / "more.csv").write_text(f"query,candidate,label\n{text}\n")
    assert lookalike("labels", "import", "more.csv", "--replace").status == 0
    again = lookalike("judge", "--name", "scores", "--json").json
    assert first["agreement"]["kappa"]["value"] == 1
    assert again["agreement"]["kappa"]["value"] < 0
    assert lookalike("judge", "--name", "scores").status == 0
    assert "Finished: scores." in lookalike("judge", "--name", "nobody").err


def test_images_that_left_the_catalog_have_no_label(lookalike, labelled, scores):
    first = lookalike("judge", "--file", "scores.csv", "--json").json
    gone = scores[0][0]
    assert lookalike("catalog", "remove", gone).status == 0
    again = lookalike("judge", "--name", "scores", "--json").json
    count = sum(gone in (a, b) for a, b, _ in scores)
    assert first["agreement"]["kappa"]["count"] > again["agreement"]["kappa"]["count"]
    assert again["judged"] == first["judged"] > count > 0


def test_the_settings_are_readable_json(lookalike, labelled, scores):
    lookalike("judge", "--file", "scores.csv")
    about = json.loads((labelled / "judges/scores/judge.json").read_text())
    assert about["judge"]["kind"] == about["settings"]["kind"] == "file"
