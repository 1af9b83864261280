"""What the labelling calls of one transaction read and write: each row is read once, all changes are written together.

Calls that wait are run one after another on the same unit of work, so that thirty answers cost hardly more statements
than one. What a call changes is seen by the next one at once, and is in the database after `flush`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Insert, bindparam, insert, null, select, union_all, update
from sqlalchemy.sql.expression import ClauseElement

from lookalike.annotate.pace import HOUR_MS
from lookalike.annotate.protocol import OPEN
from lookalike.annotate.question import LEASE, Question
from lookalike.store.access import TOKEN, digest, token_owners
from lookalike.store.checks import SHOWN
from lookalike.store.listed import Dialect, all_of, as_list, as_rows, for_both, is_listed, listed
from lookalike.store.people import Person, held_people, in_session, of_mapping
from lookalike.store.prepared import Prepared
from lookalike.store.questions import FREE, Held, hold, save_all, takers
from lookalike.store.votes_schema import annotator, check, claim, pace, question, vote

WINDOW = 48  # of the first open pairs one is drawn: the order differs from annotator to annotator

Row = Mapping[str, Any]
Pair = tuple[int, str, str]  # a question's id, query and candidate
Waiting = tuple[
    int, int, str, str, str, int, int | None
]  # since, a pair, token, side, until; None: a hidden check


@dataclass(frozen=True)
class Foreseen:
    """What a call will ask for: whose it is, by a number or by a program's token, and about which question."""

    annotator: int = 0
    token: str = ""
    question: int = 0


class UnitOfWork:
    """The rows that labelling calls work with, on a connection in a transaction; `with` flushes at its end."""

    def __init__(self, connection: Connection, foreseen: Collection[Foreseen] = ()) -> None:
        """Read at once what the calls will ask for; what was not foreseen is read when it is asked for."""
        self.connection = connection
        self.calls = max(len(foreseen), 1)
        self.writes = 0  # how often something was changed
        self._owners: dict[str, int | None] = {}
        self._people: dict[int, Row | None] = {}
        self._held: dict[int, Held] = {}
        self._kept: dict[int, Question] = {}  # as the database has those that have changed
        self._changed: dict[int, int] = {}  # when
        self._waiting: dict[int, list[Waiting]] = {}
        self._window: dict[int, tuple[Pair, str]] | None = None
        self._votes: list[tuple[object, ...]] = []
        self._answered: dict[int, Row] = {}
        self._worked: dict[tuple[int, int], tuple[int, int]] = {}
        if foreseen:
            self._read(foreseen)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if kind is None:
            self.flush()

    def _read(self, foreseen: Collection[Foreseen]) -> None:
        self._read_owners({digest(one.token) for one in foreseen if one.token})
        numbers = {one.annotator for one in foreseen} | {owner or 0 for owner in self._owners.values()}
        self._read_people(numbers - {0})
        self._read_waiting([who for who, row in self._people.items() if row is not None])
        self.hold({one.question for one in foreseen} - {0}, wait=True)

    # People

    def owner(self, token: str) -> Person | None:
        """Whose program's token it is, None for one that does not exist or has ended, or whose owner was removed."""
        if not token.startswith(TOKEN):
            return None
        known = digest(token)
        if known not in self._owners:
            self._read_owners({known})
        number = self._owners[known]
        row = None if number is None else self.person(number)
        return None if row is None or row["removed"] is not None else of_mapping(row)

    def of_session(self, number: int, epoch: int) -> Person | None:
        """Who a session of this epoch belongs to, None where it has ended."""
        return in_session(self.person(number), epoch)

    def person(self, who: int) -> Row | None:
        """A person's row, held so that two of their requests take turns; removed ones included."""
        if who not in self._people:
            self._read_people({who})
        return self._people[who]

    def _read_owners(self, digests: Collection[str]) -> None:
        if digests:
            found = token_owners(self.connection, digests)
            self._owners.update({one: found.get(one) for one in digests})

    def _read_people(self, numbers: Collection[int]) -> None:
        if numbers:
            found = held_people(self.connection, numbers)
            self._people.update({who: found.get(who) for who in numbers})

    # Questions

    def question(self, which: int, *, wait: bool = True) -> Held | None:
        """A question as the calls have left it; None for one that does not exist.

        Without `wait` also None where another transaction holds it.
        """
        if which not in self._held:
            self.hold({which}, wait=wait)
        return self._held.get(which)

    def holds(self, which: int) -> bool:
        """Whether a question was read already."""
        return which in self._held

    def hold(self, which: Collection[int], *, wait: bool) -> None:
        """Read many questions at once; without `wait` those that no other transaction holds."""
        wanted = [one for one in which if one not in self._held]
        self._held.update(hold(self.connection, wanted, wait=wait))

    def save(self, which: int, after: Question, now: int) -> None:
        """Note what a step has made of a question that is held."""
        held = self._held[which]
        self.writes += 1
        self._kept.setdefault(which, held.question)
        self._changed[which] = now
        self._held[which] = Held(which, held.query, held.candidate, after)
        had, has = set(held.question.claims), set(after.claims)
        for who in {one.annotator for one in had ^ has} & self._waiting.keys():
            self._waiting[who] = [one for one in self._waiting[who] if one[1] != which or one[6] is None]
            mine = after.of(who)
            if mine is not None and mine.kind == LEASE and after.state == OPEN:
                pair = (which, held.query, held.candidate)
                self._waiting[who].append((mine.since, *pair, mine.token, mine.side, mine.until))
        if self._window is not None and which in self._window:
            self._window[which] = (self._window[which][0], takers(one.annotator for one in after.claims))
            if after.free < 1:
                del self._window[which]

    def waiting(self, who: int) -> list[Waiting]:
        """What was given to an annotator and waits for their answer: leases and hidden checks, the oldest first."""
        if who not in self._waiting:
            self._read_waiting([who])
        return sorted(self._waiting[who])

    def _read_waiting(self, numbers: Collection[int]) -> None:
        if numbers:
            self.flush()
            self._waiting.update({who: [] for who in numbers})
            for who, state, *row in _WAITING.rows(self.connection, rows=as_list(numbers)):
                if state == OPEN or row[-1] is None:
                    self._waiting[who].append(tuple(row))

    def window(self, who: int) -> list[Pair]:
        """The first open pairs that an annotator has no claim on."""
        if self._window is None:
            self.flush()
            rows = _FIRST.rows(self.connection, most=WINDOW + 4 * (self.calls - 1))
            self._window = {which: ((which, *pair), taken) for which, *pair, taken in rows}
        mine = f",{who},"
        return [pair for pair, taken in self._window.values() if mine not in taken][:WINDOW]

    # Answers

    def keep(self, row: Row) -> None:
        """Add a vote to the history."""
        self.writes += 1
        self._votes.append(tuple(row[name] for name in _VOTE))

    def count(self, who: Row, now: int, active: int) -> None:
        """One more answer of an annotator, who worked so many milliseconds at it."""
        self.writes += 1
        number = who["id"]
        self._people[number] = self._answered[number] = {**who, "answers": who["answers"] + 1, "last": now}
        answers, before = self._worked.get((number, now // HOUR_MS), (0, 0))
        self._worked[number, now // HOUR_MS] = (answers + 1, before + active)

    def check_is_due(self, who: int, answers: int | None) -> None:
        """An annotator's next hidden check, which the database has already, is due after so many answers."""
        self.writes += 1
        row = self.person(who)
        if row is not None:
            self._people[who] = {**row, "check_at": answers}

    # The database

    def reading(self) -> Connection:
        """The connection, for what is read in another way: it has all that was changed."""
        self.flush()
        return self.connection

    def writing(self, who: int) -> Connection:
        """The connection, for what is changed beside: of this annotator's row and what waits for them."""
        self.flush()
        self.writes += 1
        self._people.pop(who, None)
        self._waiting.pop(who, None)
        return self.connection

    def flush(self) -> None:
        """Write what was changed."""
        _run(_VOTES, self.connection, self._votes)
        changed = (
            (one, self._kept[one], self._held[one].question, now) for one, now in self._changed.items()
        )
        if self._changed:
            save_all(self.connection, changed)
        people = ((who, row["answers"], row["last"]) for who, row in self._answered.items())
        _run(_PEOPLE, self.connection, list(people))
        _run(_PACE, self.connection, [(*key, *more) for key, more in self._worked.items()])
        for noted in (self._votes, self._changed, self._kept, self._answered, self._worked):
            noted.clear()


def _run(statement: Prepared, connection: Connection, rows: list[tuple[object, ...]]) -> None:
    if rows:
        statement.run(connection, rows=as_rows(rows))


_VOTE = ("question", "annotator", "answer", "place", "side", "at", "took", "token")


def _votes(dialect: Dialect) -> Insert:
    given = listed(dialect, *(vote.c[name] for name in _VOTE))
    return insert(vote).from_select(_VOTE, all_of(dialect, given))


def _people(dialect: Dialect) -> ClauseElement:
    given = listed(dialect, annotator.c.id, annotator.c.answers, annotator.c.last)
    counted = update(annotator).where(annotator.c.id == given.c.id)
    return counted.values(answers=given.c.answers, last=given.c.last)


def _pace(dialect: Dialect) -> ClauseElement:
    names = ("annotator", "hour", "answers", "active")
    new = dialect.insert(pace).from_select(
        names, all_of(dialect, listed(dialect, *(pace.c[name] for name in names)))
    )
    more = {name: pace.c[name] + new.excluded[name] for name in ("answers", "active")}
    return new.on_conflict_do_update(index_elements=["annotator", "hour"], set_=more)


def _waiting(dialect: Dialect) -> ClauseElement:
    pair = (question.c.id, question.c.query, question.c.candidate)
    leases = (
        select(
            claim.c.annotator,
            question.c.state,
            claim.c.since,
            *pair,
            claim.c.token,
            claim.c.side,
            claim.c.until,
        )
        .join(question, question.c.id == claim.c.question)
        .where(
            is_listed(dialect, claim.c.annotator), claim.c.kind == LEASE
        )  # not of which state: an index of states leads astray
    )
    checks = (
        select(check.c.annotator, question.c.state, check.c.since, *pair, check.c.token, check.c.side, null())
        .join(question, question.c.id == check.c.question)
        .where(is_listed(dialect, check.c.annotator), SHOWN)
    )
    return union_all(leases, checks)


_VOTES, _PEOPLE, _PACE, _WAITING = (for_both(make) for make in (_votes, _people, _pace, _waiting))
_FIRST = Prepared(
    select(question.c.id, question.c.query, question.c.candidate, question.c.takers)
    .where(FREE)
    .order_by(question.c.place)
    .limit(bindparam("most"))
)
