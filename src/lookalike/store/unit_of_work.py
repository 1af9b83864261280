"""What the labelling calls of one transaction read and write: each row is read once, all changes are written together.

Calls that wait are run one after another on the same unit of work, so that thirty answers cost hardly more statements
than one. What a call changes is seen by the next one at once, and is in the database after `flush`.
"""

from collections.abc import Collection
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from sqlalchemy import Connection

from lookalike.annotate.pace import HOUR_MS
from lookalike.annotate.protocol import OPEN
from lookalike.annotate.question import LEASE, Question
from lookalike.store.access import TOKEN, digest, token_owners
from lookalike.store.check_rows import Check
from lookalike.store.checks import Checks
from lookalike.store.people import Person, held_people, in_session, of_mapping
from lookalike.store.prepared import sent_together
from lookalike.store.questions import Held, ask_held, hold, save_all
from lookalike.store.window import Window, ask_window
from lookalike.store.work_rows import (
    VOTE,
    Row,
    Waiting,
    add_pace,
    add_votes,
    ask_waiting,
    note_people,
)


@dataclass(frozen=True)
class Foreseen:
    """What a call will ask for: whose it is, by a number or by a program's token, and about which question or check."""

    annotator: int = 0
    token: str = ""
    question: int = 0
    check: int = 0


class UnitOfWork:
    """The rows that labelling calls work with, on a connection in a transaction; `with` flushes at its end."""

    def __init__(self, connection: Connection, foreseen: Collection[Foreseen] = ()) -> None:
        """Read at once what the calls will ask for; what was not foreseen is read when it is asked for."""
        self.connection = connection
        self.calls = max(len(foreseen), 1)
        self.checks = Checks(connection)
        self.writes = 0  # how often something was changed
        self._owners: dict[str, int | None] = {}
        self._people: dict[int, Row | None] = {}
        self._held: dict[int, Held] = {}
        self._kept: dict[int, Question] = {}  # as the database has those that have changed
        self._changed: dict[int, int] = {}  # when
        self._waiting: dict[int, list[Waiting]] = {}
        self._window: Window | None = None
        self._votes: list[tuple[object, ...]] = []
        self._noted: dict[int, Row] = {}  # people's rows that have changed
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
        people = [row for row in self._people.values() if row is not None]
        with sent_together(self.connection):
            waiting = ask_waiting(self.connection, [row["id"] for row in people])
            checks = self.checks.read(
                {one.check for one in foreseen} - {0}, [row["id"] for row in people if _soon_checked(row)]
            )
            held = ask_held(self.connection, {one.question for one in foreseen} - {0})
            window = ask_window(self.connection, self.calls) if self.calls > 1 else None
        self._waiting.update(waiting())
        checks()
        self._held.update(held())
        self._window = None if window is None else window()

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
        found = hold(self.connection, wanted, wait=wait)
        self._held.update(found)
        if self._window is not None:
            for one in found.values():
                self._window.see(one)

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
        if self._window is not None:
            self._window.see(self._held[which])

    def changed(self) -> list[Held]:
        """The questions that have changed and are not written yet, as they stand."""
        return [self._held[which] for which in self._changed]

    def waiting(self, who: int) -> list[Waiting]:
        """What was given to an annotator and waits for their answer: leases and hidden checks, the oldest first."""
        if who not in self._waiting:
            self.flush()
            self._waiting.update(ask_waiting(self.connection, {who})())
        return sorted(self._waiting[who])

    @property
    def window(self) -> Window:
        """The first open pairs."""
        if self._window is None:
            self._window = ask_window(self.connection, self.calls)()
            for which in self._changed:
                self._window.see(self._held[which])
        return self._window

    def images_ahead(self) -> set[str]:
        """The images of the first open pairs, if these were read."""
        return set() if self._window is None else self._window.images()

    # Answers

    def keep(self, row: Row) -> None:
        """Add a vote to the history."""
        self.writes += 1
        self._votes.append(tuple(row[name] for name in VOTE))

    def count(self, who: Row, now: int, active: int) -> None:
        """One more answer of an annotator, who worked so many milliseconds at it."""
        self.writes += 1
        number = who["id"]
        self._note({**who, "answers": who["answers"] + 1, "last": now})
        answers, before = self._worked.get((number, now // HOUR_MS), (0, 0))
        self._worked[number, now // HOUR_MS] = (answers + 1, before + active)

    def _note(self, row: Row) -> None:
        """Note how a person's row stands."""
        self._people[row["id"]] = self._noted[row["id"]] = row

    # Hidden checks

    def save_check(self, after: Check) -> None:
        """Note what has become of a hidden check that was read."""
        self.writes += 1
        before, who = self.checks.one(after.id), after.annotator
        if who in self._waiting and before is not None:
            self._waiting[who] = [one for one in self._waiting[who] if one[4] != before.token]
            if after.token is not None and after.since is not None and not after.answer:
                pair = (after.question, after.query, after.candidate)
                self._waiting[who].append((after.since, *pair, after.token, after.side, None))
        self.checks.save(after)

    def note_due(self, who: int, due: int | None) -> None:
        """Keep beside an annotator when their next check is due, so that giving a pair needs no look for it."""
        row = self.person(who)
        if row is not None and row["check_at"] != due:
            self.writes += 1
            self._note({**row, "check_at": due})

    # The database

    def reading(self) -> Connection:
        """The connection, for what is read in another way: it has all that was changed."""
        self.flush()
        return self.connection

    def writing(self, who: int) -> Connection:
        """The connection, for what is changed beside: of this annotator's row, checks and what waits for them."""
        self.flush()
        self.writes += 1
        self._people.pop(who, None)
        self._waiting.pop(who, None)
        self.checks.forget(who)
        return self.connection

    def flush(self) -> None:
        """Write what was changed."""
        if not (self._votes or self._changed or self._noted or self._worked or self.checks.changed):
            return
        with sent_together(self.connection):
            self._write()
        for noted in (self._votes, self._changed, self._kept, self._noted, self._worked):
            noted.clear()

    def _write(self) -> None:
        add_votes(self.connection, self._votes)
        changed = self._changed.items()
        save_all(
            self.connection,
            ((one, self._kept[one], self._held[one].question, now) for one, now in changed),
        )
        noted = self._noted.items()
        note_people(
            self.connection, [(who, row["answers"], row["last"], row["check_at"]) for who, row in noted]
        )
        add_pace(self.connection, [(*key, *more) for key, more in self._worked.items()])
        self.checks.write()


def _soon_checked(row: Row) -> bool:
    """Whether a person's next answer or the one after it may bring a hidden check."""
    return row["check_at"] is not None and row["check_at"] <= row["answers"] + 1
