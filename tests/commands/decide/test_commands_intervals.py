"""`evaluate` says how sure it is: intervals, verdicts, values by category, and the same as JSON."""

import pytest

MEASURES = ("--measures", "EHR@5,AUC_mic,coverage@5")


def test_values_come_with_intervals_and_verdicts(labelled, lookalike):
    result = lookalike("evaluate", *MEASURES).out
    for part in ("95% intervals", "BCa bootstrap", "2,000 replicates", "seed 0"):
        assert part in result, part
    assert "top 5" in next(
        line for line in result.splitlines() if line.split()[:1] in (["EHR@5"], ["EHR@5:"])
    )
    assert "p = " in result or "p <= " in result or "p < " in result
    assert "sampling error only" in result


def test_json_holds_every_number_unrounded(labelled, lookalike):
    made = lookalike(
        "evaluate", *MEASURES, "--replicates", 300, "--seed", 5, "--interval", "percentile", "--confidence", 0.8,
        "--json",
    ).json  # fmt: skip
    assert made["bootstrap"] == {"replicates": 300, "seed": 5, "level": 0.8, "method": "percentile"}
    encoders = list(made["scores"])
    for one in encoders:
        for measure in ("EHR@5", "AUC_mic", "coverage@5"):
            score = made["scores"][one][measure]
            around = score["interval"]
            assert (around["replicates"], around["level"]) == (300, 0.8)
            if around["low"] is None:
                assert around["reason"]
            else:
                assert around["low"] <= score["value"] <= around["high"]
    pairs = len(encoders) * (len(encoders) - 1) // 2
    for measure, family in made["comparisons"].items():
        assert len(family) == pairs
        for one in family:
            assert one["family"] == pairs
            assert one["measure"] == measure
            assert one["difference"] == pytest.approx(one["values"][0] - one["values"][1], abs=1e-12)
            assert one["words"]
            assert (one["p_permutation"] is None) == (measure == "AUC_mic")
    assert set(made["verdicts"]) == set(made["comparisons"])


def test_the_same_seed_gives_the_same_numbers(labelled, lookalike):
    one, two, other = (
        lookalike("evaluate", *MEASURES, "--seed", seed, "--replicates", 200, "--json").json
        for seed in (1, 1, 2)
    )
    assert one == two
    assert one["scores"] != other["scores"]


def test_without_replicates_there_are_values_alone(labelled, lookalike):
    result = lookalike("evaluate", *MEASURES, "--replicates", 0)
    assert result.status == 0
    assert "interval" not in result.out
    made = lookalike("evaluate", *MEASURES, "--replicates", 0, "--json").json
    assert made["comparisons"] is made["bootstrap"] is made["verdicts"] is None
    assert all(score["interval"] is None for one in made["scores"].values() for score in one.values())


def test_values_by_category(labelled, lookalike):
    made = lookalike("evaluate", *MEASURES, "--per", "category", "--replicates", 200, "--json").json
    groups = made["per"]["groups"]
    assert made["per"]["column"] == "category"
    assert len(groups) > 1
    sizes = [group["queries"] for group in groups]
    assert sizes == sorted(sizes, reverse=True)
    assert all(set(group["comparisons"]) == set(made["comparisons"]) for group in groups)
    name = next(iter(made["scores"]))
    whole = made["scores"][name]["coverage@5"]
    parts = [group["scores"][name]["coverage@5"] for group in groups]
    assert sum(part["queries"] for part in parts) == whole["queries"]
    mean = sum(part["value"] * part["queries"] for part in parts) / whole["queries"]
    assert mean == pytest.approx(whole["value"])
    result = lookalike("evaluate", *MEASURES, "--per", "category", "--replicates", 200).out
    assert f"category {groups[0]['value']}, {groups[0]['queries']} queries" in result


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        (("--replicates", "5"), "from 100 to 1,000,000"),
        (("--replicates", "99999999999"), "1,000,000"),
        (("--seed", "-1"), "--seed"),
        (("--interval", "t"), "percentile"),
        (("--confidence", "95"), "0.5 or more"),
        (("--confidence", "0.05"), "0.5 or more"),
        (("--confidence", "1"), "0.5 or more"),
        (("--confidence", "nan"), "0.5 or more"),
        (("--per", "colour"), "no column 'colour'"),
    ],
)
def test_options_that_mean_nothing_are_refused(labelled, lookalike, options, allowed):
    refused = lookalike("evaluate", *options)
    assert refused.status == (1 if "--per" in options else 2)
    assert options[1] in refused.err
    assert allowed in refused.err
    assert "Traceback" not in refused.out + refused.err


def test_columns_of_very_many_values_are_refused(lookalike, photos, tmp_path):
    names = sorted(str(path.relative_to(photos)) for path in photos.rglob("*.png"))
    rows = "".join(f"{name},{name.rsplit('/', 1)[0]},sku{at}\n" for at, name in enumerate(names * 1))
    (tmp_path / "shop.csv").write_text("image,item,sku\n" + rows)
    assert lookalike("init", "shop.csv", "--images", photos).status == 0
    from lookalike.core.errors import ArgumentError
    from lookalike.store.workspace import Workspace
    from lookalike.workflows.decide import evaluate

    catalog = Workspace(tmp_path).catalog
    assert len(evaluate.catalog_column(catalog, "sku")) == len(names)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(evaluate, "MOST_GROUPS", 10)
        with pytest.raises(ArgumentError, match="36 values"):
            evaluate.catalog_column(catalog, "sku")
