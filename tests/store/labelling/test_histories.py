"""The store under random histories, step by step beside the pure state machine, on both databases."""

import itertools
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from shops import Shop
from sqlalchemy import select, text, update

from lookalike.annotate import question as rules
from lookalike.annotate.agreement.pace import HOUR_MS
from lookalike.annotate.protocol import ANSWERS, DISCUSSION, OPEN, SETTLED
from lookalike.annotate.question import LEASE, REOPEN, SKIP, VERDICTS, VOTE, Question
from lookalike.core.errors import AccessError, VoteError
from lookalike.store.labelling.annotators import PAUSE
from lookalike.store.labelling.closing import pattern
from lookalike.store.labelling.discussion.thread import AGAIN, add_comment, add_decision, add_proposal
from lookalike.store.labelling.queue import NewPair, add_gold
from lookalike.store.labelling.votes import Receipt
from lookalike.store.people.people import release_all
from lookalike.store.sql import labelling_schema as tables
from lookalike.store.sql import schema
from lookalike.store.sql.database import Database

PEOPLE, PAIRS = 4, 4
who = st.integers(1, PEOPLE)
which = st.integers(1, PAIRS)
older = st.sampled_from((0, 0, 0, 0, 1, 2, 5, 11))  # which of the tokens given so far: mostly the newest
labelling = st.one_of(
    st.tuples(st.just("give"), who),
    st.tuples(st.just("work"), who, st.sampled_from((*ANSWERS, SKIP, "similar"))),
    st.tuples(st.just("give_answer"), who, older, st.sampled_from((*ANSWERS, SKIP))),
    st.tuples(st.just("steal"), who, older, st.sampled_from(ANSWERS)),
    st.tuples(st.just("undo"), who, older),
    st.tuples(st.just("clock"), st.sampled_from((1, 5_000, 31_000, 700_000, -40_000))),
)
steps = st.one_of(
    st.tuples(st.just("together"), st.lists(labelling, min_size=2, max_size=8)),
    st.tuples(st.just("together"), st.lists(labelling, min_size=2, max_size=8)),
    st.tuples(st.just("give"), who),
    st.tuples(st.just("work"), who, st.sampled_from((*ANSWERS, "similar", "similar"))),
    st.tuples(st.just("work"), who, st.sampled_from((*ANSWERS, SKIP))),
    st.tuples(st.just("everybody"), st.sampled_from(ANSWERS)),
    st.tuples(st.just("give_answer"), who, older, st.sampled_from((*ANSWERS, SKIP))),
    st.tuples(st.just("steal"), who, older, st.sampled_from(ANSWERS)),
    st.tuples(st.just("undo"), who, older),
    st.tuples(st.just("clock"), st.sampled_from((1, 5_000, 31_000, 400_000, 700_000, -1, -40_000, -(10**8)))),
    st.just(("sweep",)),
    st.tuples(st.just("propose"), who, which, st.sampled_from(VERDICTS)),
    st.tuples(st.just("decide"), which, st.sampled_from((*VERDICTS, REOPEN, REOPEN))),
    st.tuples(st.just("comment"), who, which),
    st.tuples(st.just("remove"), st.integers(3, PEOPLE)),
)


class Model:
    """What the database should say, kept in memory by the pure state machine."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.questions = {n: Question(shop.rules.campaign.protocol.votes) for n in range(1, PAIRS + 1)}
        self.tokens: list[tuple[int, str]] = []
        self.history: list[tuple[int, int, str, int, str]] = []
        self.tally: Counter[str] = Counter()
        self.pace: dict[tuple[int, int], list[int]] = {}
        self.last: dict[int, int] = {}
        self.answers: Counter[int] = Counter()
        self.removed: set[int] = set()
        self.checks: dict[int, tuple[str, str, int]] = {}  # token, answer, time of the lease or of the answer
        self.verdicts: dict[int, tuple] = {}  # of each pair the last one, and when
        self.sent = 0

    def receipt(self, token: str, answer: str) -> Receipt | None:
        for _, _, kept, at, of in self.history:
            if of == token:
                if kept != answer:
                    raise rules.refused("answered")
                return Receipt(token, answer, at)
        return None

    def admit(self, annotator: int, owner: int) -> None:
        if annotator != owner:
            raise rules.refused("not-leased")
        self.present(annotator)

    def present(self, annotator: int) -> None:
        if annotator in self.removed:
            raise AccessError("", fix="", code="removed")

    def give_answer(self, annotator: int, owner: int, token: str, answer: str) -> Receipt:
        self.admit(annotator, owner)
        now, ticket = self.shop.now, self.shop.ticket(token)
        if ticket.check:
            return self.say_check(ticket.check, annotator, token, answer)
        before = self.questions[ticket.question]
        mine = before.of(annotator)
        if mine is None or (mine.kind, mine.token) != (LEASE, token):
            again = self.receipt(token, answer)
            if again is not None:
                return again
        if answer == SKIP:
            after = rules.skip(before, annotator, token, now, ticket.side)
        else:
            grace = self.shop.rules.campaign.grace
            after = rules.vote(before, annotator, token, answer, now, grace, ticket.side)
            self.count(annotator)
        self.questions[ticket.question] = after
        self.history.append((ticket.question, annotator, answer, now, token))
        return Receipt(token, answer, now)

    def say_check(self, check: int, annotator: int, token: str, given_answer: str) -> Receipt:
        now_token, answer, at = self.checks[check]
        if token != now_token:
            return Receipt(token, given_answer, self.asked(check))
        if answer and answer != given_answer:
            raise rules.refused("answered")
        if not answer:
            at = self.shop.now
            self.checks[check] = token, given_answer, at
            if given_answer != SKIP:
                self.count(annotator)
        return Receipt(token, given_answer, at)

    def asked(self, check: int) -> int:
        return self.shop.rows(select(tables.check.c.since).where(tables.check.c.id == check))[0][0]

    def count(self, annotator: int) -> None:
        now = self.shop.now
        since = now - self.last[annotator] if annotator in self.last else 0
        hour = self.pace.setdefault((annotator, now // HOUR_MS), [0, 0])
        hour[0] += 1
        hour[1] += since if 0 <= since <= PAUSE else 0
        self.last[annotator] = now
        self.answers[annotator] += 1

    def uncount(self, annotator: int, answer: str, at: int) -> None:
        if answer != SKIP:
            self.pace[annotator, at // HOUR_MS][0] -= 1

    def undo(self, annotator: int, owner: int, token: str) -> tuple[int, str]:
        """The pair that comes back, and its token if the one before is still valid, else none."""
        self.admit(annotator, owner)
        now, grace = self.shop.now, self.shop.rules.campaign.grace
        ticket = self.shop.ticket(token)
        if ticket.check:
            now_token, answer, at = self.checks[ticket.check]
            if token != now_token and not answer:
                return ticket.question, now_token
            if token != now_token or not answer:
                raise rules.refused("nothing-to-undo")
            if now - at > grace and not self.voted_pair_is_open(annotator, at):
                raise rules.refused("settled")
            return ticket.question, ""
        mine = self.questions[ticket.question].of(annotator)
        if mine is not None and mine.kind in (VOTE, SKIP) and mine.token == token:
            rules.undo(self.questions[ticket.question], annotator, "", now, now)
            return ticket.question, ""
        undone = any(of == f"undo:{token}" for *_, of in self.history)
        if not undone or mine is None or mine.kind != LEASE:
            raise rules.refused("nothing-to-undo")
        return ticket.question, mine.token

    def voted_pair_is_open(self, annotator: int, at: int) -> bool:
        """Whether the pair is open on which somebody voted before a time."""
        votes = [(one.of(annotator), number) for number, one in self.questions.items()]
        before = [
            (mine.since, number) for mine, number in votes if mine and mine.kind == VOTE and mine.since <= at
        ]
        if not before:
            return True
        one = self.questions[max(before)[1]]
        return one.state == OPEN and (one.resolves_at is None or self.shop.now <= one.resolves_at)

    def undone(self, annotator: int, token: str, fresh: str) -> None:
        ticket, now = self.shop.ticket(token), self.shop.now
        if ticket.check:
            _, answer, at = self.checks[ticket.check]
            self.uncount(annotator, answer, at)
            self.checks[ticket.check] = fresh, "", now
            return
        until = now + self.shop.rules.campaign.lease
        before = self.questions[ticket.question]
        mine = before.of(annotator)
        self.uncount(annotator, mine.answer or SKIP, mine.since)
        self.questions[ticket.question] = rules.undo(before, annotator, fresh, now, until)
        self.history.append((ticket.question, annotator, "undo", now, f"undo:{token}"))

    def given(self, annotator: int, got: tuple) -> None:
        """Follow what was given, if it may be given; nothing may be held back from one who has nothing."""
        now, campaign = self.shop.now, self.shop.rules.campaign
        for number, one in self.questions.items():
            mine = one.of(annotator)
            if one.state == OPEN and mine is not None and mine.kind == LEASE:
                if mine.since > now or mine.until - now < campaign.lease // 2:
                    self.questions[number] = rules.renew(one, annotator, now, now + campaign.lease)
                assert (number, mine.token) in {(pair.question, pair.token) for pair in got}
        for pair in got:
            ticket = self.shop.ticket(pair.token)
            assert (ticket.annotator, ticket.question) == (annotator, pair.question)
            if (annotator, pair.token) not in self.tokens:
                self.tokens.append((annotator, pair.token))
            if ticket.check:
                self.checks.setdefault(ticket.check, (pair.token, "", now))
                assert self.checks[ticket.check][:2] == (pair.token, "")
                continue
            mine = self.questions[pair.question].of(annotator)
            if mine is None or mine.kind != LEASE:
                before = self.questions[pair.question]
                after = rules.lease(before, annotator, pair.token, now, pair.until, pair.side)
                self.questions[pair.question] = after
        if not got:
            left = [one for one in self.questions.values() if one.free and one.of(annotator) is None]
            assert left == []

    def sweep(self) -> None:
        campaign = self.shop.rules.campaign
        for number, one in self.questions.items():
            expired = rules.expire(one, self.shop.now)
            after = rules.resolve(expired, campaign.protocol, self.shop.now, campaign.grace)
            if one.state != after.state:
                self.tally[pattern(expired)] += 1
            self.questions[number] = after


class Pair:
    """The database and the model, driven side by side."""

    def __init__(self, shop: Shop) -> None:
        self.shop, self.model = shop, Model(shop)

    def do(self, name: str, *rest) -> None:
        getattr(self, name)(*rest)

    def same(self, ours, theirs):
        """Both give the same, or refuse for the same reason; returns what the database gave."""
        try:
            expected = ours()
        except (VoteError, AccessError) as refusal:
            refused = refusal
        else:
            return expected, theirs()
        with pytest.raises(type(refused)) as met:
            theirs()
        assert met.value.code == refused.code
        return None, None

    def together(self, listed: list[tuple]) -> None:
        """Several steps in one transaction: what one of them changes the next one sees."""
        with self.shop.together():
            for name, *rest in listed:
                self.do(name, *rest)

    def give(self, annotator: int) -> tuple:
        _, got = self.same(lambda: self.model.present(annotator), lambda: self.shop.give(annotator))
        if got is not None:
            self.model.given(annotator, got)
        return got or ()

    def work(self, annotator: int, answer: str) -> None:
        for pair in self.give(annotator)[:1]:
            self.answered(annotator, annotator, pair.token, answer)

    def everybody(self, answer: str) -> None:
        for annotator in range(1, PEOPLE + 1):
            self.work(annotator, answer)
        self.clock(31_000)
        self.sweep()

    def answered(self, annotator: int, owner: int, token: str, answer: str) -> None:
        expected, got = self.same(
            lambda: self.model.give_answer(annotator, owner, token, answer),
            lambda: self.shop.give_answer(annotator, token, answer),
        )
        assert got == expected

    def token(self, back: int, owner: int | None) -> tuple[int, str] | None:
        known = [one for one in self.model.tokens if owner is None or one[0] == owner]
        return known[-1 - back % len(known)] if known else None

    def give_answer(self, annotator: int, back: int, answer: str) -> None:
        found = self.token(back, annotator)
        if found is not None:
            self.answered(annotator, *found, answer)

    def steal(self, annotator: int, back: int, answer: str) -> None:
        found = self.token(back, None)
        if found is not None:
            self.answered(annotator, *found, answer)

    def undo(self, annotator: int, back: int) -> None:
        found = self.token(back, annotator)
        if found is None:
            return
        expected, got = self.same(
            lambda: self.model.undo(annotator, *found), lambda: self.shop.undo(annotator, found[1])
        )
        if got is not None:
            assert got.question == expected[0]
            if expected[1]:
                assert got.token == expected[1]
            else:
                self.model.undone(annotator, found[1], got.token)
                self.model.tokens.append((annotator, got.token))

    def clock(self, more: int) -> None:
        self.shop.now += more

    def sweep(self) -> None:
        self.shop.sweep()
        self.model.sweep()

    def write(self, does, *rest):
        with self.shop.database.write() as connection:
            return does(connection, *rest, self.shop.now)

    def propose(self, annotator: int, number: int, answer: str) -> None:
        def ours():
            self.model.present(annotator)
            verdict = annotator, "proposal", answer
            self.rule(number, verdict, lambda one: rules.propose(one, annotator, answer), reader=annotator)

        self.same(ours, lambda: self.write(add_proposal, number, annotator, answer))

    def decide(self, number: int, answer: str) -> None:
        def ours():
            self.rule(number, (1, "decision", answer), lambda one: rules.decide(one, answer))

        self.same(ours, lambda: self.write(add_decision, number, 1, answer))

    def hidden(self, number: int, reader: int | None) -> bool:
        """Whether an annotator may not see a pair: it is open, they get it again, or in discussion a voter does."""
        state = self.model.questions[number].state
        columns = (tables.check.c.annotator, tables.check.c.kind)
        rows = self.shop.rows(
            select(*columns).where(tables.check.c.question == number, tables.check.c.answer == "")
        )
        again = {who for who, kind in rows if kind == "repeat" and who not in self.model.removed}
        waits = reader is not None and state == DISCUSSION and bool(again)
        return state == OPEN or waits or reader in {who for who, _ in rows}

    def rule(self, number: int, verdict: tuple, does, reader: int | None = None) -> None:
        """A verdict; the same one again within moments is a button pressed twice."""
        last, at = self.model.verdicts.get(number, (None, 0))
        if last == verdict and 0 <= self.shop.now - at <= AGAIN:
            return
        if self.hidden(number, reader):
            raise rules.refused("unknown")
        self.model.questions[number] = does(self.model.questions[number])
        self.model.verdicts[number] = verdict, self.shop.now
        self.model.sent += 1

    def comment(self, annotator: int, number: int) -> None:
        def ours():
            self.model.present(annotator)
            if self.hidden(number, annotator):
                raise rules.refused("unknown")
            self.model.sent += 1

        token = f"form {self.model.sent}"
        _, got = self.same(
            ours, lambda: self.write(add_comment, number, annotator, "'; DROP TABLE vote", token)
        )
        assert got is None

    def remove(self, annotator: int) -> None:
        with self.shop.database.write() as connection:
            gone = update(tables.annotator).where(tables.annotator.c.id == annotator)
            connection.execute(gone.values(removed=self.shop.now))
            release_all(connection, annotator, self.shop.now)
        self.model.removed.add(annotator)
        for number, one in self.model.questions.items():
            self.model.questions[number] = rules.release(one, annotator)

    def check(self) -> None:
        """Every table says what the model says."""
        with self.shop.database.read() as connection:
            found = {table.name: connection.execute(select(table)).all() for table in READ}
        self.check_questions(found)
        self.check_history(found)
        self.check_figures(found)

    def check_questions(self, found) -> None:
        model = self.model.questions
        claims = {
            (c.question, c.annotator): (c.kind, c.answer, c.token, c.since, c.until, c.side)
            for c in found["claim"]
        }
        assert claims == {
            (number, c.annotator): (c.kind, c.answer, c.token, c.since, c.until, c.side)
            for number, one in model.items()
            for c in one.claims
        }
        for row in found["question"]:
            if row.id in model:
                one = model[row.id]
                assert (row.state, row.label, row.resolves_at, row.free) == (
                    one.state,
                    one.label,
                    one.resolves_at,
                    one.free,
                )
                assert row.takers.strip(",").split(",") == [
                    str(c) for c in sorted(c.annotator for c in one.claims)
                ] or (not one.claims and row.takers == "")
        labels = {(row.query, row.candidate, row.label) for row in found["label"]}
        assert labels == {
            (f"q{number - 1}", f"c{number - 1}", one.label)
            for number, one in model.items()
            if one.state == SETTLED
        }

    def check_history(self, found) -> None:
        rows = sorted(found["vote"])
        assert [(r.question, r.annotator, r.answer, r.at, r.token) for r in rows] == self.model.history
        assert len(found["verdict"]) + len(found["comment"]) == self.model.sent
        checks = {row.id: (row.token, row.answer) for row in found["hidden_check"] if row.token}
        assert checks.items() <= {key: one[:2] for key, one in self.model.checks.items()}.items()

    def check_figures(self, found) -> None:
        model = self.model
        states = Counter({row.state: row.questions for row in found["progress"] if row.kind == "pool"})
        assert +states == Counter(one.state for one in model.questions.values())
        assert {row.pattern: row.questions for row in found["tally"]} == model.tally
        assert {(r.annotator, r.hour): [r.answers, r.active] for r in found["pace"]} == model.pace
        people = {row.id: (row.answers, row.last) for row in found["annotator"]}
        assert people == {n: (model.answers[n], model.last.get(n)) for n in range(1, PEOPLE + 1)}
        repeats = Counter(row.annotator for row in found["hidden_check"] if row.kind == "repeat")
        assert all(count <= 2 * self.shop.rules.campaign.repeats for count in repeats.values())


READ = (
    tables.claim,
    tables.question,
    tables.vote,
    tables.verdict,
    tables.comment,
    tables.check,
    tables.progress,
    tables.tally,
    tables.pace,
    tables.annotator,
    schema.label,
)


@pytest.fixture
def empty_again(database_place):
    """Makes the database empty again, for one history after another."""
    made = itertools.count()
    first = Database(database_place)
    first.migrate()
    first.close()

    def fresh():
        if isinstance(database_place, Path):
            return shutil.copy(database_place, database_place.with_name(f"{next(made)}.db"))
        names = ", ".join(f'"{table.name}"' for table in schema.tables.sorted_tables)
        database = Database(database_place)
        with database.write() as connection:
            connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY"))
        return database_place

    return lambda: Path(found) if not str(found := fresh()).startswith("postgresql") else found


PHASES = (Phase.explicit, Phase.generate)


@pytest.mark.parametrize(("protocol", "votes"), [("consensus", 2), ("majority", 3)])
def test_the_store_is_the_state_machine_after_every_step_of_any_history(
    request, empty_again, protocol, votes
):
    seen: Counter[str] = Counter()

    on_sqlite = "sqlite" in request.node.name
    few = 20 if on_sqlite else 5  # each step of PostgreSQL costs a connection

    @settings(max_examples=few, suppress_health_check=list(HealthCheck), phases=PHASES)
    @given(st.lists(steps, min_size=20, max_size=60), st.integers(0, 2**32))
    def history(listed, seed):
        campaign = {"protocol": protocol, "votes": votes, "prefetch": 2, "gold_every": 3, "repeats": 2}
        gap = {"gap_least": 1, "gap_most": 3}
        shop = Shop(empty_again(), people=PEOPLE, pairs=PAIRS, share=0.5, connections=2, **campaign, **gap)
        shop.draw.seed(seed)
        with shop.database.write() as connection:
            add_gold(connection, NewPair("g", "h", "i", "chairs", "gold", 99), "similar", "", None, shop.now)
        pair = Pair(shop)
        for name, *rest in listed:
            pair.do(name, *rest)
            pair.check()
        seen.update(one.state for one in pair.model.questions.values())
        seen.update(one[2] for one in pair.model.history)
        seen["checks"] += sum(bool(one[1]) for one in pair.model.checks.values())
        shop.database.close()

    history()
    assert not on_sqlite or {OPEN, SETTLED, "undo", SKIP, "checks", *ANSWERS} <= {
        what for what, count in seen.items() if count
    }
    if on_sqlite and protocol == "consensus":
        assert seen[DISCUSSION] > 0
