"""Which labels count: conflicts are left out and counted, never guessed. Nothing comes from src."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from oracles.ranking import Photo, Rules, may_be_found, may_be_query


class Vote(NamedTuple):
    """One label as it was read."""

    query: str
    candidate: str
    label: int


class MatchedVotes(NamedTuple):
    """(query image, candidate unit) -> label, and how many votes were left out for each reason."""

    label: dict[tuple[str, str], int]
    left_out: Counter[str]


def match_votes(photos: Sequence[Photo], votes: Sequence[Vote], rules: Rules) -> MatchedVotes:
    """Leave out, one reason after the other, what cannot be ranked or contradicts itself.

    A contradicted vote is no evidence, whether or not the photos that contradict it may be asked about or found.
    """
    by_name = {photo.image: photo for photo in photos}

    def unit(vote: Vote) -> tuple[str, str]:
        candidate = by_name[vote.candidate]
        return vote.query, candidate.item if rules.level == "item" else candidate.image

    reasons = [(vote, fault(by_name, vote)) for vote in votes]
    sound = [vote for vote, reason in reasons if not reason]
    in_pair = contradicted(sound, lambda vote: frozenset((vote.query, vote.candidate)))
    in_unit = contradicted(sound, unit)
    left_out = Counter(reason for _, reason in reasons if reason)
    standing = {}
    for vote in sound:
        if vote in in_pair:
            left_out["both ways"] += 1
        elif vote in in_unit:
            left_out["within an item"] += 1
        elif not may_be_query(by_name[vote.query], rules.split):
            left_out["may not be asked"] += 1
        elif not may_be_found(by_name[vote.candidate], rules.split):
            left_out["not in the gallery"] += 1
        else:
            standing[unit(vote)] = vote.label
    return MatchedVotes(standing, left_out)


def fault(by_name: dict[str, Photo], vote: Vote) -> str:
    """Why a single vote cannot count, or an empty string."""
    if vote.query not in by_name or vote.candidate not in by_name:
        return "unknown image"
    if vote.query == vote.candidate:
        return "one image"
    if by_name[vote.query].item == by_name[vote.candidate].item:
        return "one item"
    return ""


def contradicted(votes: Sequence[Vote], key: Callable[[Vote], Hashable]) -> set[Vote]:
    """The votes whose key has both labels."""
    labels: dict[Hashable, set[int]] = {}
    for vote in votes:
        labels.setdefault(key(vote), set()).add(vote.label)
    return {vote for vote in votes if len(labels[key(vote)]) > 1}
