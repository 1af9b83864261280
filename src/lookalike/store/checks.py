"""Hidden checks: pairs that come back to the one who answered them, and gold pairs. Never votes; they live apart."""

import random
from collections.abc import Collection

from sqlalchemy import Connection

from lookalike.annotate.campaign import Campaign
from lookalike.store import check_rows
from lookalike.store.check_rows import FIRST_TURN, GOLD, REPEAT, Check
from lookalike.store.prepared import Later

TURNS = (FIRST_TURN, FIRST_TURN + 1)


class Checks:
    """The checks that a unit of work reads and changes; after `write` the database has them so."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._found: dict[int, Check | None] = {}
        self._changed: set[int] = set()
        self._coming: dict[int, list[Check]] = {}  # of an annotator, not shown yet
        self._new: list[Check] = []  # of these, not written yet
        self._repeated: dict[int, set[int]] = {}  # the questions of an annotator that come back

    @property
    def changed(self) -> bool:
        """Whether something is to be written."""
        return bool(self._new or self._changed)

    def read(self, which: Collection[int], coming_to: Collection[int] = ()) -> Later[None]:
        """Ask for checks by their id, and for those that annotators were not shown yet; what it returns takes them."""
        ones = check_rows.ask_checks(self._connection, which) if which else dict
        coming = check_rows.ask_coming(self._connection, coming_to) if coming_to else dict

        def take() -> None:
            found = ones()
            self._found.update({one: found.get(one) for one in which})
            for who, listed in coming().items():
                self._coming[who] = listed
                self._found.update({one.id: one for one in listed})

        return take

    def one(self, which: int) -> Check | None:
        """A check as the calls have left it; None for one that does not exist."""
        if which not in self._found:
            self.read({which})()
        return self._found[which]

    def next(self, who: int) -> Check | None:
        """The next check that an annotator was not shown yet; None: none is planned."""
        coming = self._coming_of(who)
        return coming[0] if coming else None

    def due(self, who: int) -> int | None:
        """After how many answers the next check of an annotator is due."""
        coming = self._coming_of(who)
        return coming[0].due if coming else None

    def save(self, after: Check) -> None:
        """Note how a check stands that was read."""
        self._found[after.id] = after
        self._changed.add(after.id)
        who = after.annotator
        if who in self._coming:
            self._coming[who] = [one for one in self._coming[who] if one.id != after.id]

    def plan_repeats(
        self, campaign: Campaign, who: int, which: int, answers: int, draw: random.Random
    ) -> int | None:
        """Let a pair that was just answered come back twice, unless as many as the campaign wants do already.

        Returns after how many answers the first of them is due. One that came back before, and was answered again after
        it was undone, does not come back anew.
        """
        if who not in self._repeated:
            self._repeated[who] = check_rows.repeated(self._connection, who)
        mine = self._repeated[who]
        if len(mine) >= campaign.repeats or which in mine:
            return None
        mine.add(which)
        first = answers + draw.randint(*campaign.gap)
        self._add(who, which, REPEAT, TURNS[0], first)
        self._add(who, which, REPEAT, TURNS[1], first + draw.randint(*campaign.gap))
        return first

    def plan_gold(self, who: int, answers: int) -> int | None:
        """Let the next gold pair that an annotator has neither voted on nor been checked with come soon."""
        if self._awaits_writing(who):
            self.write()
        which = check_rows.next_gold(self._connection, who)
        if which is None:
            return None
        self._add(who, which, GOLD, 1, answers)
        return answers

    def forget(self, who: int) -> None:
        """Write what was changed; what an annotator's checks are is read anew."""
        self.write()
        self._found = {
            which: one for which, one in self._found.items() if one is None or one.annotator != who
        }
        self._coming.pop(who, None)
        self._repeated.pop(who, None)

    def write(self) -> None:
        """Write what was changed."""
        check_rows.add_checks(self._connection, self._new)
        changed = (self._found[one] for one in sorted(self._changed))
        check_rows.change_checks(self._connection, [one for one in changed if one is not None])
        for one in self._new:
            self._coming.pop(one.annotator, None)  # these have ids now
        self._new, self._changed = [], set()

    def _awaits_writing(self, who: int) -> bool:
        return any(one.annotator == who for one in self._new)

    def _coming_of(self, who: int) -> list[Check]:
        """What the database has of an annotator's checks that were not shown yet."""
        if self._awaits_writing(who):
            self.write()
        if who not in self._coming:
            self.read((), {who})()
        return self._coming[who]

    def _add(self, who: int, which: int, kind: str, turn: int, due: int) -> None:
        self._new.append(Check(0, who, which, kind, turn, due))
