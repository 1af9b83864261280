"""What `evaluate` measures on: levels, identification, some queries, pool or random pairs, sampled negatives."""

import csv
import re

import pytest

MEASURES = "HR@3,EMRR@3,AUC_mac,DCS"


def test_all_levels_side_by_side_are_the_levels_one_by_one(lookalike, labelled):
    both = lookalike("evaluate", "--level", "all", "--measures", MEASURES, "--json").json["levels"]
    assert list(both) == ["item", "image", "paper"]
    for level, found in both.items():
        alone = lookalike("evaluate", "--level", level, "--measures", MEASURES, "--json").json
        for encoder, scores in found["scores"].items():
            for name, score in scores.items():
                other = alone["scores"][encoder][name]
                assert score | {"interval": None} == other | {"interval": None}
                ends = [[one["interval"][end] or 0.0 for end in ("low", "high")] for one in (score, other)]
                assert ends[0] == pytest.approx(
                    ends[1], rel=1e-9
                )  # one level is resampled with HR@5 corrected beside it
        assert found["labels_fingerprint"] == alone["labels_fingerprint"]
    assert both["paper"]["scores"]["hog"]["AUC_mac"] == both["image"]["scores"]["hog"]["AUC_mac"]
    result = lookalike("evaluate", "--level", "all", "--measures", "HR@3")
    assert result.status == 0
    for level, found in both.items():
        around = found["scores"]["hog"]["HR@3"]["interval"]
        assert level in result.out
        assert f"[{around['low']:.3f}, {around['high']:.3f}]" in result.out
    bare = lookalike("evaluate", "--level", "all", "--measures", "HR@3", "--replicates", 0)
    assert "[" not in bare.out


def test_files_are_of_one_level(lookalike, labelled):
    for level in ("all", "paper"):
        result = lookalike("evaluate", "--level", level, "--judged", "judged.csv")
        assert result.status != 0
        assert "--level item" in result.err


def test_identification_needs_no_labels(lookalike, workspace):
    found = lookalike("evaluate", "--task", "identification", "--json").json
    assert (found["labels"], found["level"]) == (36, "image")
    for scores in found["scores"].values():
        assert list(scores) == ["HR@5(of=possible)", "HR@9(of=possible)", "MRR@5", "MRR@9"]
        assert all(score["queries"] == 36 and 0 < score["value"] <= 1 for score in scores.values())
        # divided by H_K whatever can be found: one other photo earns at most 1/H_5
        assert scores["MRR@5"]["value"] <= 1 / (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5)
        # each item has one other photo, so with of=possible a hit is all or nothing
        assert scores["HR@9(of=possible)"]["value"] >= scores["HR@5(of=possible)"]["value"]
    assert re.findall(r"\d+", found["notes"][0]) == ["36", "0"]  # queries with another photo, and without
    assert lookalike("evaluate", "--task", "identification", "--pairs", "pool").status != 0


def test_some_queries_are_measured_on_a_basis_of_their_own(lookalike, labelled):
    every = lookalike("evaluate", "--measures", "HR@3", "--json").json
    bowls = lookalike("evaluate", "--where", "category=bowl", "--measures", "HR@3", "--json").json
    assert bowls["labels_fingerprint"] != every["labels_fingerprint"]
    assert bowls["labels"] < every["labels"]
    assert bowls["scores"]["hog"]["HR@3"]["queries"] == 12
    parts = [
        lookalike("evaluate", "--where", f"category={kind}", "--measures", "HR@3", "--json").json
        for kind in ("bowl", "box", "rod")
    ]
    assert sum(part["labels"] for part in parts) == every["labels"]
    means = [part["scores"]["hog"]["HR@3"]["value"] for part in parts]
    assert sum(means) / 3 == pytest.approx(every["scores"]["hog"]["HR@3"]["value"])
    assert lookalike("evaluate", "--where", "category=chair").status != 0


def test_labels_of_random_pairs_can_be_left_out_or_taken_alone(lookalike, labelled):
    assert lookalike("discover", "--random", 200, "--pairs", "more.csv").status == 0
    with open("more.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["label"] = str(int(row["query"].split("/")[0] == row["candidate"].split("/")[0]))
    with open("more.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert lookalike("labels", "import", "more.csv").status == 0
    found = {
        source: lookalike("evaluate", "--pairs", source, "--measures", "AUC_mac", "--json").json
        for source in ("all", "pool", "random")
    }
    counts = found["all"]["sources"]
    assert found["pool"]["labels"] == counts["pool"]
    assert found["random"]["labels"] == counts["random"]
    assert 150 < counts["random"] <= 200
    assert 0 < counts["both"] < counts["random"]
    assert found["all"]["labels"] == counts["pool"] + counts["random"] - counts["both"] + counts["neither"]
    assert len({one["labels_fingerprint"] for one in found.values()}) == 3
    (note,) = (note for note in found["pool"]["notes"] if "both" in note)
    for source, count in counts.items():
        assert f"{source} {count:,}" in note
    assert f"{counts['pool']:,} of {found['all']['labels']:,} " in note
    result = lookalike("evaluate", "--pairs", "pool", "--measures", "AUC_mac")
    assert note in " ".join(result.out.split())
    assert lookalike("evaluate", "--pairs", "none").status != 0


def test_negatives_are_sampled_for_measures_that_need_them(lookalike, labelled):
    measures = "AUC_mac,AUC_mac(n=5;negatives=catalog),AUC_mac(negatives=sampled)".replace(";", ",")
    found = lookalike("evaluate", "--measures", measures, "--json").json
    plain = lookalike("evaluate", "--measures", "AUC_mac", "--json").json
    for encoder, scores in found["scores"].items():
        assert scores["AUC_mac"] == plain["scores"][encoder]["AUC_mac"]
        catalog, sampled = (scores[name] for name in scores if "negatives" in name)
        assert catalog["measure"] == "AUC_mac(n=5,negatives=catalog)"
        assert catalog["queries"] > scores["AUC_mac"]["queries"]
        # no encoder has 17 items from rank 100 on
        assert (sampled["value"], sampled["queries"]) == (None, 0)
        assert sampled["reason"]
    notes = {note.partition(": ")[0]: note for note in found["notes"]}
    assert " 5 a query" in notes["negatives=catalog"]
    assert " 36 queries" in notes["negatives=sampled"]
    assert "36 queries" not in notes["negatives=catalog"]
    assert found["labels"] == plain["labels"]
