"""What the figures say of each annotator, in careful words: what is shown, never why.

A remark is made only where an interval carries it. People whose taste differs are no worse for it: a remark is a reason
to talk, over the pairs themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lookalike.annotate.agreement import Agreement
from lookalike.annotate.consistency import Consistency, Gold
from lookalike.annotate.figure import Figure
from lookalike.annotate.pace import EDS_SECONDS, Pace

CHANCE, APART, WAVERING, GOLD, UNSURE, HASTE = "chance", "apart", "wavering", "gold", "unsure", "haste"
COIN = 0.5


@dataclass(frozen=True)
class Remark:
    """One sentence on one annotator; `kind` says which, for programs."""

    annotator: int
    kind: str
    text: str


@dataclass(frozen=True)
class Known:
    """What is known of one annotator; `others` is the agreement among the others on their own pairs."""

    name: str
    agreement: Agreement | None = None
    others: Agreement | None = None
    consistency: Consistency | None = None
    gold: Gold | None = None
    pace: Pace | None = None
    unsure_of_all: float = float("nan")


def remarks(people: Mapping[int, Known]) -> tuple[Remark, ...]:
    """All remarks, by annotator."""
    return tuple(
        Remark(annotator, kind, text)
        for annotator in sorted(people)
        for kind, text in (
            (CHANCE, by_chance(people[annotator])),
            (APART, apart(people[annotator])),
            (WAVERING, wavering(people[annotator])),
            (GOLD, at_gold(people[annotator])),
            (UNSURE, often_unsure(people[annotator])),
            (HASTE, hasty(people[annotator])),
        )
        if text
    )


def by_chance(known: Known) -> str:
    """Where kappa with the others may be 0: their votes cannot be told from votes by chance."""
    kappa = known.agreement["cohen"] if known.agreement is not None else None
    if kappa is None or not kappa.is_sure or kappa.low > 0:
        return ""
    return (
        f"These votes do not show that {known.name} agrees with the others more often than chance: kappa "
        f"{_decimal(kappa)} on {kappa.count:,} shared pairs."
    )


def apart(known: Known) -> str:
    """Where the interval of agreement with the others lies wholly below that of the others among themselves.

    Two 95 % intervals that do not touch are a stricter test than 5 %, which leaves room for looking at everybody.
    """
    if known.agreement is None or known.others is None:
        return ""
    own, others = known.agreement["percent"], known.others["percent"]
    if not (own.is_sure and others.is_sure and own.high < others.low):
        return ""
    return (
        f"{known.name} agrees with the others on {_percent(own)} of {own.count:,} shared pairs, the others among "
        f"themselves on {_percent(others)} of theirs. Neither is right for that; look at their pairs together."
    )


def wavering(known: Known) -> str:
    """Where a person agrees with themselves no more than with the others: their answers change from time to time."""
    if known.consistency is None or known.agreement is None:
        return ""
    own, others = known.consistency.own, known.agreement["percent"]
    if not (own.is_sure and others.is_sure and own.high < others.low):
        return ""
    return (
        f"{known.name} gave the same answer again {_percent(own)} of the time over {own.count:,} repeated pairs, less "
        f"than they agree with the others ({_percent(others)})."
    )


def at_gold(known: Known) -> str:
    """Where the interval of accuracy on gold pairs reaches down to a coin's."""
    right = known.gold.right if known.gold is not None else None
    if right is None or not right.is_sure or right.count < 10 or right.low > COIN:
        return ""
    return (
        f"On gold pairs {known.name} was right {_percent(right)} of {right.count:,} times, which does not rule out "
        "guessing."
    )


def often_unsure(known: Known) -> str:
    """Where the share of unsure votes lies wholly above twice that of everybody."""
    unsure = known.agreement.unsure if known.agreement is not None else None
    if unsure is None or not unsure.is_sure or not unsure.low > 2 * known.unsure_of_all:
        return ""
    return (
        f"{known.name} was unsure of {_percent(unsure)} of {unsure.count:,} pairs, everybody together of "
        f"{100 * known.unsure_of_all:.0f} %."
    )


def hasty(known: Known) -> str:
    """Where an answer takes under a fifth of the 15 s that EDS reckons with."""
    if known.pace is None or not known.pace.per_hour.is_sure:
        return ""
    if not known.pace.per_hour.low > 5 * 3600 / EDS_SECONDS:
        return ""
    return f"{known.name} takes {known.pace.seconds:.1f} s for a pair; the papers reckon with 15 s and more."


def _percent(found: Figure) -> str:
    return f"{100 * found.value:.0f} % [{100 * found.low:.0f}, {100 * found.high:.0f}]"


def _decimal(found: Figure) -> str:
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
