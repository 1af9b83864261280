"""The labelling: questions, claims and votes, people, discussions, guidelines, figures."""

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

tables = MetaData()  # as they were made by this step; store/votes_schema.py has them as they are now
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


campaign = Table("campaign", tables, Column("name", Text, primary_key=True), _text("value"))

# People

annotator = Table(
    "annotator",
    tables,
    _key(),
    _text("name"),
    Column("folded", Text, nullable=False, unique=True),  # the name casefolded: Ann and ann are one person
    _text("role"),  # annotator, lead; imported: of votes that came from a file, nobody logs in as them
    _text("password", ""),  # argon2's own text
    _whole("epoch", 0),  # a session of an earlier epoch has ended
    _time("created"),
    _time("removed", needed=False),
    _whole("answers", 0),  # how many they have given, checks included: the place of the next one
    Column("check_at", Integer),  # after so many answers the next hidden check is due
    _time("last", needed=False),  # when they last answered
)

invite = Table(
    "invite",
    tables,
    _key(),
    Column("digest", Text, nullable=False, unique=True),  # of the secret in the link
    _text("purpose"),  # invite, reset
    _text("role"),
    _of("annotator", "annotator", needed=False),  # whose password is to be set
    _of("by", "annotator", needed=False),  # none: at the command line
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
)

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
    Column("place", BigInteger, nullable=False),  # small ones are asked first
    _text("query"),
    _text("candidate"),
    _text("low"),  # the two images in order: (a, b) and (b, a) are one question
    _text("high"),
    _whole("both", 0),  # 1: both directions were put forward, the answer is a label of both
    _text("item"),  # of the candidate
    _text("category", ""),  # of the query
    _text("kind"),  # pool, random, chosen, gold
    _whole("needed"),
    _whole("free"),  # seats that neither a vote nor a lease holds
    _text(
        "takers", ""
    ),  # who has a claim on it, as ",3,7,"; questions with the same takers are interchangeable
    _text("state", "open"),
    Column("label", Integer),
    _time("settles", needed=False),  # all votes are in; until then the last one may be undone
    _time("changed"),
    UniqueConstraint("low", "high"),
)
Index(
    "question_open",
    question.c.place,
    sqlite_where=text("free > 0"),
    postgresql_where=text("free > 0"),
)
Index(
    "question_takers",
    question.c.takers,
    question.c.place,
    sqlite_where=text("free > 0"),
    postgresql_where=text("free > 0"),
)
Index(
    "question_due",
    question.c.settles,
    sqlite_where=text("settles IS NOT NULL"),
    postgresql_where=text("settles IS NOT NULL"),
)
Index("question_state", question.c.state, question.c.changed)

# What stands now: one row per question and annotator, so that nobody can have two votes on one pair.
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
)
Index("claim_mine", claim.c.annotator, claim.c.kind, claim.c.since)
Index(
    "claim_lease",
    claim.c.until,
    sqlite_where=text("kind = 'lease'"),
    postgresql_where=text("kind = 'lease'"),
)

# What ever happened: append-only.
vote = Table(
    "vote",
    tables,
    _key(),
    _of("question", "question"),
    _of("annotator", "annotator"),
    _text("answer"),  # similar, dissimilar, unsure, skip, undo
    _whole("place"),  # how many answers they had given before
    _whole("side"),
    _time("at"),
    _whole("took", 0),  # milliseconds from showing to answering, as the page measured it
    Column("token", Text, nullable=False, unique=True),  # of the lease; an undo has its own
)
Index("vote_of", vote.c.annotator, vote.c.id)
Index("vote_on", vote.c.question)

# Hidden checks: repeats and gold pairs. Never votes; they live apart.
check = Table(
    "hidden_check",
    tables,
    _key(),
    _of("annotator", "annotator"),
    _of("question", "question"),
    _text("kind"),  # repeat, gold
    _whole("turn"),  # of repeats 2, 3: the vote was the first; of gold pairs 1
    _whole("due"),  # after so many answers
    Column("token", Text, unique=True),  # once shown
    _whole("side", 0),
    _time("since", needed=False),
    _text("answer", ""),
    _time("at", needed=False),
    _whole("took", 0),
    UniqueConstraint("annotator", "question", "kind", "turn"),
)
Index("check_due", check.c.annotator, check.c.answer, check.c.due)

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
    Column("token", Text, nullable=False, unique=True),  # of the form: sent twice, it is there once
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

# Figures kept while votes come in, so that a page over a million pairs needs no walk over them.

pace = Table(  # how many answers each gave in each hour, and how long they worked at them
    "pace",
    tables,
    Column("annotator", Key, ForeignKey("annotator.id"), primary_key=True),
    Column("hour", Integer, primary_key=True),  # hours since 1970
    _whole("answers"),
    _whole("active"),  # milliseconds, pauses left out
)

tally = Table(  # how many questions of a category got which blind votes: "3+ 7-" is 3 similar, 7 dissimilar, ? unsure
    "tally",
    tables,
    Column("category", Text, primary_key=True),
    Column("pattern", Text, primary_key=True),
    _whole("questions"),
)

progress = Table(  # how many questions are in each state
    "progress",
    tables,
    Column("kind", Text, primary_key=True),
    Column("state", Text, primary_key=True),
    _whole("questions"),
)


def upgrade() -> None:
    """Create the tables, and the triggers that keep history as it was written."""
    bind = op.get_bind()
    tables.create_all(bind, checkfirst=False)
    postgresql = bind.dialect.name == "postgresql"
    if postgresql:
        op.execute(
            "CREATE FUNCTION lookalike_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
        )
    for table in APPEND_ONLY:
        for event in ("UPDATE", "DELETE"):
            name = f"{table}_no_{event.lower()}"
            does = (
                "FOR EACH ROW EXECUTE FUNCTION lookalike_append_only()"
                if postgresql
                else f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )
            op.execute(f"CREATE TRIGGER {name} BEFORE {event} ON {table} {does}")


def downgrade() -> None:
    """Take all of it away, votes too."""
    bind = op.get_bind()
    tables.drop_all(bind)
    if bind.dialect.name == "postgresql":
        op.execute("DROP FUNCTION lookalike_append_only")


APPEND_ONLY = ("vote", "verdict", "comment", "audit")
