"""Better order never scores lower; which order is best; what an order without information gets."""

from collections.abc import Sequence
from itertools import permutations
from math import isnan

from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.worlds import Candidate, Ranking, candidates, labelled, rankings, rows_of, untied
from properties.table import (
    NEARLY,
    only,
    ranking_of,
    same,
    scores,
    that_fall,
    value,
    without,
)

from lookalike.evaluate.measures.table import parse

# These compare scores across queries, so one query's order is not all there is to perfect.
ACROSS_QUERIES = "AUC_mic", "PR-AUC_mic"
PAIRWISE = [
    measure
    for measure in only("AUC_mic", "AUC_mac", "PR-AUC_mic", "PR-AUC_mac", "BPREF")
    if "depth" not in measure
]
LABELS = st.sampled_from([None, 0, 1])
APART = [0.0, 0.01, 0.02, 0.03]  # added to the scores of single queries, so that none tie across queries

Change = tuple[list[Ranking], list[Ranking]]


def perfect(ranking: Ranking) -> Ranking:
    """Positives, then unjudged, then negatives; no ties."""
    place = {1: 0, None: 1, 0: 2}
    return ranking_of(sorted((candidate.label for candidate in ranking), key=place.__getitem__))


@st.composite
def exchanges(draw: st.DrawFn, better: Sequence[int | None], worse: Sequence[int | None]) -> Change:
    """Rankings before and after a candidate changes places with a worse one in one query; the ties stay."""
    part = st.lists(candidates, max_size=4)
    first, middle, last = draw(part), draw(part), draw(part)
    up = Candidate(draw(st.sampled_from(better)), draw(st.booleans()))
    down = Candidate(draw(st.sampled_from(worse)), draw(st.booleans()))
    before = [*first, up, *middle, down, *last]
    after = [*first, up._replace(label=down.label), *middle, down._replace(label=up.label), *last]
    others = draw(st.lists(st.lists(candidates, min_size=1, max_size=6), max_size=3))
    return [before, *others], [after, *others]


@st.composite
def promotions(draw: st.DrawFn, passed: Sequence[int | None]) -> Change:
    """Rankings without ties before and after a positive moves up past candidates; each of them moves down by one."""
    first, last = draw(st.lists(LABELS, max_size=4)), draw(st.lists(LABELS, max_size=4))
    middle = draw(st.lists(st.sampled_from(passed), min_size=1, max_size=4))
    before, after = ranking_of([*first, *middle, 1, *last]), ranking_of([*first, 1, *middle, *last])
    others = draw(st.lists(st.lists(LABELS, min_size=1, max_size=6).map(ranking_of), max_size=3))
    return [before, *others], [after, *others]


@given(untied.filter(labelled))
def test_perfect_order_is_maximal_for_all_but_coverage(ranked: list[Ranking]):
    """Among orders without ties: phi is convex, so two negatives that tie earn more than any order of the two.

    Coverage asks whether candidates are labelled, not how: no order of labels is its best. The micro areas have
    their own law below. Under EHR a query of negatives only is undefined in the perfect order: nobody sees them.
    """
    measures = without("coverage", *ACROSS_QUERIES)
    best, found = (scores(measures, rows_of(r)) for r in ([perfect(ranking) for ranking in ranked], ranked))
    for measure in measures:
        highest, got = best[measure].value, found[measure].value
        if parse(measure).family == "EHR" and isnan(highest):
            assert isnan(got) or got == 0
        else:
            assert isnan(got) or got <= highest + NEARLY, measure


@given(st.lists(LABELS, min_size=1, max_size=4).filter(any))
def test_no_order_of_one_query_beats_the_perfect_one(labels: list[int | None]):
    measures = without("coverage")
    best = scores(measures, rows_of([perfect(ranking_of(labels))]))
    for order in set(permutations(labels)):
        found = scores(measures, rows_of([ranking_of(order)]))
        assert [m for m in measures if found[m].value > best[m].value + NEARLY] == []


@given(rankings.filter(labelled))
def test_perfect_order_of_all_pairs_is_one_for_measures_of_pairs(ranked: list[Ranking]):
    """Within queries, and for the micro areas across them: positives score 2, negatives 1 everywhere."""
    rows = [row._replace(score=1.0 + row.label) for row in rows_of([perfect(ranking) for ranking in ranked])]
    assert [m for m, s in scores(PAIRWISE, rows).items() if not (isnan(s.value) or s.value == 1.0)] == []


@given(exchanges(better=[None, 0], worse=[1]))
def test_a_positive_that_changes_places_with_a_better_unjudged_or_negative_never_lowers(change: Change):
    """This holds for EHR and coverage too: a positive that enters adds 1 to the numerator and to the denominator.

    It does not hold for average precision. As in scikit-learn, tied rows count together, so each of two tied
    positives is credited for the other, and separating them can lower the value. The next test has no ties.
    """
    before, after = change
    assert that_fall(without("PR-AUC_mic", "PR-AUC_mac"), rows_of(before), rows_of(after)) == []


@given(promotions(passed=[None, 0, 1]))
def test_without_ties_a_positive_that_moves_up_past_anything_never_lowers(change: Change):
    """This holds for EHR too: the new candidate, a positive, replaces the one that leaves the top K."""
    before, after = change
    assert that_fall(without("coverage"), rows_of(before, APART), rows_of(after, APART)) == []


@given(promotions(passed=[None]))
def test_a_label_that_moves_up_past_unjudged_never_lowers_coverage(change: Change):
    before, after = change
    assert that_fall(only("coverage"), rows_of(before), rows_of(after)) == []


@given(exchanges(better=[0], worse=[None]))
def test_a_negative_that_changes_places_with_a_worse_unjudged_never_lowers(change: Change):
    before, after = change
    measures = without("coverage", "EHR", "PR-AUC_mic", "PR-AUC_mac")
    assert that_fall(measures, rows_of(before), rows_of(after)) == []


@given(exchanges(better=[0], worse=[None]))
def test_under_ehr_a_negative_that_leaves_the_top_k_never_lowers_unless_no_label_is_left_there(
    change: Change,
):
    """A query it leaves uncovered had earned 0, so the mean of the others is no lower; with no others it is NaN."""
    before, after = (rows_of(queries) for queries in change)
    defined = [measure for measure, score in scores(only("EHR"), after).items() if not isnan(score.value)]
    assert that_fall(defined, before, after) == []


# ---- no information

constant = st.lists(
    st.lists(LABELS, min_size=1, max_size=9).map(lambda labels: ranking_of(labels, tied=True)),
    min_size=1,
    max_size=4,
)


def share(ranking: Ranking, labels: Sequence[int], of: Sequence[int | None] = (None, 0, 1)) -> float:
    """Part of the candidates (with one of the labels `of`) that have one of these labels."""
    among = [candidate.label for candidate in ranking if candidate.label in of]
    return sum(label in labels for label in among) / len(among)


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


@given(constant)
def test_a_constant_scorer_gets_half_the_area(ranked: list[Ranking]):
    rows = rows_of([*ranked, ranking_of([0, 1], tied=True)])
    assert [m for m, s in scores(only("AUC_mic", "AUC_mac"), rows).items() if not same(s.value, 0.5)] == []


@given(
    constant.filter(lambda queries: all(labelled([ranking]) for ranking in queries)),
    st.sampled_from([1, 3, 20]),
)
def test_a_constant_scorer_hits_as_often_as_a_random_order(queries: list[Ranking], k: int):
    """In expectation over orders K/n of the positives are in the top K, so HR@K is (positives x K/n) / K."""
    room = [min(k, len(ranking)) / k for ranking in queries]
    hits = [share(ranking, (1,)) * part for ranking, part in zip(queries, room, strict=True)]
    covered = [share(ranking, (0, 1)) * part for ranking, part in zip(queries, room, strict=True)]
    assert same(value(f"HR@{k}", queries), mean(hits))
    assert same(value(f"coverage@{k}", queries), mean(covered))
    assert same(value(f"EHR@{k}", queries), mean([share(ranking, (1,), of=(0, 1)) for ranking in queries]))


@given(constant)
def test_a_constant_scorer_has_the_average_precision_of_its_share_of_positives(ranked: list[Ranking]):
    with_positives = [ranking for ranking in ranked if any(candidate.label == 1 for candidate in ranking)]
    assume(with_positives)
    shares = [share(ranking, (1,), of=(0, 1)) for ranking in with_positives]
    assert same(value("PR-AUC_mac", ranked), mean(shares))


@given(st.lists(LABELS, min_size=1, max_size=4))
def test_hits_of_a_tie_are_the_mean_over_its_orders(labels: list[int | None]):
    """For what is linear in the places, and for the first positive."""
    assume(any(label == 1 for label in labels))
    measures = only("HR", "coverage", "MRR", "EMRR", "RR", "NDCG", "ENDCG")
    orders = [scores(measures, rows_of([ranking_of(order)])) for order in permutations(labels)]
    tied = scores(measures, rows_of([ranking_of(labels, tied=True)]))
    assert [m for m in measures if not same(tied[m].value, mean([order[m].value for order in orders]))] == []
