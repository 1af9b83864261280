"""A history from a file is compared with the history in a workspace: the new events of each pair, and their result."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lookalike.annotate.protocol import DISCUSSION, EXCLUDED, OPEN, SETTLED, Outcome
from lookalike.annotate.question import Question
from lookalike.annotate.replay import ANSWERED, RULED, Event, replay
from lookalike.core.errors import VoteError
from lookalike.store.history.rows import GOLD, SKIP, UNDO, VOTE, Row
from lookalike.store.history.votes_file import Pair, VoteFile

REASONS = {  # by the code of a refusal
    "answered": "an annotator answered the pair twice",
    "full": "the pair has more votes than it needs",
    "closed": "the pair was closed when this happened",
    "no-voter": "the annotator who proposes has not voted on the pair",
    "nothing-to-undo": "an undo has no earlier answer",
}


@dataclass(frozen=True)
class Merged:
    """A question that changes: its row, its new events, and its state after them."""

    question: Row
    new: tuple[Row, ...]
    after: Question
    voted: Mapping[str, str]  # the votes before that: answers by casefolded name


def merged(file: VoteFile, here: VoteFile, ids: Mapping[str, int], grace: int) -> dict[Pair, Merged]:
    """The questions that change. Pairs that cannot be merged become faults of the file.

    `ids` are of annotators by casefolded name. A pair without a history here takes that of the file. Otherwise the new
    events of the file follow those that are here, if the rules allow it: one vote per annotator, no more votes than
    needed, and none on a closed pair. Votes of a borrowed history are all kept.
    """
    changes = {}
    given, kept = file.by_pair(), here.by_pair()
    for pair, row in file.questions.items():
        if pair in file.wrong:
            continue
        had = kept.get(pair, [])
        try:
            new, only_here = _new(given[pair], had)
            known = here.questions.get(pair)
            if known is not None and not new and (had or file.borrowed or known == row):
                continue
            if known is not None and file.borrowed:
                question = _with_more_votes(known, had, new)
            else:
                question = _question(row, known, only_here)
            played = [_event(one, ids) for one in (*had, *new) if one.event in (*ANSWERED, *RULED)]
            ended = Outcome(question.state, question.label)
            after = replay(played, question.needed or 0, ended, grace)
            changes[pair] = Merged(question, tuple(new), after, live_votes(had))
        except VoteError as error:
            reason = REASONS.get(error.code, error.problem.rstrip("."))
            file.fault(row, reason, f"the pair {pair[0]!r}, {pair[1]!r}")
    return changes


def with_undone_votes(events: Sequence[Row], kept: Sequence[Row]) -> list[Row]:
    """The events of a borrowed history, where a later vote of an annotator replaces an earlier one that is here.

    The earlier vote is undone first. A vote that is older than the one here, or the same answer again, changes nothing.
    """
    live: dict[tuple[Pair, str], Row] = {}
    known = {row.token for row in kept}
    found: list[Row] = []
    for row in (*kept, *(one for one in events if one.token not in known)):
        key, is_new = (row.pair, row.who.casefold()), row.token not in known
        earlier = live.get(key)
        if row.event == UNDO and (earlier is None or row.token != f"{UNDO}:{earlier.token}"):
            continue
        if is_new and earlier is not None and row.event in (VOTE, SKIP):
            if row.event == SKIP or row.answer == earlier.answer or (row.at or 0) <= (earlier.at or 0):
                continue
            undone = row._replace(event=UNDO, answer="", place=0, took=0, reason="")
            found.append(undone._replace(token=f"{UNDO}:{earlier.token}"))
        if row.event == VOTE:
            live[key] = row
        elif row.event == UNDO:
            del live[key]
        if is_new:
            found.append(row)
    return found


def live_votes(events: Sequence[Row]) -> dict[str, str]:
    """The answers of the votes on a pair that were not undone, by casefolded name."""
    live: dict[str, str] = {}
    for row in events:
        if row.event == VOTE:
            live[row.who.casefold()] = row.answer
        elif row.event == UNDO:
            live.pop(row.who.casefold(), None)
    return live


def _with_more_votes(known: Row, had: Sequence[Row], new: Sequence[Row]) -> Row:
    """A question here that gets votes from elsewhere: all are kept, so it may need more than before.

    A pair that was resolved by its votes is resolved again from all of them, and a pair in discussion if one of its
    votes changed. A verdict of a discussion, a label from a file, and pairs without a label because of a photo or a
    check stay as they are.
    """
    before, after = live_votes(had), live_votes([*had, *new])
    more = known._replace(needed=max(known.needed or 0, len(after)))
    if after == before or not before or len(before) != known.needed:
        return more
    is_result = (known.state == SETTLED and known.label is not None) or known.state == EXCLUDED
    is_changed = any(after.get(who) != answer for who, answer in before.items())
    if not (is_result or (known.state == DISCUSSION and is_changed)) or any(
        row.event in (*RULED, GOLD) for row in had
    ):
        return more
    return more._replace(state=OPEN, label=None)


def _question(row: Row, known: Row | None, only_here: bool) -> Row:
    """The question after the import: that of the file, unless the workspace has events that the file lacks."""
    if known is None or not only_here:
        return row
    if known.state != OPEN or row.state != OPEN:
        raise VoteError("It was answered differently here and in the file", fix="", code="differs")
    return known


def _new(given: Sequence[Row], kept: Sequence[Row]) -> tuple[list[Row], bool]:
    """The events that are not here yet, and whether some here are missing in the file. Equal tokens: the same event."""
    by_token = {row.token: row for row in kept if row.token}
    others = Counter(_plain(row) for row in kept if not row.token)
    new = []
    for row in given:
        if row.token:
            same = by_token.pop(row.token, None)
            if same is not None and _plain(same) != _plain(row):
                raise VoteError("An answer differs between here and the file", fix="", code="inconsistent")
            if same is None:
                new.append(row)
        elif others[_plain(row)]:
            others[_plain(row)] -= 1
        else:
            new.append(row)
    return new, bool(by_token) or others.total() > 0


def _plain(row: Row) -> Row:
    """A row without the case of the annotator's name and the order of the two images."""
    low, high = row.pair
    return row._replace(who=row.who.casefold(), query=low, candidate=high)


def _event(row: Row, ids: Mapping[str, int]) -> Event:
    who, at, side = ids[row.who.casefold()], row.at or 0, row.side or 0
    return Event(row.event, who, row.answer, row.token, at, side, row.reason)
