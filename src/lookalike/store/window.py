"""The first open pairs of the queue, as the calls of a unit of work leave them."""

from sqlalchemy import Connection, bindparam, select

from lookalike.store.prepared import Later, Prepared
from lookalike.store.questions import FREE, Held, takers
from lookalike.store.votes_schema import question

WINDOW = 48  # of the first open pairs one is drawn: the order differs from annotator to annotator
Pair = tuple[int, str, str]  # a question's id, query and candidate
_FIRST = Prepared(
    select(question.c.id, question.c.query, question.c.candidate, question.c.takers)
    .where(FREE)
    .order_by(question.c.place)
    .limit(bindparam("most"))
)


class Window:
    """Open pairs in the order of the queue, each with its takers; `sees_all`: there are no others."""

    def __init__(self, pairs: dict[int, tuple[Pair, str]], *, sees_all: bool) -> None:
        self._pairs, self.sees_all = pairs, sees_all

    def see(self, held: Held) -> None:
        """Let a pair be as its question has become."""
        if self.sees_all or held.which in self._pairs:
            taken = takers(one.annotator for one in held.question.claims)
            self._pairs[held.which] = ((held.which, held.query, held.candidate), taken)
            if held.question.free < 1:
                del self._pairs[held.which]

    def of(self, who: int) -> list[Pair]:
        """The first pairs that an annotator has no claim on."""
        mine = f",{who},"
        return [pair for pair, taken in self._pairs.values() if mine not in taken][:WINDOW]

    def images(self) -> set[str]:
        """The images of all these pairs."""
        return {image for (_, *ends), _ in self._pairs.values() for image in ends}


def ask_window(connection: Connection, calls: int) -> Later[Window]:
    """Send the question for as many pairs as so many calls may draw from."""
    most = WINDOW + 4 * (calls - 1)
    rows = _FIRST.ask(connection, most=most)

    def found() -> Window:
        pairs = {which: ((which, *pair), taken) for which, *pair, taken in rows()}
        return Window(pairs, sees_all=len(pairs) < most)

    return found
