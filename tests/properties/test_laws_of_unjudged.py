"""Unjudged is a third state: what adding, removing and labelling unjudged candidates does to each measure."""

from math import isnan

from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.worlds import Candidate, Ranking, candidates, labelled, rankings, rows_of, untied
from properties.table import only, ranking_of, same, that_differ, that_fall, value, without

UNJUDGED = Candidate(None, tied=False)
# These compare labelled candidates with each other only.
CONDENSED = [
    *only("AUC_mic", "AUC_mac", "PR-AUC_mic", "PR-AUC_mac", "EMRR", "ENDCG"),
    *(measure for measure in only("BPREF") if "depth" not in measure),
]

judged_rankings = rankings.filter(labelled)
longer_than_one = st.lists(st.lists(candidates, min_size=2, max_size=9), min_size=1, max_size=5)
fully_labelled = st.lists(
    st.lists(st.builds(Candidate, st.sampled_from([0, 1]), st.booleans()), min_size=6, max_size=9),
    min_size=1,
    max_size=4,
)
places = st.sampled_from([1, 3, 6])


@given(judged_rankings, st.integers(1, 9))
def test_unjudged_candidates_at_the_bottom_change_nothing_but_percentiles(ranked: list[Ranking], more: int):
    """DCS alone looks at the length of the list; a new measure that does must be named here."""
    longer = [[*ranking, *[UNJUDGED] * more] for ranking in ranked]
    assert that_differ(without("DCS"), rows_of(ranked), rows_of(longer)) == []


@given(longer_than_one, st.integers(1, 9))
def test_under_dcs_unjudged_candidates_at_the_bottom_help_positives_and_hurt_negatives(
    ranked: list[Ranking], more: int
):
    """p = 1 - r/(n-1) rises with n."""
    for label in (1, 0):
        alike = [[c if c.label == label else c._replace(label=None) for c in ranking] for ranking in ranked]
        before, after = rows_of(alike), rows_of([[*ranking, *[UNJUDGED] * more] for ranking in alike])
        if before:
            assert that_fall(only("DCS"), *((before, after) if label else (after, before))) == []


@given(judged_rankings)
def test_measures_of_labelled_pairs_do_not_see_the_others(ranked: list[Ranking]):
    """Taking every unjudged candidate out of the lists leaves them unchanged; scores are kept."""
    rows = rows_of(ranked)
    condensed = []
    for row in rows:
        mine = [other for other in rows if other.query == row.query]
        better = sum(other.above < row.above for other in mine)
        tied = sum(other.above == row.above for other in mine) - 1
        condensed.append(row._replace(above=better, tied=tied, candidates=len(mine)))
    assert that_differ(CONDENSED, rows, condensed) == []


@given(untied.filter(labelled), st.integers(0, 9))
def test_an_unjudged_candidate_put_in_anywhere_never_helps_hits(ranked: list[Ranking], place: int):
    longer = [[*ranking[:place], UNJUDGED, *ranking[place:]] for ranking in ranked]
    measures = only("HR", "coverage", "MRR", "RR", "NDCG")
    assert that_fall(measures, rows_of(longer), rows_of(ranked)) == []


@given(fully_labelled, places)
def test_ehr_is_hr_at_full_coverage(ranked: list[Ranking], k: int):
    assert same(value(f"coverage@{k}", ranked), 1.0)
    assert same(value(f"EHR@{k}", ranked), value(f"HR@{k}", ranked))


@given(fully_labelled, places)
def test_condensed_measures_are_the_plain_ones_where_everything_is_labelled(ranked: list[Ranking], k: int):
    assert same(value(f"EMRR@{k}", ranked), value(f"MRR@{k}", ranked))
    assert same(value(f"ENDCG@{k}", ranked), value(f"NDCG@{k}", ranked))


@given(judged_rankings, places)
def test_for_one_query_hr_is_ehr_times_coverage(ranked: list[Ranking], k: int):
    for ranking in ranked:
        if labelled([ranking]):
            hr, ehr, coverage = (value(f"{name}@{k}", [ranking]) for name in ("HR", "EHR", "coverage"))
            assert same(hr, ehr * coverage) if coverage else (hr == 0 and isnan(ehr))


@given(untied, places)
def test_queries_without_a_label_in_the_top_k_do_not_move_ehr(ranked: list[Ranking], k: int):
    covered = [ranking for ranking in ranked if labelled([ranking[:k]])]
    assume(covered)
    assert same(value(f"EHR@{k}", ranked), value(f"EHR@{k}", covered))


@given(rankings, st.integers(0, 4), st.integers(0, 8))
def test_a_candidate_labelled_similar_makes_no_fewer_hits_than_labelled_dissimilar(
    ranked: list[Ranking], q: int, place: int
):
    """Areas, BPREF and what is a share of the best order compare candidates, so there the place decides which helps."""
    query = ranked[q % len(ranked)]
    at = place % len(query)
    yes, no = ([*query[:at], query[at]._replace(label=label), *query[at + 1 :]] for label in (1, 0))
    plain = [m for m in only("HR", "EHR", "coverage", "MRR", "EMRR", "RR") if "possible" not in m]
    assert that_fall(plain, rows_of([*ranked, no]), rows_of([*ranked, yes])) == []


def test_an_unjudged_candidate_is_neither_a_hit_nor_a_negative():
    unjudged, negative = [ranking_of([None, 1])], [ranking_of([0, 1])]
    assert (value("EHR@2", unjudged), value("EHR@2", negative)) == (1.0, 0.5)
    assert (value("HR@2", unjudged), value("HR@2", negative)) == (0.5, 0.5)
    assert (value("BPREF", unjudged), value("BPREF", negative)) == (1.0, 0.0)
