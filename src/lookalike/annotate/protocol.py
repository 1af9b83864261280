"""What the votes on one pair settle to: consensus (VSD 3) and majority (EDS 3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.core.checks import at_least, one_of

SIMILAR, DISSIMILAR, UNSURE = "similar", "dissimilar", "unsure"
ANSWERS = (SIMILAR, DISSIMILAR, UNSURE)
LABELS = {SIMILAR: 1, DISSIMILAR: 0}
OPEN, DISCUSSION, SETTLED, EXCLUDED = "open", "discussion", "settled", "excluded"
STATES = (OPEN, DISCUSSION, SETTLED, EXCLUDED)
PROTOCOLS = ("consensus", "majority")


@dataclass(frozen=True)
class Outcome:
    """The state that a pair's votes lead to, and its label where it is settled."""

    state: str
    label: int | None = None


@dataclass(frozen=True)
class Protocol:
    """How many experts judge each pair, and what their votes make of it.

    consensus: each pair by at least n experts (VSD 3: two); where they do not all give the same definite answer, the
    pair goes to discussion. majority: each pair by all E experts; an "unsure" is an abstention, ties are negative
    (EDS 3), and a pair on which all abstained is excluded: what nobody judged is never negative.

    >>> Protocol("consensus", 2).outcome(["similar", "similar"])
    Outcome(state='settled', label=1)
    >>> Protocol("consensus", 2).outcome(["similar", "unsure"])
    Outcome(state='discussion', label=None)
    >>> Protocol("majority", 2).outcome(["similar", "dissimilar"])
    Outcome(state='settled', label=0)
    """

    name: str = "consensus"
    votes: int = 2

    def __post_init__(self) -> None:
        one_of(self.name, PROTOCOLS, "protocol")
        at_least(self.votes, 1, "votes")

    def outcome(self, answers: Sequence[str]) -> Outcome:
        """What the answers of all who were needed settle to."""
        if self.name == "consensus":
            return _consensus(answers)
        return _majority(answers)


def _consensus(answers: Sequence[str]) -> Outcome:
    distinct = set(answers)
    if len(distinct) == 1 and distinct <= LABELS.keys():
        return Outcome(SETTLED, LABELS[answers[0]])
    return Outcome(DISCUSSION)


def _majority(answers: Sequence[str]) -> Outcome:
    for_it, against = answers.count(SIMILAR), answers.count(DISSIMILAR)
    if not for_it + against:
        return Outcome(EXCLUDED)
    return Outcome(SETTLED, int(for_it > against))
