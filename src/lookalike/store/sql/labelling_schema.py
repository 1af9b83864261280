"""The tables of labelling: questions and votes, people, discussions, guidelines, statistics.

Times are whole milliseconds since 1970 in UTC. `vote`, `verdict`, `comment` and `audit` are append-only: triggers
refuse every update and every deletion.
"""

from typing import Any

from sqlalchemy import (
    DDL,
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    event,
    text,
)

from lookalike.store.sql.schema import tables

Key = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows by itself for this type only


def _key() -> Column[int]:
    return Column("id", Key, primary_key=True)


def _time(name: str, *, needed: bool = True) -> Column[int]:
    return Column(name, BigInteger, nullable=not needed)


def _text(name: str, default: str | None = None) -> Column[str]:
    return Column(name, Text, nullable=False, server_default=default)


def _whole(name: str, default: int | None = None) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default=None if default is None else str(default))


def _of(name: str, table: str, *, needed: bool = True) -> Column[int]:
    return Column(name, Key, ForeignKey(f"{table}.id"), nullable=not needed)


def _partial(name: str, where: str, *columns: Column[Any]) -> None:
    """Index the rows that fulfil a condition."""
    Index(name, *columns, sqlite_where=text(where))


@event.listens_for(tables, "before_create")
def _as_in_sqlite(_tables: object, connection: Connection, **_options: object) -> None:
    """Give partial indexes their condition in PostgreSQL, whose dialect takes long to import."""
    if connection.dialect.name == "postgresql":
        for index in (one for table in tables.tables.values() for one in table.indexes):
            index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]


# The settings of labelling: a name and a JSON value each (annotate/campaign.py has the names).
campaign = Table("campaign", tables, Column("name", Text, primary_key=True), _text("value"))

# People

annotator = Table(
    "annotator",
    tables,
    _key(),
    _text("name"),
    Column("folded", Text, nullable=False, unique=True),  # the name casefolded: Ann and ann are one person
    _text("role"),  # annotator, lead; imported: the owner of votes from a file, who cannot log in
    _text("password", ""),  # argon2's own text
    _time("created"),
    _time("removed", needed=False),
    _whole("answers", 0),  # number of answers so far, hidden checks included
    _time("last", needed=False),  # time of the last answer
    Column("goal", Integer),  # answers a day that they want to give; null: the default
)

invite = Table(
    "invite",
    tables,
    _key(),
    Column("digest", Text, nullable=False, unique=True),  # of the secret in the link
    _text("purpose"),  # invite, reset
    _text("role"),
    _of("annotator", "annotator", needed=False),  # who sets a password; null: an invitation
    _of("by", "annotator", needed=False),  # null: the command line
    _time("at"),
    _time("until"),
    _time("used", needed=False),
)

api_token = Table(
    "api_token",
    tables,
    _key(),
    _of("annotator", "annotator"),
    Column("digest", Text, nullable=False, unique=True),
    _text("name"),
    _time("at"),
    _time("revoked", needed=False),
    _text("scope", "read"),  # see SCOPES of store/people/access.py
    Column("until", BigInteger, nullable=False, server_default="0"),
)

# Sessions of browsers that have not ended. A new password, another role and removal end all of a person.
session = Table(
    "session",
    tables,
    Column("digest", Text, primary_key=True),  # of the nonce in the cookie
    _of("annotator", "annotator"),
    _time("began"),
)
Index("session_of", session.c.annotator)

audit = Table(
    "audit",
    tables,
    _key(),
    _time("at"),
    _of("annotator", "annotator", needed=False),
    _text("action"),
    _text("subject", ""),
    _text("address", ""),
)
Index("audit_at", audit.c.at)

# Questions and answers

question = Table(
    "question",
    tables,
    _key(),
    Column("place", BigInteger, nullable=False),  # the order: the smallest place first
    _text("query"),
    _text("candidate"),
    _text("low"),  # the two images in alphabetical order: (a, b) and (b, a) are one question
    _text("high"),
    _whole("both", 0),  # 1: both directions were proposed, and the answer labels both
    _text("item"),  # of the candidate
    _text("category", ""),  # of the query
    _text("kind"),  # pool, random, chosen, gold
    _whole("needed"),
    _whole("free"),  # seats that neither a vote nor a lease holds
    _text("takers", ""),  # annotators with a claim, as ",3,7,"; equal takers make questions interchangeable
    _text("state", "open"),
    Column("label", Integer),
    _time("resolves_at", needed=False),  # all votes are in; until then a vote can be undone
    _time("changed"),
    UniqueConstraint("low", "high"),
)
_partial("question_open", "free > 0", question.c.place)
_partial("question_takers", "free > 0", question.c.takers, question.c.place)
_partial("question_due", "resolves_at IS NOT NULL", question.c.resolves_at)
Index("question_state", question.c.state, question.c.changed)

# The current claims: one row per question and annotator, so nobody can have two votes on one pair.
claim = Table(
    "claim",
    tables,
    Column("question", Key, ForeignKey("question.id"), primary_key=True),
    Column("annotator", Key, ForeignKey("annotator.id"), primary_key=True),
    _text("kind"),  # lease, vote, skip
    _text("answer", ""),
    _text("token"),  # of the lease
    _whole("side"),  # 1: the query is shown on the right
    _time("since"),
    _time("until"),  # the lease's end
    _text("reason", ""),  # of a vote: see annotate/protocol.py
)
Index("claim_mine", claim.c.annotator, claim.c.kind, claim.c.since)
_partial("claim_lease", "kind = 'lease'", claim.c.until)

# The history of all answers: append-only.
vote = Table(
    "vote",
    tables,
    _key(),
    _of("question", "question"),
    _of("annotator", "annotator"),
    _text("answer"),  # similar, dissimilar, unsure, skip, undo
    _whole("place"),  # number of answers the annotator had given before
    _whole("side"),
    _time("at"),
    _whole("took", 0),  # milliseconds between showing and answering, measured by the page
    Column("token", Text, nullable=False, unique=True),  # of the lease; for an undo "undo:" and the token
    _text("reason", ""),
)
Index("vote_of", vote.c.annotator, vote.c.id)
Index("vote_on", vote.c.question)

# Hidden checks: repeats and gold pairs. They are never votes and have their own table.
check = Table(
    "hidden_check",
    tables,
    _key(),
    _of("annotator", "annotator"),
    _of("question", "question"),
    _text("kind"),  # repeat, gold
    _whole("turn"),  # 2 and 3 for repeats (the vote was 1), 1 for gold pairs
    _whole("due"),  # the number of answers after which it is shown
    Column("token", Text, unique=True),  # of the newest lease; null until it was shown
    _whole("side", 0),
    _time("since", needed=False),
    _text("answer", ""),
    _time("at", needed=False),
    _whole("took", 0),
    _text("reason", ""),
    UniqueConstraint("annotator", "question", "kind", "turn"),
)
Index("check_due", check.c.annotator, check.c.answer, check.c.due)

# Every pair that an annotator was given, kept after its lease ends: a late answer still finds its pair.
lease = Table(
    "lease",
    tables,
    Column("token", Text, primary_key=True),  # random; pages and programs see nothing else of a lease
    _of("annotator", "annotator"),
    _of("question", "question"),
    Column("hidden_check", Key, ForeignKey("hidden_check.id", ondelete="CASCADE")),  # null: an ordinary pair
    _whole("side"),
    _time("at"),
)
_partial("lease_check", "hidden_check IS NOT NULL", lease.c.hidden_check)

gold = Table(
    "gold",
    tables,
    Column("question", Key, ForeignKey("question.id"), primary_key=True),
    _text("answer"),
    _text("note", ""),
    _of("by", "annotator", needed=False),
    _time("at"),
)

# Discussions

comment = Table(
    "comment",
    tables,
    _key(),
    _of("question", "question"),
    _of("annotator", "annotator"),
    _text("text"),
    _time("at"),
    # of the form, so that a comment sent twice is added once
    Column("token", Text, nullable=False, unique=True),
)
Index("comment_on", comment.c.question)

verdict = Table(
    "verdict",
    tables,
    _key(),
    _of("question", "question"),
    _of("annotator", "annotator"),
    _text("kind"),  # proposal, decision
    _text("verdict"),  # similar, dissimilar, exclude, reopen
    _time("at"),
)
Index("verdict_on", verdict.c.question)

# Guidelines, one row per version

guideline = Table(
    "guideline", tables, _key(), _text("text"), _of("annotator", "annotator", needed=False), _time("at")
)

example = Table(
    "example",
    tables,
    _key(),
    _text("query"),
    _text("candidate"),
    _whole("label"),
    _text("note", ""),
    _whole("place", 0),
)

# Counts that are updated with every change, so that a page about a million pairs reads a few rows.

pace = Table(  # answers and working time of each annotator in each hour
    "pace",
    tables,
    Column("annotator", Key, ForeignKey("annotator.id"), primary_key=True),
    Column("hour", Integer, primary_key=True),  # hours since 1970
    _whole("answers"),
    _whole("active"),  # milliseconds of work, without pauses
)

tally = Table(  # questions by category and blind votes: "3+ 7-" means annotator 3 similar, 7 dissimilar; ? is unsure
    "tally",
    tables,
    Column("category", Text, primary_key=True),
    Column("pattern", Text, primary_key=True),
    _whole("questions"),
)

progress = Table(  # questions by kind and state
    "progress",
    tables,
    Column("kind", Text, primary_key=True),
    Column("state", Text, primary_key=True),
    _whole("questions"),
)


def _refuse_changes(table: Table) -> None:
    """Let triggers refuse every update and deletion in a table."""
    does = {
        "sqlite": f"BEGIN SELECT RAISE(ABORT, '{table.name} is append-only'); END",
        "postgresql": "FOR EACH ROW EXECUTE FUNCTION lookalike_append_only()",
    }
    for change in ("UPDATE", "DELETE"):
        trigger = f"CREATE TRIGGER {table.name}_no_{change.lower()} BEFORE {change} ON {table.name}"
        for dialect, refuse in does.items():
            made = DDL(f"{trigger} {refuse}").execute_if(dialect=dialect)  # type: ignore[no-untyped-call]
            event.listen(table, "after_create", made)


event.listen(
    tables,
    "before_create",
    DDL(  # type: ignore[no-untyped-call]
        "CREATE OR REPLACE FUNCTION lookalike_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '%% is append-only', TG_TABLE_NAME; END $$"
    ).execute_if(dialect="postgresql"),
)
for append_only in (vote, verdict, comment, audit):
    _refuse_changes(append_only)
