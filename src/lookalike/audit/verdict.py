"""The verdict: which measure can be trusted for which encoder here, because of what, in words for anyone (SPEC 8)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

from lookalike.audit.trust import KINDS, Trust, trust
from lookalike.evaluate.compare import Comparison
from lookalike.evaluate.sentence import settled

CANNOT_TELL = "cannot tell"
STEADY, MOSTLY_DISSIMILAR = 0.9, 0.4
WORST_FIRST = ("not to be trusted", "unknown", "with care", "trusted")
LOWER = {"trusted": "with care", "with care": "not to be trusted"}
FLATTERED = (
    "Under 40 % of the labels are similar. DCS charges encoders that fed the pool for their judged mistakes, and on "
    "such labels it was wrong more often than the calibration says, so its word is one lower."
)


@dataclass(frozen=True)
class Order:
    """One measure's order of an encoder and another: `ahead` says which way, `separated` whether its test is sure.

    `trust` is how often such an order was right on pools like this one.
    """

    other: str
    ahead: bool
    separated: bool
    trust: Trust


@dataclass(frozen=True)
class Verdict:
    """What one measure's claims about one encoder are worth here.

    A claim is an order that the measure's own test is sure of. `word` is that of the worst claim: "not to be trusted",
    "unknown" (nothing like it was simulated), "with care" or "trusted" (of such claims at least .80 or .95 were right
    on pools like this one, at the lower bound); "cannot tell" where there is no claim. `right` is the share of claims
    like the worst one that were right (NaN where the calibration does not say, or says too much). `because` are
    sentences about the encoder, `of_measure` about the measure on these labels.
    """

    measure: str
    encoder: str
    word: str
    right: float
    orders: tuple[Order, ...]
    because: tuple[str, ...]
    of_measure: tuple[str, ...]

    @property
    def against(self) -> tuple[str, ...]:
        """The encoders that the worst claims are about; none where all claims are alike."""
        worst = [claim.other for claim in self.claims if claim.trust.share == self.right]
        return tuple(worst) if 0 < len(worst) < len(self.claims) else ()

    @property
    def else_word(self) -> str:
        """The word for the claims about the others, where the worst are about some only; "" where all are alike."""
        rest = [claim.trust.word for claim in self.claims if claim.other not in self.against]
        return min(rest, key=WORST_FIRST.index) if self.against and rest else ""

    @property
    def claims(self) -> tuple[Order, ...]:
        """The orders that the measure's own test is sure of."""
        return tuple(order for order in self.orders if order.separated)


@dataclass(frozen=True)
class Steadiness:
    """The least Spearman correlation of a measure's scores with those after one generator's labels were left out."""

    measure: str
    least: float
    omitted: str
    encoders: int


def verdicts(
    comparisons: Sequence[Comparison],
    coverage: Mapping[str, float],
    generators: Collection[str] | None,
    *,
    k: int = 5,
    steadiness: Mapping[str, Steadiness] | None = None,
    alone: Mapping[str, float] | None = None,
    similar: float = nan,
) -> tuple[Verdict, ...]:
    """A verdict for every measure and encoder compared.

    `generators` fed the pool; None where that is not known, and then every word is "unknown". `coverage` is each
    encoder's coverage@K, `alone` the share of the labelled pairs that a generator alone put forward, `similar` the
    share of positives among the labels: the calibration is too kind to DCS where it is under .4 (docs/bias.md), so
    its word is one lower there and has no share.
    """
    by_measure: dict[str, list[Comparison]] = {}
    for one in comparisons:
        by_measure.setdefault(one.measure, []).append(one)
    found = []
    for measure, ones in by_measure.items():
        for encoder in dict.fromkeys(name for one in ones for name in one.encoders):
            orders = tuple(
                _order(one if one.encoders[0] == encoder else one.swapped, coverage, generators)
                for one in ones
                if encoder in one.encoders and not isnan(one.difference)
            )
            said, right = _claims(orders)
            of_measure = []
            steady = (steadiness or {}).get(measure)
            if steady is not None and not isnan(steady.least):
                of_measure.append(_steady(steady))
            if _is_flattered(measure, similar):
                said, right = LOWER.get(said, said), nan
                of_measure.append(FLATTERED)
            because = _because(encoder, coverage, generators, k, alone or {})
            found.append(Verdict(measure, encoder, said, right, orders, because, tuple(of_measure)))
    return tuple(found)


def _is_flattered(measure: str, similar: float) -> bool:
    """Whether the calibration says too much: DCS charges generators for judged mistakes, which are many here."""
    return measure.startswith("DCS") and similar < MOSTLY_DISSIMILAR


def advice(encoders: Sequence[str], found: Sequence[Verdict]) -> tuple[str, str] | None:
    """The two best encoders that no trusted claim tells apart: further labels settle these first (or None).

    `encoders` come best first.
    """
    trusted = {
        frozenset((one.encoder, order.other))
        for one in found
        for order in one.claims
        if order.trust.word == "trusted" and one.word == "trusted"
    }
    pairs = ((a, b) for at, a in enumerate(encoders) for b in encoders[at + 1 :])
    return next((pair for pair in pairs if frozenset(pair) not in trusted), None)


def kind_of(first: str, second: str, generators: Collection[str]) -> str:
    """How many of two encoders did not feed the pool, in the words of the calibration."""
    return KINDS[(first not in generators) + (second not in generators)]


def _order(one: Comparison, coverage: Mapping[str, float], generators: Collection[str] | None) -> Order:
    encoder, other = one.encoders
    ends = [coverage.get(name, nan) for name in one.encoders]
    sure = settled(one)
    if generators is None or any(isnan(end) for end in ends):
        found = Trust(one.measure, "", sure, nan, nan, 0, 0, nan, "unknown")
    else:
        found = trust(one.measure, kind_of(encoder, other, generators), min(ends), sure)
    return Order(other, one.difference > 0, sure, found)


def _claims(orders: Sequence[Order]) -> tuple[str, float]:
    """The word of the worst claim, and how often such claims were right."""
    claims = [order.trust for order in orders if order.separated]
    if not claims:
        return CANNOT_TELL, nan
    worst = min(claims, key=lambda claim: (WORST_FIRST.index(claim.word), claim.share))
    return worst.word, worst.share


def _because(
    encoder: str,
    coverage: Mapping[str, float],
    generators: Collection[str] | None,
    k: int,
    alone: Mapping[str, float],
) -> tuple[str, ...]:
    """What the verdict rests on: whether the encoder fed the pool, and how much of its results is labelled."""
    fed = "Nobody recorded whether it fed the pool"
    if generators is not None:
        fed = "It fed the pool" if encoder in generators else "It did not feed the pool"
    here = coverage.get(encoder, nan)
    said = [
        f"{fed}; {100 * here:.0f} % of its first {k} results are labelled."
        if not isnan(here)
        else f"{fed}; how many of its first {k} results are labelled is not known."
    ]
    if encoder in alone:
        said.append(f"{100 * alone[encoder]:.0f} % of the labelled pairs came from it alone.")
    return tuple(said)


def _steady(found: Steadiness) -> str:
    keeps = "keeps" if found.least >= STEADY else "changes"
    return (
        f"Leaving out one generator's labels {keeps} the order of the {found.encoders} encoders "
        f"(Spearman {found.least:.2f} without those of {found.omitted}, the least)."
    )
