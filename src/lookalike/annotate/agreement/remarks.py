"""Remarks on each annotator: what the figures show, without a cause.

Every remark is supported by an interval. A different taste is not an error: a remark is a reason to discuss the pairs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lookalike.annotate.agreement.by_group import Agreement
from lookalike.annotate.agreement.consistency import Consistency, GoldAccuracy
from lookalike.annotate.agreement.figure import Figure
from lookalike.annotate.agreement.pace import EDS_SECONDS, AnnotatorPace
from lookalike.core.text import interval, percent, percent_interval, plural

CHANCE, APART, WAVERING, GOLD, UNSURE, HASTE = "chance", "apart", "wavering", "gold", "unsure", "haste"
COIN = 0.5
FAIR = 0.4  # kappa; more is called moderate or better (Landis and Koch 1977)


@dataclass(frozen=True)
class Remark:
    """One sentence on one annotator; `kind` says which, for programs."""

    annotator: int
    kind: str
    text: str


@dataclass(frozen=True)
class AnnotatorFigures:
    """The figures of one annotator. `others` is the agreement of the others with each other."""

    name: str
    agreement: Agreement | None = None
    others: Agreement | None = None
    consistency: Consistency | None = None
    gold: GoldAccuracy | None = None
    pace: AnnotatorPace | None = None
    unsure_of_all: float = float("nan")


def remarks(people: Mapping[int, AnnotatorFigures]) -> tuple[Remark, ...]:
    """All remarks, by annotator."""
    rules = {
        CHANCE: by_chance,
        APART: apart,
        WAVERING: wavering,
        GOLD: at_gold,
        UNSURE: often_unsure,
        HASTE: hasty,
    }
    return tuple(
        Remark(annotator, kind, text)
        for annotator in sorted(people)
        for kind, rule in rules.items()
        if (text := rule(people[annotator]))
    )


def by_chance(known: AnnotatorFigures) -> str:
    """If the interval of kappa with the others includes 0 and ends below 0.4: votes may be random.

    An interval that ends higher says only that the shared pairs are too few to tell.
    """
    kappa = known.agreement["cohen"] if known.agreement is not None else None
    if kappa is None or not kappa.is_sure or kappa.low > 0 or kappa.high >= FAIR:
        return ""
    return (
        f"{known.name} agrees with the others no more than chance: kappa {kappa.value:.2f} "
        f"({interval(kappa.low, kappa.high, 2)}) on {plural(kappa.count, 'shared pair')}."
    )


def apart(known: AnnotatorFigures) -> str:
    """If the interval of agreement with the others is entirely below that of the others with each other.

    Two 95 % intervals that do not overlap are a stricter test than 5 %, because every annotator is tested.
    """
    if known.agreement is None or known.others is None:
        return ""
    own, others = known.agreement["percent"], known.others["percent"]
    if not _below(own, others):
        return ""
    return (
        f"{known.name} agrees with the others on {_percent(own)} of {plural(own.count, 'shared pair')}. The others "
        f"agree with each other on {_percent(others)}. This does not show who is right. Discuss their pairs."
    )


def wavering(known: AnnotatorFigures) -> str:
    """If self-agreement is below the agreement with the others: answers change over time."""
    if known.consistency is None or known.agreement is None:
        return ""
    own, others = known.consistency.own, known.agreement["percent"]
    if not _below(own, others):
        return ""
    return (
        f"{known.name} repeated the same answer on {_percent(own)} of {plural(own.count, 'repeated pair')}, less often "
        f"than the others gave it ({_percent(others)})."
    )


def at_gold(known: AnnotatorFigures) -> str:
    """If the interval of accuracy on gold pairs includes that of guessing."""
    correct = known.gold.correct if known.gold is not None else None
    if correct is None or not correct.is_sure or correct.count < 10 or correct.low > COIN:
        return ""
    shown = f"{_percent(correct)} of {plural(correct.count, 'gold pair')}"
    return f"{known.name} was correct on {shown}. Guessing cannot be ruled out."


def often_unsure(known: AnnotatorFigures) -> str:
    """If the interval of the share of unsure votes is entirely above twice that of all annotators."""
    unsure = known.agreement.unsure if known.agreement is not None else None
    if unsure is None or not unsure.is_sure or not unsure.low > 2 * known.unsure_of_all:
        return ""
    return (
        f"{known.name} was unsure on {_percent(unsure)} of {plural(unsure.count, 'pair')}; all annotators together "
        f"on {percent(known.unsure_of_all, 0)}."
    )


def hasty(known: AnnotatorFigures) -> str:
    """If an answer takes less than a fifth of the 15 s that EDS assumes."""
    if known.pace is None or not known.pace.per_hour.is_sure:
        return ""
    if not known.pace.per_hour.low > 5 * 3600 / EDS_SECONDS:
        return ""
    return f"{known.name} takes {known.pace.seconds:.1f} s per pair. The papers assume 15 s or more."


def _below(own: Figure, others: Figure) -> bool:
    return own.is_sure and others.is_sure and own.high < others.low


def _percent(found: Figure) -> str:
    return f"{percent(found.value, 0)} ({percent_interval(found.low, found.high)})"
