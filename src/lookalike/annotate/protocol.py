"""How the votes on one pair become its label: consensus (VSD 3) and majority (EDS 3)."""

from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.core.checks import at_least, one_of

SIMILAR, DISSIMILAR, UNSURE = "similar", "dissimilar", "unsure"
ANSWERS = (SIMILAR, DISSIMILAR, UNSURE)
REASONS = ("colour", "shape", "material", "ornament")  # for an answer; annotators can also write a line
LONGEST_REASON = 200
LABELS = {SIMILAR: 1, DISSIMILAR: 0}
OPEN, DISCUSSION, SETTLED, EXCLUDED = "open", "discussion", "settled", "excluded"
STATES = (OPEN, DISCUSSION, SETTLED, EXCLUDED)
PROTOCOLS = ("consensus", "majority")


@dataclass(frozen=True)
class Outcome:
    """The state of a pair after its votes, and its label if it is settled."""

    state: str
    label: int | None = None


@dataclass(frozen=True)
class Protocol:
    """The number of experts who judge each pair, and the rule that turns their votes into a label.

    consensus: at least n experts judge each pair (VSD 3: two). If they do not all give the same definite answer, the
    pair goes to discussion. majority: all E experts judge each pair. "Unsure" is an abstention and ties are negative
    (EDS 3). A pair on which all abstained is excluded, because an unjudged pair is never negative.

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
        """The outcome of the answers of all experts that a pair needs."""
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


def reason_of(text: str) -> str:
    """A reason in one line. One of `REASONS` is written as there.

    >>> reason_of(" Colour "), reason_of("the legs\\n differ")
    ('colour', 'the legs differ')
    """
    line = " ".join(text.split())[:LONGEST_REASON].rstrip()
    return line.casefold() if line.casefold() in REASONS else line
