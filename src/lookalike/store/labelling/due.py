"""What is due at a time: leases that end, and pairs whose votes are resolved.

A server applies due changes every second. Without a server, labels that are read include those that are due, and
nothing is written.
"""

from collections.abc import Iterable

from sqlalchemy import Connection, bindparam, select, union_all

from lookalike.annotate.campaign import Campaign
from lookalike.annotate.protocol import OPEN
from lookalike.annotate.question import SKEW, expire, resolve
from lookalike.core.clock import now_ms
from lookalike.core.types import Labels
from lookalike.store.labelling.campaigns import Rules, read_campaign, rules_of
from lookalike.store.labelling.closing import LabelledPair, close, existing_labels, labels_of, tally_votes
from lookalike.store.labelling.leases import LEASED
from lookalike.store.labelling.questions import Held, Transition, hold, read, save
from lookalike.store.sql.database import Database
from lookalike.store.sql.labelling_schema import claim, question
from lookalike.store.sql.rows import read_labels

MANY = 500


def apply_due(connection: Connection, rules: Rules, now: int, most: int = MANY) -> int:
    """End due leases and resolve due pairs, at most `most` of each. Returns how many."""
    return _end_leases(connection, now, most) + _resolve(connection, rules, now, most)


def apply_all_due(database: Database) -> None:
    """Apply everything that is due, as a running server does every second."""
    now = now_ms()
    while True:
        with database.read() as connection:
            rules = rules_of(connection)
            if not _due(connection, rules.campaign.grace, now):
                return
        with database.write() as connection:
            if apply_due(connection, rules, now) < MANY:
                return


def labels_now(connection: Connection) -> Labels:
    """All labels in the order they came, then those that are due but not written yet. Nothing is written."""
    found, due = read_labels(connection), due_labels(connection)
    if not due:
        return found
    columns = (found.query, found.candidate, found.label)
    return Labels.of(*([*had, *new] for had, new in zip(columns, zip(*due, strict=True), strict=True)))


def due_labels(connection: Connection) -> list[LabelledPair]:
    """The labels that applying what is due would add, in the order of their questions."""
    campaign, now, found = read_campaign(connection), now_ms(), []
    due = _due(connection, campaign.grace, now)
    for first in range(0, len(due), MANY):
        changes = _resolved(read(connection, due[first : first + MANY]), campaign, now)
        new = dict.fromkeys(label for held, after in changes for label in labels_of(held, after))
        written = existing_labels(connection, new)
        found += [label for label in new if label not in written]
    return found


def _end_leases(connection: Connection, now: int, most: int) -> int:
    ended = connection.execute(_ENDED.limit(most), {"now": now, "soon": now + SKEW})
    held = hold(connection, sorted(set(ended.scalars())), wait=False)
    stepped = (Transition(one, expire(one.question, now)) for one in held)
    changes = [change for change in stepped if change.after != change.held.question]
    save(connection, changes, now)
    return len(changes)


def _resolve(connection: Connection, rules: Rules, now: int, most: int) -> int:
    due = _due(connection, rules.campaign.grace, now, most)
    changes = _resolved(hold(connection, due, wait=False), rules.campaign, now)
    close(connection, changes, now)
    tally_votes(connection, changes)
    return len(changes)


def _due(connection: Connection, grace: int, now: int, most: int = -1) -> list[int]:
    """Questions whose votes are due to be resolved, also those that wait too long because the clock was set back."""
    statement = _DUE if most < 0 else _DUE.limit(most)
    return sorted(connection.execute(statement, {"now": now, "latest": now + grace + SKEW}).scalars())


def _resolved(found: Iterable[Held], campaign: Campaign, now: int) -> list[Transition]:
    """What the votes are resolved to, of those questions for which it is time."""
    stepped = (
        Transition(one, resolve(one.question, campaign.protocol, now, campaign.grace)) for one in found
    )
    return [change for change in stepped if change.after.state != OPEN]


_ENDED = union_all(  # two ranges that each use an index, so that the number of pairs does not matter
    select(claim.c.question).where(LEASED, claim.c.until < bindparam("now")),
    select(claim.c.question).where(LEASED, claim.c.until >= 0, claim.c.since > bindparam("soon")),
)
_DUE = union_all(
    select(question.c.id).where(question.c.resolves_at <= bindparam("now")),
    select(question.c.id).where(question.c.resolves_at > bindparam("latest")),
)
