"""Small workspaces on either database, and people who label in them at random, for tests of what goes in and out."""

import random
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update

from lookalike.annotate import question as rules
from lookalike.annotate.protocol import ANSWERS, DISCUSSION, OPEN, Protocol
from lookalike.catalog.read import catalog_from
from lookalike.core.errors import VoteError
from lookalike.store.settings import WorkspaceSettings
from lookalike.store.sql.labelling_schema import (
    annotator,
    check,
    claim,
    comment,
    gold,
    question,
    verdict,
    vote,
)
from lookalike.store.workspace import Workspace

IMAGES = 24
NAMES = ("Ann", 'Béla, the "third"', "=Cy\nline")  # what a table's quoting has to bear


def shop(folder: Path, place: Path | str, *, images: int = IMAGES) -> Workspace:
    """A workspace of vectors only, its database where a test wants it."""
    table = {
        "image": [f"i{n:02d}.jpg" for n in range(images)],
        "item": [f"item {n // 2}" for n in range(images)],
        "category": [("bowl", "box, large")[n % 2] for n in range(images)],
        "colour": ["red" if n % 3 else "blue" for n in range(images)],
    }
    settings = WorkspaceSettings("a table", "", database=place if isinstance(place, str) else "")
    return Workspace.create(folder, catalog_from(table, seed=0).catalog, settings)


class Team:
    """People who answer, skip, undo, discuss and decide at random: rows as the state machine gives them."""

    def __init__(self, connection: Connection, seed: int, *, questions: int = 20, needed: int = 2) -> None:
        self.connection, self.random, self.needed = connection, random.Random(seed), needed
        self.now = 1_760_000_000_123
        self.turn = 0
        self.people = [self._person(name) for name in NAMES]
        self.questions = [self._ask(n) for n in range(questions)]
        self.states = {which: rules.Question(needed) for which in self.questions}

    def _insert(self, table: Any, **row: Any) -> int:
        made = self.connection.execute(insert(table).values(**row))
        return int(made.inserted_primary_key[0])

    def _person(self, name: str) -> int:
        return self._insert(
            annotator,
            name=name,
            folded=name.casefold(),
            role="annotator",
            password="$argon2$secret",
            created=1,
        )

    def _ask(self, n: int) -> int:
        query, candidate = (
            f"i{(7 * n + 3) % IMAGES:02d}.jpg",
            f"i{(7 * n + 3 + 2 + n // IMAGES) % IMAGES:02d}.jpg",
        )
        low, high = sorted((query, candidate))
        return self._insert(
            question, place=(5 * n) % 17, query=query, candidate=candidate, low=low, high=high, both=n % 2,
            item=f"item {n}", category="bowl", kind=("pool", "random", "gold")[n % 3], needed=self.needed,
            free=self.needed, changed=1,
        )  # fmt: skip

    def step(self) -> None:
        """One action of one person; an action that the rules refuse changes nothing."""
        self.turn += 1
        self.now += self.random.choice((-500, 0, 1, 700, 40_000))
        which, who = self.random.choice(self.questions), self.random.choice(self.people)
        does = self.random.choice(
            ("vote", "vote", "vote", "skip", "undo", "resolve", "propose", "decide", "say", "check")
        )
        try:
            getattr(self, f"_{does}")(which, who)
        except VoteError:
            return

    def _vote(self, which: int, who: int) -> None:
        answer, token = self.random.choice(ANSWERS), f"lease-{self.turn}"
        side = self.turn % 2
        state = rules.lease(self.states[which], who, token, self.now, self.now + 1000, side)
        reason = ("", "colour", 'the "legs", and')[self.turn % 3]
        self._keep(which, rules.vote(state, who, token, answer, self.now, 0, reason=reason))
        self._row(which, who, answer, token, side, reason)

    def _skip(self, which: int, who: int) -> None:
        token = f"skip-{self.turn}"
        if self.states[which].state == OPEN:
            self._keep(which, rules.skip(self.states[which], who, token, self.now))
            self._row(which, who, "skip", token, 0)

    def _undo(self, which: int, who: int) -> None:
        token = f"undo-{self.turn}"
        state = rules.undo(self.states[which], who, token, self.now, self.now - 1)
        self._keep(which, rules.expire(state, self.now + 10**9))
        self._row(which, who, "undo", token, 0)

    def _resolve(self, which: int, _: int) -> None:
        self._keep(
            which, rules.resolve(self.states[which], Protocol("consensus", self.needed), self.now + 10**9, 0)
        )

    def _propose(self, which: int, who: int) -> None:
        answer = self.random.choice(rules.VERDICTS)
        self._keep(which, rules.propose(self.states[which], who, answer))
        self._insert(verdict, question=which, annotator=who, kind="proposal", verdict=answer, at=self.now)

    def _decide(self, which: int, who: int) -> None:
        answer = self.random.choice((*rules.VERDICTS, rules.REOPEN))
        self._keep(which, rules.decide(self.states[which], answer))
        self._insert(verdict, question=which, annotator=who, kind="decision", verdict=answer, at=self.now)

    def _say(self, which: int, who: int) -> None:
        if self.states[which].state == DISCUSSION:
            words = self.random.choice(
                ('the "legs", differ', "a\nb\r\nc", " spaced ", "ünïcode 🪑", "'); DROP")
            )
            self._insert(
                comment, question=which, annotator=who, text=words, at=self.now, token=f"say-{self.turn}"
            )

    def _check(self, which: int, who: int) -> None:
        found = self.connection.execute(
            select(check.c.id).where(check.c.question == which, check.c.annotator == who)
        ).first()
        if found is None and self.states[which].of(who) is not None:
            self._insert(
                check, annotator=who, question=which, kind="repeat", turn=2, due=self.turn, token=f"check-{self.turn}",
                side=1, since=self.now - 5, answer=self.random.choice(ANSWERS), at=self.now, took=5,
                reason="shape",
            )  # fmt: skip
            if (
                self.connection.execute(select(gold.c.question).where(gold.c.question == which)).first()
                is None
            ):
                self._insert(gold, question=which, answer="similar", note="plain", by=who, at=self.now)

    def _row(self, which: int, who: int, answer: str, token: str, side: int, reason: str = "") -> None:
        self._insert(
            vote, question=which, annotator=who, answer=answer, place=self.turn, side=side, at=self.now, took=7,
            token=token, reason=reason,
        )  # fmt: skip
        self.connection.execute(
            update(annotator)
            .where(annotator.c.id == who)
            .values(answers=annotator.c.answers + 1, last=self.now)
        )

    def _keep(self, which: int, after: rules.Question) -> None:
        after = rules.expire(after, self.now + 10**9)
        self.states[which] = after
        self.connection.execute(claim.delete().where(claim.c.question == which))
        for one in after.claims:
            self.connection.execute(
                insert(claim).values(
                    question=which, annotator=one.annotator, kind=one.kind, answer=one.answer, token=one.token,
                    side=one.side, since=one.since, until=one.until, reason=one.reason,
                )
            )  # fmt: skip
        takers = ",".join(str(one.annotator) for one in sorted(after.claims, key=lambda one: one.annotator))
        self.connection.execute(
            update(question)
            .where(question.c.id == which)
            .values(
                state=after.state, label=after.label, free=after.free, resolves_at=after.resolves_at,
                takers=f",{takers}," if takers else "", changed=self.now,
            )
        )  # fmt: skip


def live_votes(connection: Connection) -> set[tuple[str, ...]]:
    """The current state, in words that mean the same in every workspace."""
    live = (claim.c.answer, claim.c.side, claim.c.reason)
    found = connection.execute(
        select(question.c.query, question.c.candidate, annotator.c.name, *live)
        .join_from(claim, question)
        .join(annotator, annotator.c.id == claim.c.annotator)
        .where(claim.c.kind == "vote")
    )
    return {tuple(map(str, row)) for row in found}


def states(connection: Connection) -> set[tuple[str, ...]]:
    """Every question with its state, label and free seats."""
    columns = (question.c.query, question.c.candidate, question.c.state, question.c.label, question.c.free)
    return {tuple(map(str, row)) for row in connection.execute(select(*columns))}
