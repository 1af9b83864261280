"""`lookalike audit` begins with the verdict, in words and in JSON, and ranks nothing twice."""

import pytest

from lookalike.rank import judged as judged_module


@pytest.fixture
def labelled(lookalike, workspace):
    """The shop with a third encoder that fed no pool, and every pooled pair labelled by its category."""
    assert lookalike("embed", "descriptor:layout").status == 0
    assert lookalike("discover", "--pairs", "all.csv").status == 0
    rows = (workspace / "all.csv").read_text().splitlines()
    lines = ["query,candidate,label"]
    for row in rows[1:]:
        query, candidate = row.split(",")[:2]
        lines.append(f"{query},{candidate},{int(query.split('/')[0] == candidate.split('/')[0])}")
    (workspace / "labels.csv").write_text("\n".join(lines) + "\n")
    assert lookalike("labels", "import", "labels.csv").status == 0
    return workspace


def test_the_verdict_comes_first_with_its_reasons(lookalike, labelled):
    result = lookalike("audit", "--replicates", 200)
    assert result.status == 0, result.err
    headline, _, rest = result.out.partition("Which measure can be trusted")
    verdict, _, table = rest.partition("VSD Table 1")
    assert "HR@5 corrected" in headline
    assert "HR@5 corrected" in verdict
    assert table


def test_json_has_every_verdict_with_its_claims(lookalike, labelled):
    found = lookalike("audit", "--replicates", 200, "--json").json["verdict"]
    assert set(found["encoders"]) == {"color", "hog", "layout"}
    measures = {one["measure"] for one in found["verdicts"]}
    assert {"EHR@5", "AUC_mac", "HR@5 corrected"} <= measures
    assert len(found["verdicts"]) == 3 * len(measures)
    for one in found["verdicts"]:
        assert one["word"] in ("trusted", "with care", "not to be trusted", "cannot tell", "unknown")
        assert {order["other"] for order in one["orders"]} <= {"color", "hog", "layout"} - {one["encoder"]}
    fixed = found["corrected"]
    whole = lookalike("evaluate", "--measures", "HR@5,coverage@5", "--replicates", 0, "--json").json["scores"]
    for name, one in whole.items():
        if one["coverage@5"]["value"] == 1.0:
            assert fixed[name]["value"] == pytest.approx(one["HR@5"]["value"])
        assert fixed[name]["value"] >= one["HR@5"]["value"] - 1e-9


def test_each_encoder_is_ranked_once(lookalike, labelled, monkeypatch):
    ranked = []
    true = judged_module.prepare

    def counted(*arguments, **options):
        ranked.append(1)
        return true(*arguments, **options)

    monkeypatch.setattr(judged_module, "prepare", counted)
    assert lookalike("audit", "--replicates", 100).status == 0
    assert len(ranked) == 3


def test_a_generator_whose_vectors_are_gone_leaves_no_correction_but_a_verdict(lookalike, labelled):
    assert lookalike("embed", "--remove", "hog").status == 0
    found = lookalike("audit", "--replicates", 100, "--json")
    assert found.status == 0, found.err
    assert found.json["verdict"]["corrected"] == {}
    assert "hog" in found.json["verdict"]["uncorrected"]
    assert {one["encoder"] for one in found.json["verdict"]["verdicts"]} == {"color", "layout"}


def test_without_a_pool_nothing_is_vouched_for_until_the_generators_are_named(lookalike, photos, labelled):
    assert lookalike("init", photos, "-w", "bare").status == 0
    assert (
        lookalike("embed", "descriptor:color", "descriptor:hog", "descriptor:layout", "-w", "bare").status
        == 0
    )
    assert lookalike("labels", "import", "labels.csv", "-w", "bare").status == 0
    result = lookalike("audit", "--replicates", 200, "-w", "bare").out
    assert "not recorded" in result
    assert "The encoder fed" not in result
    found = lookalike("audit", "--replicates", 200, "-w", "bare", "--json").json["verdict"]
    assert found["generators"] is None
    assert {one["word"] for one in found["verdicts"]} <= {"unknown", "cannot tell"}
    named = lookalike("audit", "--replicates", 200, "-w", "bare", "--generators", "color,hog", "--json").json
    assert named["verdict"]["generators"] == ["color", "hog"]
    assert set(named["verdict"]["corrected"]) == {"color", "hog", "layout"}


def test_two_encoders_are_audited_without_columns_of_undefined_correlations(lookalike, labelled):
    pair = lookalike("audit", "color", "hog", "--replicates", 100)
    assert pair.status == 0, pair.err
    assert "nan" not in pair.out
    table = pair.out.partition("VSD Table 1")[2].partition("Without")[0]
    assert table.split("\n")[1].split() == ["measure", "encoder", "score", "±", "sd"]
    assert "2 encoders" in pair.out
    assert "at least 3" in " ".join(pair.out.split())
    three = lookalike("audit", "--replicates", 100)
    assert "SC@5" in three.out
    assert "Uncertainty of SC" in three.out


def test_the_report_shows_the_intervals_that_audit_gives(lookalike, labelled):
    made = lookalike("audit", "--json").json["verdict"]
    assert lookalike("report").status == 0
    page = (labelled / "reports/report.html").read_text()
    for one in made["corrected"].values():
        assert f"{one['value']:.2f} [{one['low']:.2f}, {one['high']:.2f}]" in page
    steps = page.partition('<ol class="steps">')[2].partition("</ol>")[0]
    assert "lookalike evaluate" not in steps
    assert f"lookalike finetune {made['encoders'][0]} --name" in steps


@pytest.mark.parametrize("command", ["evaluate", "audit"])
def test_an_unknown_encoder_is_refused_before_labels_are_needed(lookalike, workspace, command):
    refused = lookalike(command, "colour", "--json")
    assert (refused.status, refused.json["error"]["kind"]) == (1, "EmbeddingsError")
    assert "'colour'" in refused.err
    assert "color and hog" in refused.err


def test_evaluate_leads_with_the_corrected_rate_that_audit_gives(lookalike, labelled):
    found = lookalike("evaluate", "--json").json["recommendation"]
    verdict = lookalike("audit", "--json").json["verdict"]
    assert found["headline"] == verdict["headline"] != ""
    assert set(found["corrected"]) == {"color", "hog", "layout"}
    for encoder, scores in found["corrected"].items():
        one, other = scores["HR@5 corrected"], verdict["corrected"][encoder]
        assert [one["value"], one["interval"]["low"], one["interval"]["high"]] == pytest.approx(
            [other[end] for end in ("value", "low", "high")], rel=1e-9
        )
    result = lookalike("evaluate").out
    assert result.index("HR@5 corrected:") < min(
        result.index(f"\n{name}:") for name in ("HR@5", "EHR@5", "BPREF")
    )


def test_no_encoder_is_better_by_a_measure_that_is_not_to_be_trusted(lookalike, labelled):
    found = lookalike("evaluate", "--json").json
    doubted = {one["measure"] for one in found["recommendation"]["distrusted"]}
    claims = {
        one["measure"]
        for one in lookalike("audit", "--json").json["verdict"]["verdicts"]
        if one["word"] == "not to be trusted"
    } - {"HR@5 corrected"}
    assert claims <= doubted
    assert doubted
    for name, sentences in found["verdicts"].items():
        assert bool(sentences) == (name not in doubted)
    blocks = [
        part
        for part in lookalike("evaluate").out.split("\n\n")
        if part.partition(":")[0] in found["verdicts"]
    ]
    places = [part.partition(":")[0] in doubted for part in blocks]
    assert places == sorted(places)  # those not to be trusted come last
    assert not any("is better than" in part for part, doubt in zip(blocks, places, strict=True) if doubt)
    assert lookalike("report").status == 0
    page = (labelled / "reports" / "report.html").read_text(encoding="utf-8")
    head = page.split('id="decision-title"')[1].partition("</h2>")[0]
    assert ("Use " in head) == ("is better than" in found["recommendation"]["headline"])
    table = page.split('aria-label="Measures"')[1].split("</table>")[0]
    assert table.count("not trusted") == len(doubted)
    assert table.count('class="doubted"') == 3 * len(doubted)
    assert not any("<strong>" in cell.partition("</td>")[0] for cell in table.split('class="doubted"')[1:])


@pytest.mark.parametrize(
    "options",
    [("--where", "category=bowl"), ("--split", "test"), ("--similarity", "dot"), ("--source", "pool")],
    ids=lambda options: options[0],
)
def test_nothing_is_corrected_where_the_labels_or_ranks_are_not_those_of_the_pool(
    lookalike, labelled, options
):
    found = lookalike("evaluate", *options, "--json").json["recommendation"]
    assert (found["headline"], found["corrected"]) == ("", {})


def test_a_generator_without_usable_vectors_keeps_no_other_encoder_from_being_measured(lookalike, labelled):
    whole = lookalike("evaluate", "color", "layout", "--json").json
    assert whole["recommendation"]["uncorrected"] == ""
    (labelled / "embeddings" / "hog" / "manifest.json").write_text("{")
    found = lookalike("evaluate", "color", "layout", "--json").json
    assert set(found["scores"]) == {"color", "layout"}
    made = found["recommendation"]
    assert (made["headline"], made["corrected"]) == ("", {})
    assert "hog" in made["uncorrected"]
    assert "hog" in lookalike("evaluate", "color", "layout").out
