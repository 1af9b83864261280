"""Statistics of the team: agreement, self-consistency, gold pairs, pace, and remarks on each annotator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from lookalike.annotate.agreement import by_group, pace
from lookalike.annotate.agreement.by_group import Agreement
from lookalike.annotate.agreement.consistency import Consistency, GoldAccuracy, consistency, gold, together
from lookalike.annotate.agreement.pace import AnnotatorPace, Hour, Worked
from lookalike.annotate.agreement.patterns import Counts, VoteTable
from lookalike.annotate.agreement.remarks import AnnotatorFigures, Remark, remarks
from lookalike.store.labelling import statistics
from lookalike.store.sql.database import Database

RECENT_HOURS = 48
MOST_TWOS = 45  # each two of ten people
HOUR_MS = pace.HOUR_MS


@dataclass(frozen=True)
class Member:
    """One annotator with their own statistics, None where there is no data yet. `answers` are without undone ones."""

    annotator: int
    name: str
    is_there: bool
    answers: int
    agreement: Agreement | None
    consistency: Consistency | None
    gold: GoldAccuracy | None
    pace: AnnotatorPace | None


@dataclass(frozen=True)
class AgreementOfTwo(Agreement):
    """The agreement of two annotators, who are named by their ids."""

    annotators: tuple[int, int]


@dataclass(frozen=True)
class Team:
    """The statistics of the team page. `twos` has two annotators who share pairs, by their ids.

    `more_twos` is the number of those that are left out because they share fewer pairs.
    """

    agreement: Agreement
    categories: Mapping[str, Agreement]
    annotators: tuple[Member, ...]
    twos: tuple[AgreementOfTwo, ...]
    more_twos: int
    consistency: Consistency
    gold: GoldAccuracy
    pace: AnnotatorPace
    recent: tuple[Hour, ...]
    remarks: tuple[Remark, ...]


class Votes(NamedTuple):
    """What was read from the small tables; mappings are by annotator."""

    people: Mapping[int, tuple[str, bool]]
    patterns: VoteTable
    counts: Counts
    answers: Mapping[int, int]
    worked: list[Worked]
    repeats: Mapping[int, Mapping[tuple[str, ...], int]]
    golds: Mapping[int, Sequence[tuple[str, str, int]]]


def team(database: Database, now: int, *, seed: int = 0, all_twos: bool = False) -> Team:
    """The team's statistics, read from the small tables in one snapshot. `seed` is that of the bootstrap.

    Fifty people are 1,225 pairs of people, so `twos` has those who share the most pairs, or all with `all_twos`.
    """
    read = database.fetch(read_votes)
    return team_of(read, now, seed=seed, all_twos=all_twos)


def read_votes(connection: Connection) -> Votes:
    """Read what the statistics are computed from."""
    return Votes(
        statistics.read_people(connection),
        statistics.read_patterns(connection),
        statistics.read_counts(connection),
        statistics.read_answers(connection),
        statistics.read_worked(connection),
        statistics.read_repeats(connection),
        statistics.read_gold(connection),
    )


def team_of(read: Votes, now: int, *, seed: int = 0, all_twos: bool = False) -> Team:
    """The statistics of votes that were read before; otherwise like `team`."""
    people, votes, counts, answers, worked, repeats, golds = read
    overall = by_group.agreement(counts, seed=seed)
    each, paces = by_group.by_annotator(votes, seed=seed), pace.by_annotator(worked)
    sharing = two_by_shared(votes)
    chosen = sharing if all_twos else sharing[:MOST_TWOS]
    twos = {ids: one for table in chosen for ids, one in by_group.by_two(table, seed=seed).items()}
    annotators = tuple(
        Member(
            annotator=who,
            name=name,
            is_there=is_there,
            answers=answers.get(who, 0),
            agreement=each.get(who),
            consistency=consistency(repeats[who], seed=seed) if who in repeats else None,
            gold=gold(golds[who]) if who in golds else None,
            pace=paces.get(who),
        )
        for who, (name, is_there) in sorted(people.items())
    )
    return Team(
        agreement=overall,
        categories=by_group.by_category(counts, seed=seed),
        annotators=annotators,
        twos=tuple(AgreementOfTwo(**vars(both), annotators=ids) for ids, both in sorted(twos.items())),
        more_twos=len(sharing) - len(chosen),
        consistency=consistency(together(repeats.values()), seed=seed),
        gold=gold([row for rows in golds.values() for row in rows]),
        pace=pace.pace(worked),
        recent=recent(worked, now),
        remarks=remarks({one.annotator: _known(one, votes, overall, seed) for one in annotators}),
    )


def two_by_shared(votes: VoteTable) -> list[VoteTable]:
    """The votes of each two annotators who voted on the same pairs, those with the most such pairs first."""
    voted = (votes.answer >= 0).astype(np.int64)
    shared = np.triu((voted * votes.pairs[:, None]).T @ voted, 1)
    first, second = np.nonzero(shared)
    order = np.argsort(-shared[first, second], kind="stable")
    twos = np.stack([first, second], axis=1)[order].tolist()
    return [
        replace(votes, annotators=tuple(votes.annotators[at] for at in two), answer=votes.answer[:, two])
        for two in twos
    ]


def recent(worked: list[Worked], now: int) -> tuple[Hour, ...]:
    """Those of the last 48 hours in which somebody worked."""
    return pace.hours(worked, now // HOUR_MS - RECENT_HOURS + 1)


def _known(one: Member, votes: VoteTable, overall: Agreement, seed: int) -> AnnotatorFigures:
    """What remarks are made from. Agreement of the others needs at least two others."""
    others = None
    if one.agreement is not None and len(votes.annotators) > 2:
        others = by_group.agreement(votes.counts_without(one.annotator), seed=seed)
    return AnnotatorFigures(
        name=one.name,
        agreement=one.agreement,
        others=others,
        consistency=one.consistency,
        gold=one.gold,
        pace=one.pace,
        unsure_of_all=overall.unsure.value,
    )
