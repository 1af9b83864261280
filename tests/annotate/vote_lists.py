"""Random vote tables, as explicit lists and as the counted patterns that the database keeps."""

from collections import Counter

from hypothesis import strategies as st

from lookalike.annotate.agreement.patterns import VoteTable, pattern, vote_table

ANSWERS = ("similar", "dissimilar", "unsure")
Unit = tuple[str | None, ...]


def units(annotators: int = 4, most: int = 14) -> st.SearchStrategy[list[Unit]]:
    """The answer of each annotator to each pair, None without an answer."""
    answer = st.sampled_from([*ANSWERS, "similar", "dissimilar", None])
    return st.lists(st.tuples(*[answer] * annotators), max_size=most)


def tallied(listed: list[Unit], category: str = "") -> list[tuple[str, str, int]]:
    """(category, pattern, pairs) as counted by the store; annotator ids are 1, 12, 23 and so on."""
    counted = Counter(
        pattern({1 + 11 * place: answer for place, answer in enumerate(unit) if answer is not None})
        for unit in listed
    )
    return [(category, name, pairs) for name, pairs in sorted(counted.items()) if name]


def table(listed: list[Unit]) -> VoteTable:
    return vote_table(tallied(listed))


def definite(listed: list[Unit]) -> list[Unit]:
    """The same with unsure taken for no vote."""
    return [tuple(None if answer == "unsure" else answer for answer in unit) for unit in listed]
