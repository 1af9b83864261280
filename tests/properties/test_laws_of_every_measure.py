"""Laws that every measure of the table obeys, whatever it measures."""

from math import isnan
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracles.scoring import Row
from oracles.worlds import Ranking, judged_of, labelled, rankings, rows_of
from properties.table import EVERY, NEARLY, same, scores, that_differ

from lookalike.core.types import Score
from lookalike.evaluate.measures.table import FAMILIES, parse

judged_rankings = rankings.filter(labelled)
RANKS_ONLY = [measure for measure in EVERY if FAMILIES[parse(measure).family].ranks_only]
SCORES_TOO = [measure for measure in EVERY if measure not in RANKS_ONLY]


@given(judged_rankings)
def test_bounds(ranked: list[Ranking]):
    found = scores(EVERY, rows_of(ranked))
    assert [
        m for m, score in found.items() if not (isnan(score.value) or -0.0 <= score.value <= 1 + NEARLY)
    ] == []


any_rows = st.lists(
    st.builds(
        lambda query, label, above, tied, score: Row(f"q{query}", "c", label, above, tied, score / 8, 12),
        *(st.integers(0, most) for most in (2, 1, 7, 4, 8)),
    ),
    min_size=1,
    max_size=8,
)


@given(any_rows)
def test_bounds_where_ties_are_not_transitive(rows: list[Row]):
    """a ties with b and b with c, but a not with c: places then do not add up, yet no measure leaves 0 to 1."""
    found = scores(EVERY, [row._replace(candidate=f"c{at}") for at, row in enumerate(rows)])
    assert [
        m for m, score in found.items() if not (isnan(score.value) or -NEARLY <= score.value <= 1 + NEARLY)
    ] == []


@given(judged_rankings)
def test_undefined_exactly_with_a_reason_and_no_query(ranked: list[Ranking]):
    found = scores(EVERY, rows_of(ranked))
    assert [m for m, s in found.items() if not isnan(s.value) == bool(s.reason) == (s.queries == 0)] == []


def adds_up(score: Score) -> bool:
    """Parts of one length; their ratio is the value; every query gets between nothing and all."""
    if score.pooled is not None:
        return len(score.numerator) == len(score.denominator) == 0
    if not len(score.query) == len(score.numerator) == len(score.denominator):
        return False
    if isnan(score.value):
        return True
    ratio = score.numerator.sum() / score.denominator.sum()
    counted = np.count_nonzero(score.denominator) == score.queries
    within = np.all((score.numerator >= 0) & (score.numerator <= score.denominator + NEARLY))
    return bool(same(score.value, ratio) and counted and within)


@given(judged_rankings)
def test_value_is_the_ratio_of_its_parts_where_it_has_parts(ranked: list[Ranking]):
    assert [m for m, score in scores(EVERY, rows_of(ranked)).items() if not adds_up(score)] == []


@given(judged_rankings)
def test_what_depends_on_ranks_only_has_parts_for_intervals(ranked: list[Ranking]):
    found = scores(RANKS_ONLY, rows_of(ranked))
    assert [m for m, score in found.items() if score.pooled is not None] == []


@given(judged_rankings, st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(ranked: list[Ranking], seed: int):
    rows = rows_of(ranked)
    assert that_differ(EVERY, rows, Random(seed).sample(rows, len(rows))) == []


@given(judged_rankings)
def test_the_order_of_queries_does_not_matter(ranked: list[Ranking]):
    assert that_differ(EVERY, rows_of(ranked), rows_of(ranked[::-1])) == []


@given(judged_rankings)
def test_names_of_queries_and_candidates_do_not_matter(ranked: list[Ranking]):
    rows = rows_of(ranked)
    renamed = [row._replace(query=f"é {row.query[::-1]}", candidate=row.candidate[::-1]) for row in rows]
    assert that_differ(EVERY, rows, renamed) == []


@given(judged_rankings)
def test_asking_everything_twice_changes_nothing(ranked: list[Ranking]):
    """A mean does not change if every query is repeated under another name."""
    rows = rows_of(ranked)
    again = [row._replace(query=f"{row.query} again") for row in rows]
    assert that_differ(EVERY, rows, [*rows, *again]) == []


@given(judged_rankings)
def test_a_query_without_labels_does_not_count(ranked: list[Ranking]):
    unlabelled = [candidate._replace(label=None) for candidate in ranked[0]]
    assert that_differ(EVERY, rows_of(ranked), rows_of([*ranked, unlabelled])) == []


@given(judged_rankings, st.integers(0, 99))
def test_scores_do_not_matter_to_what_depends_on_ranks_only(ranked: list[Ranking], seed: int):
    rows, random = rows_of(ranked), Random(seed)
    assert that_differ(RANKS_ONLY, rows, [row._replace(score=random.uniform(-9, 9)) for row in rows]) == []


@given(judged_rankings)
def test_only_the_order_of_scores_matters_to_the_others(ranked: list[Ranking]):
    rows = rows_of(ranked, [0.25, -0.5, 0.0, 1.0, -0.25])
    assert (
        that_differ(SCORES_TOO, rows, [row._replace(score=row.score**3 + 2 * row.score) for row in rows])
        == []
    )


@given(judged_rankings)
def test_ranks_do_not_matter_to_the_others(ranked: list[Ranking]):
    rows = rows_of(ranked)
    assert that_differ(SCORES_TOO, rows, [row._replace(above=0, tied=0) for row in rows]) == []


@given(judged_rankings)
def test_measuring_changes_nothing(ranked: list[Ranking]):
    judged = judged_of(rows_of(ranked))
    columns = judged.label, judged.above, judged.tied, judged.score, judged.candidates
    before = [column.copy() for column in columns]
    for measure in EVERY:
        assert same(parse(measure)(judged).value, parse(measure)(judged).value)
    assert all(np.array_equal(old, new) for old, new in zip(before, columns, strict=True))


def test_micro_areas_alone_look_at_scores():
    """The only exceptions; a new one must be named here."""
    assert SCORES_TOO == ["AUC_mic", "PR-AUC_mic"]
