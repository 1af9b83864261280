"""Runs by the TREC format's own words, one line at a time, and places in them. Nothing here comes from src.

A run line is `query Q0 document rank score tag`; documents are ordered by score, the rank is not looked at. A qrels
line is `query iteration document relevance`; 1 and more is relevant, 0 is not, below 0 nobody judged.
"""

from collections.abc import Mapping, Sequence

from oracles.ranking import Photo, Rules, candidate_units


def run_of(text: str) -> dict[str, dict[str, float]]:
    """query -> document -> score."""
    found: dict[str, dict[str, float]] = {}
    for line in text.splitlines():
        query, _, document, _, score, _ = line.split()
        found.setdefault(query, {})[document] = float(score)
    return found


def judgements_of(text: str) -> dict[tuple[str, str], int]:
    """(query, document) -> 1 or 0; what is below 0 is not there."""
    found = {}
    for line in text.splitlines():
        query, _, document, relevance = line.split()
        if int(relevance) >= 0:
            found[query, document] = int(int(relevance) >= 1)
    return found


def place(
    photos: Sequence[Photo], query: int, unit: str, retrieved: Mapping[str, float], rules: Rules
) -> tuple[int, int, int, float | None]:
    """(above, tied, candidates, score) of a unit; score None where it was not retrieved.

    `retrieved` names photos. A unit's score is the best of those of its photos that are candidates.
    """
    units = candidate_units(photos, query, rules)

    scores = {
        name: max(
            (retrieved[photos[row].image] for row in rows if photos[row].image in retrieved), default=None
        )
        for name, rows in units.items()
    }
    mine = scores[unit]
    listed = [score for score in scores.values() if score is not None]
    if mine is None:
        return len(listed), len(units) - len(listed) - 1, len(units), None
    above = sum(score > mine for score in listed)
    return above, sum(score == mine for score in listed) - 1, len(units), mine
