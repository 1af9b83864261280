"""A history from a file beside the one that is here: what is new of each pair, and what both together lead to."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lookalike.annotate.protocol import OPEN, Outcome
from lookalike.annotate.question import Question
from lookalike.annotate.replay import ANSWERED, RULED, Event, replay
from lookalike.core.errors import VoteError
from lookalike.store.history.rows import Row
from lookalike.store.history.votes_file import Pair, VoteFile

REASONS = {  # what a rule says to who is voting, said of a file
    "answered": "an annotator answered the pair twice",
    "full": "the pair has more votes than it needs",
    "closed": "the pair was closed when this was done to it",
    "no-voter": "who proposes has not voted on the pair",
    "nothing-to-undo": "an answer is undone that was not given",
}


@dataclass(frozen=True)
class Merged:
    """What becomes of one question: its row, what is new of it, and its state once that is played."""

    question: Row
    new: tuple[Row, ...]
    after: Question


@dataclass(frozen=True)
class Here:
    """What a workspace has: each question's row, and the events of each pair in their order."""

    questions: Mapping[Pair, Row]
    events: Mapping[Pair, Sequence[Row]]


def merged(
    file: VoteFile, here: Here, number: Callable[[str], int], grace: int
) -> tuple[dict[Pair, Merged], dict[Pair, str]]:
    """What changes, pair by pair, and the reasons of pairs that cannot be merged. `number` is an annotator's id.

    A pair without a history here becomes what the file says. Where both have one, what is new in the file comes after
    what is here, as long as the rules allow it: nobody votes twice, no pair gets more votes than it needs, and one that
    is closed takes none.
    """
    changes, refusals = {}, {}
    by_pair = file.by_pair()
    for pair, asked in file.questions.items():
        if pair in file.wrong:
            continue
        try:
            found = _parts(
                asked, by_pair[pair], here.questions.get(pair), here.events.get(pair, ()), file.borrowed
            )
            if found is None:
                continue
            question, kept, new = found
            played = [_event(row, number) for row in (*kept, *new) if row.event in (*ANSWERED, *RULED)]
            ended = Outcome(question.state, question.label)
            changes[pair] = Merged(question, tuple(new), replay(played, question.needed or 0, ended, grace))
        except VoteError as error:
            refusals[pair] = REASONS.get(error.code, error.problem.rstrip("."))
    return changes, refusals


def _parts(
    asked: Row, given: Sequence[Row], known: Row | None, kept: Sequence[Row], borrowed: bool
) -> tuple[Row, Sequence[Row], list[Row]] | None:
    """The question as it is from now on, what was done to it here, and what is new; None where nothing changes."""
    new, only_here = _new(given, kept)
    if known is not None and not new and (kept or borrowed or known == asked):
        return None
    question = asked
    if known is not None and (borrowed or only_here):
        if known.state != OPEN or (asked.state != OPEN and not borrowed):
            raise VoteError("It was answered differently here and in the file", fix="", code="differs")
        question = known
    return question, kept, new


def _new(given: Sequence[Row], kept: Sequence[Row]) -> tuple[list[Row], bool]:
    """The rows that are not here yet, and whether some are here that the file lacks. A token says what is the same."""
    by_token = {row.token: row for row in kept if row.token}
    others = Counter(_plain(row) for row in kept if not row.token)
    new = []
    for row in given:
        if row.token:
            same = by_token.pop(row.token, None)
            if same is not None and _plain(same) != _plain(row):
                raise VoteError(
                    "The same answer stands here with another content", fix="", code="inconsistent"
                )
            if same is None:
                new.append(row)
        elif others[_plain(row)]:
            others[_plain(row)] -= 1
        else:
            new.append(row)
    return new, bool(by_token) or others.total() > 0


def _plain(row: Row) -> Row:
    """A row whatever the case of the annotator's name, and whichever of its images is the query."""
    low, high = row.pair
    return row._replace(who=row.who.casefold(), query=low, candidate=high)


def _event(row: Row, number: Callable[[str], int]) -> Event:
    return Event(row.event, number(row.who), row.answer, row.token, row.at or 0, row.side or 0)
