"""The team as figures: agreement, self-consistency, gold pairs, pace, and what these say of each annotator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection

from lookalike.annotate import agreement, pace
from lookalike.annotate.agreement import Agreement
from lookalike.annotate.consistency import Consistency, Gold, consistency, gold, together
from lookalike.annotate.pace import Hour, Pace, Worked
from lookalike.annotate.patterns import Counts, VoteTable
from lookalike.annotate.remarks import Known, Remark, remarks
from lookalike.store import figures
from lookalike.store.database import Database

RECENT_HOURS = 48
MOST_FOR_TWOS = 10
HOUR_MS = pace.HOUR_MS


@dataclass(frozen=True)
class Member:
    """One annotator: who they are and their own figures; None where there is nothing to figure yet."""

    annotator: int
    name: str
    is_there: bool
    agreement: Agreement | None
    consistency: Consistency | None
    gold: Gold | None
    pace: Pace | None


@dataclass(frozen=True)
class Team:
    """All figures of the team page. `twos` are agreements of each two annotators who share a pair."""

    agreement: Agreement
    categories: Mapping[str, Agreement]
    members: tuple[Member, ...]
    twos: Mapping[tuple[int, int], Agreement]
    consistency: Consistency
    gold: Gold
    pace: Pace
    recent: tuple[Hour, ...]
    remarks: tuple[Remark, ...]

    def member(self, annotator: int) -> Member | None:
        """One annotator, None where nobody has this id."""
        return next((one for one in self.members if one.annotator == annotator), None)


class Votes(NamedTuple):
    """What was read of the small tables, by annotator where it is a mapping."""

    people: Mapping[int, tuple[str, bool]]
    patterns: VoteTable
    counts: Counts
    worked: list[Worked]
    repeats: Mapping[int, Mapping[tuple[str, ...], int]]
    golds: Mapping[int, Sequence[tuple[str, str, int]]]


def team(database: Database, now: int, *, seed: int = 0, all_twos: bool = False) -> Team:
    """The team's figures, read from the small tables in one snapshot; `seed` is of the bootstrap.

    Fifty people are 1,225 twos: from eleven people on `twos` is empty, unless asked for by `all_twos`.
    """
    with database.read() as connection:
        read = read_votes(connection)
    return team_of(read, now, seed=seed, all_twos=all_twos)


def read_votes(connection: Connection) -> Votes:
    """What the figures are worked out from."""
    return Votes(
        figures.read_people(connection),
        figures.read_patterns(connection),
        figures.read_counts(connection),
        figures.read_worked(connection),
        figures.read_repeats(connection),
        figures.read_gold(connection),
    )


def team_of(read: Votes, now: int, *, seed: int = 0, all_twos: bool = False) -> Team:
    """The figures of votes that were read before; as `team` otherwise."""
    people, votes, counts, worked, repeats, golds = read
    overall = agreement.agreement(counts, seed=seed)
    each, paces = agreement.by_annotator(votes, seed=seed), pace.by_annotator(worked)
    few = len(votes.annotators) <= MOST_FOR_TWOS
    members = tuple(
        Member(
            annotator=who,
            name=name,
            is_there=is_there,
            agreement=each.get(who),
            consistency=consistency(repeats[who], seed=seed) if who in repeats else None,
            gold=gold(golds[who]) if who in golds else None,
            pace=paces.get(who),
        )
        for who, (name, is_there) in sorted(people.items())
    )
    return Team(
        agreement=overall,
        categories=agreement.by_category(counts, seed=seed),
        members=members,
        twos=agreement.by_two(votes, seed=seed) if few or all_twos else {},
        consistency=consistency(together(repeats.values()), seed=seed),
        gold=gold([row for rows in golds.values() for row in rows]),
        pace=pace.pace(worked),
        recent=recent(worked, now),
        remarks=remarks({one.annotator: _known(one, votes, overall, seed) for one in members}),
    )


def recent(worked: list[Worked], now: int) -> tuple[Hour, ...]:
    """The last 48 hours by the clock, those in which somebody worked."""
    return pace.hours(worked, now // HOUR_MS - RECENT_HOURS + 1)


def _known(one: Member, votes: VoteTable, overall: Agreement, seed: int) -> Known:
    """What remarks look at; of the others among themselves where there are two others at least."""
    others = None
    if one.agreement is not None and len(votes.annotators) > 2:
        others = agreement.agreement(votes.counts_without(one.annotator), seed=seed)
    return Known(
        name=one.name,
        agreement=one.agreement,
        others=others,
        consistency=one.consistency,
        gold=one.gold,
        pace=one.pace,
        unsure_of_all=overall.unsure.value,
    )
