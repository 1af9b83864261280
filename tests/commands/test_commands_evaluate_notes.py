"""What `evaluate` explains beside its figures."""

import pytest


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
    assert made["caveats"]["coverage@3"] == [
        "coverage@3 counts how many results are labelled; lbp did not feed the pool"
    ]
    assert made["caveats"]["AUC_mac"] == []
    assert "HR@3 counts unjudged results as misses; lbp did not feed the pool." in result


def test_among_those_that_fed_the_pool_nothing_leans(labelled, lookalike):
    result, made = evaluated(lookalike, "--measures", "HR@3,EHR@3,coverage@3")
    assert not any(made["caveats"].values())
    assert "did not feed" not in result


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
    assert caveats(replace(found, scores=tuple(made)), significance(made), "EHR@3") == [
        "EHR@3 leaves unjudged results out; lbp did not feed the pool"
    ]


def test_the_audit_comes_next_and_then_the_report(labelled, lookalike):
    result, _ = evaluated(lookalike, "--measures", "HR@3")
    assert [line.split()[-1] for line in result.split("Next: ")[1].splitlines()] == ["audit", "report"]


def test_a_list_shorter_than_k_is_reported(labelled, lookalike):
    result, _ = evaluated(lookalike, "--measures", "HR@100000,coverage@17,coverage@18,EHR@100000,MRR@99")
    for name in ("HR@100000", "coverage@18", "MRR@99"):
        assert f"K is larger than the 17 candidates of a query, so {name} cannot reach 1." in result
    assert result.count("K is larger") == 3
    assert "K is larger" not in evaluated(lookalike, "--measures", "HR@17,HR@99(of=possible)")[0]


def test_identification_speaks_of_photos_and_not_of_labels(workspace, lookalike):
    result, _ = evaluated(lookalike, "--task", "identification", "--measures", "HR@2,HR@5(of=possible),MRR@9")
    assert result.startswith("36 pairs of photos of one item, image level")
    assert "HR@2: share of the top 2 that are other photos of the query's item" in result
    assert "HR@5(of=possible): other photos of the query's item in the top 5, of as many as could" in result
    assert "for 9 photos" in result
    assert "label" not in result
    assert "*" not in result
    assert "unjudged" not in result
    assert result.split("Next: ")[1].split() == ["lookalike", "report"]


def test_what_k_results_would_earn_names_the_k(labelled, lookalike):
    assert "of what 4 of them would" in evaluated(lookalike, "--measures", "MRR@4")[0]


def test_by_a_column_two_measures_are_printed_and_all_are_in_json(labelled, lookalike):
    result, made = evaluated(lookalike, "--per", "category")
    assert [line.partition(":")[0] for line in result.splitlines() if ": " in line and "@" in line][:1] == [
        "EHR@5"
    ]
    assert "AUC_mac: " in result
    assert "DCS" not in result
    assert "Only EHR@5 and AUC_mac are shown with --per" in result
    assert len(made["scores"]["hog"]) == len(made["per"]["groups"][0]["scores"]["hog"]) == 9
    named, _ = evaluated(lookalike, "--per", "category", "--measures", "DCS,HR@5")
    assert "DCS(alpha=10): " in named
    assert "only, as with" not in named


def test_too_few_replicates_are_reported_with_the_number_needed(outside_pool, lookalike):
    """Three pairs by a pooled measure: 300 replicates are enough at 0.95, not at 0.995."""
    result, made = evaluated(lookalike, "--measures", "AUC_mic", "--confidence", 0.995)
    least = [one for one in made["comparisons"]["AUC_mic"] if one["p_bootstrap"] == one["least_p"]]
    assert least
    assert "--replicates 600" in result
