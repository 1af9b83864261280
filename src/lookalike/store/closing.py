"""Questions that change their state: their labels, the count of each state, the tally of blind votes; many at once."""

from collections import Counter
from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, Table, delete, select, tuple_
from sqlalchemy.sql.expression import ClauseElement

from lookalike.annotate.protocol import DISSIMILAR, SETTLED, SIMILAR
from lookalike.annotate.question import Question
from lookalike.store import schema
from lookalike.store.listed import Dialect, all_of, as_list, as_rows, for_both, is_listed, listed
from lookalike.store.questions import Changed, save_all
from lookalike.store.votes_schema import progress, question, tally

SOURCE = "votes"  # of labels that votes have settled to
SIGNS = {SIMILAR: "+", DISSIMILAR: "-"}
Asked = Mapping[int, tuple[str, str, int, str, str]]  # query, candidate, both, kind, category of questions

_label = schema.label.c


def _new_labels(dialect: Dialect) -> ClauseElement:
    given = listed(dialect, _label.query, _label.candidate, _label.label, _label.source)
    names = ("query", "candidate", "label", "source")
    return dialect.insert(schema.label).from_select(names, all_of(dialect, given)).on_conflict_do_nothing()


def _old_labels(dialect: Dialect) -> ClauseElement:
    given = listed(dialect, _label.query, _label.candidate)
    gone = tuple_(_label.query, _label.candidate).in_(select(given.c.query, given.c.candidate))
    return delete(schema.label).where(gone, _label.source == SOURCE)


def _more(dialect: Dialect, table: Table, *key: str) -> ClauseElement:
    """So many more questions under each key."""
    given = listed(dialect, *(table.c[name] for name in key), table.c.questions)
    new = dialect.insert(table).from_select((*key, "questions"), all_of(dialect, given))
    total = table.c.questions + new.excluded.questions
    return new.on_conflict_do_update(index_elements=key, set_={"questions": total})


_ASKED = for_both(
    lambda dialect: select(
        question.c.id,
        question.c.query,
        question.c.candidate,
        question.c.both,
        question.c.kind,
        question.c.category,
    ).where(is_listed(dialect, question.c.id))
)
_LABEL, _UNLABEL = for_both(_new_labels), for_both(_old_labels)
_PROGRESS = for_both(lambda dialect: _more(dialect, progress, "kind", "state"))
_TALLY = for_both(lambda dialect: _more(dialect, tally, "category", "pattern"))


def close_all(connection: Connection, closed: Sequence[Changed]) -> Asked:
    """Write questions that change their state: their labels, and the count of each state. Returns what was asked."""
    save_all(connection, closed)
    asked = {row[0]: row[1:] for row in _ASKED.rows(connection, rows=as_list(one[0] for one in closed))}
    old: list[tuple[object, ...]] = []
    new: list[tuple[str, str, int | None]] = []
    counts: Counter[tuple[str, str]] = Counter()
    for which, before, after, _ in closed:
        query, candidate, both, kind, _ = asked[which]
        ends = ((query, candidate), (candidate, query))[: 1 + both]
        if before.state == SETTLED:
            old += ends
        if after.state == SETTLED:
            new += ((*pair, after.label) for pair in ends)
        counts[kind, before.state] -= 1
        counts[kind, after.state] += 1
    more = [(*key, count) for key, count in sorted(counts.items()) if count]
    if old:
        _UNLABEL.run(connection, rows=as_rows(old))
    label_pairs(connection, new)
    if more:
        _PROGRESS.run(connection, rows=as_rows(more))
    return asked


def label_pairs(connection: Connection, pairs: Sequence[tuple[str, str, int | None]]) -> None:
    """Write labels that votes have settled: query, candidate, label. One that is there already stays."""
    if pairs:
        _LABEL.run(connection, rows=as_rows((*pair, SOURCE) for pair in pairs))


def close(connection: Connection, which: int, before: Question, after: Question, now: int) -> None:
    """Write one question that changes its state."""
    close_all(connection, [(which, before, after, now)])


def tally_all(connection: Connection, asked: Asked, closed: Sequence[Changed]) -> None:
    """Count the blind votes of questions, as they were before anybody saw another's."""
    counts = Counter((asked[which][-1], pattern(before)) for which, before, _, _ in closed)
    _TALLY.run(connection, rows=as_rows((*key, count) for key, count in sorted(counts.items())))


def pattern(voted: Question) -> str:
    """Who voted what: "3+ 7-" is 3 similar, 7 dissimilar; ? is unsure.

    >>> from lookalike.annotate.question import Claim
    >>> votes = Claim(7, "vote", "t", 0, answer="unsure"), Claim(3, "vote", "u", 0, answer="similar")
    >>> pattern(Question(2, claims=votes))
    '3+ 7?'
    """
    votes = sorted(voted.votes, key=lambda one: one.annotator)
    return " ".join(f"{one.annotator}{SIGNS.get(one.answer, '?')}" for one in votes)
