"""What `evaluate` explains beside its figures."""

import re

import pytest

from lookalike.evaluate.significance.sentence import UNTESTED


@pytest.fixture
def outside_pool(labelled, lookalike):
    """An encoder that did not feed the pool."""
    assert lookalike("embed", "descriptor:lbp").status == 0
    return labelled


def evaluated(lookalike, *options: object):
    given = ("evaluate", "--replicates", 300, *options)
    return lookalike(*given).out, lookalike(*given, "--json").json


def test_a_claim_by_hits_against_an_encoder_outside_the_pool_says_so(outside_pool, lookalike):
    result, made = evaluated(lookalike, "--measures", "HR@3,coverage@3,AUC_mac")
    assert made["caveats"]["HR@3"] == ["HR@3 counts unjudged results as misses; lbp did not feed the pool"]
    (coverage,) = made["caveats"]["coverage@3"]
    assert coverage.startswith("coverage@3 ")
    assert "lbp" in coverage
    assert made["caveats"]["AUC_mac"] == []
    for caveat in (*made["caveats"]["HR@3"], coverage):
        assert caveat in " ".join(result.split())


def test_among_those_that_fed_the_pool_nothing_leans(labelled, lookalike):
    _, made = evaluated(lookalike, "--measures", "HR@3,EHR@3,coverage@3")
    assert made["caveats"] == {"HR@3": [], "EHR@3": [], "coverage@3": []}


def test_a_claim_for_an_encoder_outside_the_pool_on_what_was_judged_says_so(outside_pool, lookalike):
    """Labels on which lbp is right wherever it is judged."""
    from dataclasses import replace

    from lookalike.core.types import Score, Scores
    from lookalike.evaluate.significance.summary import significance
    from lookalike.store.workspace import Workspace
    from lookalike.workflows.decide.evaluate import evaluate
    from lookalike.workflows.decide.measured import caveats

    found = evaluate(Workspace(outside_pool), [], ["EHR@3"])
    made = []
    for one in found.scores:
        was: Score = one["EHR@3"]
        right = was.denominator * (0.9 if one.encoder == "lbp" else 0.1)
        value = float(right.sum() / was.denominator.sum())
        score = Score("EHR@3", value, was.queries, was.query, right, was.denominator)
        made.append(Scores(one.encoder, one.basis, {"EHR@3": score}))
    (caveat,) = caveats(replace(found, scores=tuple(made)), significance(made), "EHR@3")
    assert caveat.startswith("EHR@3 ")
    assert "lbp" in caveat


def test_the_audit_comes_next_and_then_the_report(labelled, lookalike):
    result, _ = evaluated(lookalike, "--measures", "HR@3")
    following = [line.split()[1] for line in result.split("Next: ")[1].splitlines()]
    assert following == ["audit", "report", "compare"]


def test_a_list_shorter_than_k_is_reported(labelled, lookalike):
    result, _ = evaluated(lookalike, "--measures", "HR@100000,coverage@17,coverage@18,EHR@100000,MRR@99")
    beyond = r"17 candidates[^.]* (\S+@\d+)"
    assert re.findall(beyond, " ".join(result.split())) == ["HR@100000", "coverage@18", "MRR@99"]
    short, _ = evaluated(lookalike, "--measures", "HR@17,HR@99(of=possible)")
    assert "17 candidates" not in short


def test_a_dcs_that_is_too_deep_for_these_labels_is_reported_with_a_better_one(labelled, lookalike):
    given = "--measures", "DCS(half=500),DCS(half=2),HR@3"
    for share in (1, 3):  # so many of each four labels are similar
        rows = (labelled / "labels.csv").read_text().splitlines()
        rows = [row[:-1] + str(int(at % 4 < share)) for at, row in enumerate(rows[1:])]
        (labelled / "labels.csv").write_text("\n".join(["query,candidate,label", *rows, ""]))
        assert lookalike("labels", "import", "labels.csv").status == 0
        text, made = evaluated(lookalike, *given)
        for result in (" ".join(text.split()), " ".join(made["notes"])):
            assert "DCS(half=500) gives half of the credit of a positive at rank 500 of 17 items" in result
            assert ("DCS(half=2) gives half of the credit" in result) == (share == 1)
            assert "HR@3 gives" not in result


def test_the_depth_of_a_measure_is_a_note_at_every_level_of_the_json_and_not_without_labels(
    labelled, lookalike
):
    given = "--measures", "DCS(half=500)"
    levels = evaluated(lookalike, *given, "--level", "all")[1]["levels"]
    found = [sum("DCS(half=500) gives" in note for note in of["notes"]) for of in levels.values()]
    assert found == [1] * 3
    made = evaluated(lookalike, *given, "--task", "identification")[1]
    assert not any("DCS" in note for note in made["notes"])


def test_identification_speaks_of_photos_and_not_of_labels(workspace, lookalike):
    result, made = evaluated(
        lookalike, "--task", "identification", "--measures", "HR@2,HR@5(of=possible),MRR@9"
    )
    assert (made["labels"], made["level"]) == (36, "image")
    assert re.match("36 .*photos.* image level", result)
    for name, place in (("HR@2", "top 2 "), ("HR@5(of=possible)", "top 5,"), ("MRR@9", " 9 photos")):
        (meaning,) = re.findall(rf"^{re.escape(name)}: (.*)$", result, re.MULTILINE)
        assert place in meaning
        assert "photos" in meaning
    assert "label" not in result
    assert "*" not in result
    assert "unjudged" not in result
    assert result.split("Next: ")[1].split() == ["lookalike", "report"]


def test_what_k_results_would_earn_names_the_k(labelled, lookalike):
    result, _ = evaluated(lookalike, "--measures", "MRR@4")
    (meaning,) = re.findall("^MRR@4: (.*)$", result, re.MULTILINE)
    assert re.findall(r"\d+", meaning) == ["4", "4"]


def test_a_measure_without_simulations_says_that_nobody_knows_how_often_it_is_right(labelled, lookalike):
    said, made = evaluated(lookalike, "--measures", "MRR@4,AUC_mac")
    untested = made["recommendation"]["untested"]
    assert "MRR@4" in untested
    assert f"No simulation covers {' and '.join(untested)} with labels like these." in " ".join(said.split())
    for block in said.split("\n\n"):  # beside what the measure claims, too, which calls no encoder better
        name, text = block.partition(":")[0], " ".join(block.split())
        assert (UNTESTED in text) == (name in untested)
        assert not (name in untested and "is better than" in text)
    for name in untested:
        assert not any("is better than" in one["words"] for one in made["comparisons"][name])


def test_by_a_column_two_measures_are_printed_and_all_are_in_json(labelled, lookalike):
    result, made = evaluated(lookalike, "--per", "category")
    assert re.findall(r"^(\S+[@_]\S+): ", result, re.MULTILINE) == ["EHR@5", "AUC_mac"]
    hidden = re.search(r"Not printed: (.*?)\. ", " ".join(result.split()))
    assert {"DCS(alpha=10)", "HR@5", "BPREF"} <= set(hidden[1].split(", "))
    assert "--research" in result
    assert len(made["scores"]["hog"]) == len(made["per"]["groups"][0]["scores"]["hog"]) == 9
    named, _ = evaluated(lookalike, "--per", "category", "--measures", "DCS,HR@5")
    assert "DCS(alpha=10): " in named
    assert "Not printed" not in named


def test_too_few_replicates_are_reported_with_the_number_needed(outside_pool, lookalike):
    """Three pairs by a pooled measure: 300 replicates are enough at 0.95, not at 0.995."""
    result, made = evaluated(lookalike, "--measures", "AUC_mic", "--confidence", 0.995)
    least = [one for one in made["comparisons"]["AUC_mic"] if one["p_bootstrap"] == one["least_p"]]
    assert least
    assert "--replicates 600" in result
