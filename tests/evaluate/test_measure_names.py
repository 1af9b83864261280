"""A measure has a printable name that parses back to it; a wrong name, K or parameter gives an error with a fix."""

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.worlds import Candidate, Ranking, judged_of, rankings, rows_of

from lookalike.core.errors import MeasureError
from lookalike.evaluate.measures.table import DEFAULT, FAMILIES, Family, Measure, parse, parse_list

numbers = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-(10**9), 10**9).map(float),
    st.sampled_from([0.1, 1e6, 1e22, -0.0]),
)
values = {
    "average": st.sampled_from(["micro", "macro"]),
    "of": st.just("possible"),
    "negatives": st.sampled_from(["sampled", "catalog"]),
    "n": st.integers(1, 10**6),
    "depth": st.integers(1, 10**6),
}


@st.composite
def measures(draw: st.DrawFn) -> str:
    """A family with any K and any of its parameters, as someone may write it."""
    family: Family = draw(st.sampled_from(list(FAMILIES.values())))
    at = f"@{draw(st.integers(1, 10**6))}" if family.takes_k else ""
    names = draw(st.lists(st.sampled_from([*family.always, *family.optional, ""]), unique=True))
    if "n" in names and "negatives" not in names:
        names.append("negatives")
    given = [f"{name}={draw(values.get(name, numbers))!s}" for name in names if name]
    space = draw(st.sampled_from(["", " "]))
    listed = f"({(',' + space).join(given)})" if given or draw(st.booleans()) else ""
    return f"{space}{family.name}{at}{listed}{space}"


@given(measures())
def test_names_parse_back_to_themselves(text: str):
    measure = parse(text)
    assert parse(measure.name) == measure
    assert parse(measure.name).name == measure.name


@given(measures(), rankings)
def test_the_name_gives_the_same_number(text: str, ranked: list[Ranking]):
    judged = judged_of(rows_of([*ranked, [Candidate(1, tied=False), Candidate(0, tied=False)]]))
    measure = parse(text)
    score, again = measure(judged), parse(measure.name)(judged)
    assert score.measure == measure.name
    assert score.value == again.value or (isnan(score.value) and isnan(again.value))


@given(st.lists(measures(), min_size=1, max_size=4))
def test_lists_parse_into_their_parts(texts: list[str]):
    assert parse_list(",".join(texts)) == tuple(parse(text) for text in texts)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("DCS", "DCS(alpha=10)"),
        ("dcs()", "DCS(alpha=10)"),
        ("DCS( alpha = 10.0 )", "DCS(alpha=10)"),
        ("DCS(alpha=0.1)", "DCS(alpha=0.1)"),
        ("DCS(average=macro,alpha=2)", "DCS(alpha=2,average=macro)"),
        ("DCS(half=7)", "DCS(half=7)"),
        ("dcs( half = 3.5, average=macro )", "DCS(average=macro,half=3.5)"),
        ("EHR@5", "EHR@5"),
        ("ehr @ 5", "EHR@5"),
        ("auc_mac", "AUC_mac"),
        ("pr_auc_mic", "PR-AUC_mic"),
        ("Coverage@20", "coverage@20"),
        ("AUC_mac(negatives=sampled)", "AUC_mac(n=100,negatives=sampled)"),
        ("PR-AUC_mic(n=7,negatives=catalog)", "PR-AUC_mic(n=7,negatives=catalog)"),
        ("bpref(depth=1000)", "BPREF(depth=1000)"),
        ("HR(of=possible)@5", "HR@5(of=possible)"),
        ("rr", "RR"),
        ("P@5", "HR@5"),
        ("Judged@10", "coverage@10"),
        ("Bpref", "BPREF"),
        ("nDCG@10", "NDCG@10"),
        ("nDCG(judged_only=True)@10", "ENDCG@10"),
        ("RR@10", "RR@10"),
        ("AP(judged_only=True)", "PR-AUC_mac"),
    ],
)
def test_spelling(written: str, name: str):
    assert parse(written).name == name


def test_the_default_names_are_printable_names_or_short_for_one():
    for name in DEFAULT:
        assert parse(name).name.startswith(name)


@pytest.mark.parametrize(
    ("written", "nearest"),
    [
        ("AUC", "AUC_mac"),
        ("EHRR@5", "EHR@5"),
        ("cover@5", "coverage@5"),
        ("bpre", "BPREF"),
        ("DSC", "DCS"),
        ("HR@", "HR@5"),
        ("AP", "PR-AUC_mac"),
        ("AP@10", "PR-AUC_mac"),
        ("P(judged_only=True)@5", "HR@5"),
        ("RR(judged_only=True)", "RR"),
        ("DCS(judged_only=True)", "DCS"),
        ("NDGC@5", "NDCG@5"),
        ("Judgd@5", "coverage@5"),
        ("AUC_mic(n=5)", "AUC_mic(n=5,negatives=sampled)"),
        ("AUC_mic(negatives=some)", "negatives=sampled"),
        ("BPREF(depth=0)", "depth=100"),
        ("HR@5(of=all)", "of=possible"),
    ],
)
def test_a_wrong_name_offers_the_nearest(written: str, nearest: str):
    with pytest.raises(MeasureError) as caught:
        parse(written)
    assert nearest in caught.value.fix


@pytest.mark.parametrize("written", ["", "@5", "zzzzzz", "5", "()", "DCS(", "DCS)", "HR@5)", "DCS(alpha=1"])
def test_what_reads_as_nothing_still_offers_names(written: str):
    with pytest.raises(MeasureError) as caught:
        parse(written)
    assert any(name in caught.value.fix for name in FAMILIES)


@pytest.mark.parametrize("k", ["", "@0", "@-1", "@1.5", "@five", "@5x", "@1e3", "@²", "@" + "9" * 5000])
def test_k_is_a_whole_number_of_one_or_more(k: str):
    with pytest.raises(MeasureError) as caught:
        parse(f"HR{k}")
    assert "HR@5" in caught.value.fix


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if not family.takes_k])
def test_k_where_none_belongs(name: str):
    with pytest.raises(MeasureError) as caught:
        parse(f"{name}@5")
    assert name in caught.value.fix


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("parameters", ["beta=1", "10", "alpha=ten", "alpha=", "=3", "k=5"])
def test_wrong_parameters(name: str, parameters: str):
    at = "@5" if FAMILIES[name].takes_k else ""
    with pytest.raises(MeasureError) as caught:
        parse(f"{name}{at}({parameters})")
    assert caught.value.fix


def test_one_parameter_given_twice_is_not_guessed():
    with pytest.raises(MeasureError):
        parse("DCS(alpha=1,alpha=2)")


@pytest.mark.parametrize(
    "parameters", ["half=7,alpha=10", "alpha_negative=2,half=7", "half=0", "half=-1", "half=inf"]
)
def test_a_rank_of_half_credit_is_above_0_and_replaces_alpha(parameters: str):
    with pytest.raises(MeasureError) as caught:
        parse(f"DCS({parameters})")
    assert "DCS(half=7)" in caught.value.fix


@pytest.mark.parametrize("text", ["", " ", ",", " , "])
def test_an_empty_list_names_the_known_measures(text: str):
    with pytest.raises(MeasureError) as caught:
        parse_list(text)
    assert "DCS" in caught.value.fix


def test_measures_are_values():
    assert parse("HR@5") == parse("hr@5") == Measure("HR", 5)
    assert len({parse("HR@5"), parse("HR@5"), parse("HR@6")}) == 2
