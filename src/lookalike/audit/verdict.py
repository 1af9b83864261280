"""The verdict: which measure can be trusted for which encoder here, and why."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan

from pydantic import computed_field

from lookalike.audit.trust import KINDS, Trust, trust
from lookalike.core.text import bracketed, percent, value
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.sentence import full, is_significant, verdict

CANNOT_TELL = "cannot tell"
STEADY, MOSTLY_DISSIMILAR, MOSTLY_SIMILAR = 0.9, 0.4, 0.8
MANY_ITEMS = 3_000
"""Three times the items of the catalogs that the calibration is made from."""
DISTRUSTED = "not to be trusted"
WORST_FIRST = (DISTRUSTED, "unknown", "with care", "trusted")
LOWER = {"trusted": "with care", "with care": DISTRUSTED}
TOO_OPTIMISTIC = (
    "Less than 40% of the labels are similar. On such labels DCS penalizes the encoders that fed the pool and was "
    "wrong more often than the calibration says. Its rating is therefore one step lower."
)
TOO_LARGE = (
    "Less than 80% of the labels are similar, and there are more than 3,000 items. Half of the credit of "
    "DCS(alpha=10) is for the first 7% of the ranking, so in a large catalog it follows the first results less well "
    "than the calibration says. Its rating is therefore one step lower."
)


@dataclass(frozen=True)
class Order:
    """One measure's order of an encoder and another: `better` if it is above, `separated` if the test is significant.

    `trust` is how often such an order was right on pools like this one.
    """

    other: str
    better: bool
    separated: bool
    trust: Trust


@dataclass(frozen=True)
class Verdict:
    """What one measure's claims about one encoder are worth here.

    A claim is an order that the measure's own test finds significant. `word` is that of the worst claim: "not to be
    trusted", "unknown" (nothing like it was simulated), "with care" or "trusted" (of such claims at least .80 or .95
    were right on pools like this one, at the lower bound); "cannot tell" where there is no claim. `right` is the
    share of claims like the worst one that were right (NaN where the calibration does not say, or says too much).
    `because` are sentences about the encoder, `of_measure` about the measure on these labels.
    """

    measure: str
    encoder: str
    word: str
    right: float
    orders: tuple[Order, ...]
    because: tuple[str, ...]
    of_measure: tuple[str, ...]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def against(self) -> tuple[str, ...]:
        """The encoders that the worst claims are about; none where all claims are alike."""
        worst = [claim.other for claim in self.claims if claim.trust.share == self.right]
        return tuple(worst) if 0 < len(worst) < len(self.claims) else ()

    @computed_field  # type: ignore[prop-decorator]
    @property
    def else_word(self) -> str:
        """The word for the claims about the others, where the worst are about some only; "" where all are alike."""
        rest = [claim.trust.word for claim in self.claims if claim.other not in self.against]
        return min(rest, key=WORST_FIRST.index) if self.against and rest else ""

    @property
    def claims(self) -> tuple[Order, ...]:
        """The orders that the measure's own test finds significant."""
        return tuple(order for order in self.orders if order.separated)


@dataclass(frozen=True)
class Steadiness:
    """The least Spearman correlation of a measure's scores with those after one generator's labels were left out."""

    measure: str
    least: float
    omitted: str
    encoders: int


@dataclass(frozen=True)
class CorrectedRate:
    """HR@K of one encoder, corrected for unjudged candidates, with its interval; `estimated` is its EHR@K."""

    measure: str
    value: float
    low: float
    high: float
    queries: int
    reason: str
    estimated: float


@dataclass(frozen=True)
class Distrust:
    """A measure that separates two encoders here, where such results are often wrong. `share` of them were right.

    `share` is NaN where the calibration gives none for labels like these.
    """

    measure: str
    better: str
    other: str
    share: float

    @property
    def sentence(self) -> str:
        """Why the measure is not used."""
        shown = "" if isnan(self.share) else f": {_right(self.share)}"
        return f"{self.measure} puts {self.better} above {self.other}, but is not to be trusted here{shown}."


@dataclass(frozen=True, eq=False)
class Judgement:
    """Verdicts, and what they rest on.

    `generators` is None if no record says who fed the pool. `corrected` is by encoder; if it is empty, `uncorrected`
    says why. `comparisons` are by measure. Best encoders first.
    """

    k: int
    encoders: tuple[str, ...]
    generators: tuple[str, ...] | None
    coverage: Mapping[str, float]
    verdicts: tuple[Verdict, ...]
    corrected: Mapping[str, CorrectedRate]
    comparisons: Mapping[str, tuple[Comparison, ...]]
    uncorrected: str = ""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def headline(self) -> str:
        """The best encoder by HR@K corrected, whether it is significantly better, and its trust; "" for one.

        A result that is not to be trusted calls no encoder better.
        """
        name = f"HR@{self.k} corrected"
        compared = self.comparisons.get(name, ())
        sentences = verdict(self.encoders[0], compared) if self.encoders and compared else []
        if not sentences:
            return ""
        best, second = self.encoders[:2]
        orders = next((v.orders for v in self.of(best) if v.measure == name), ())
        claim = next((o.trust for o in orders if o.other == second and o.separated), None)
        if claim is not None and claim.word == DISTRUSTED:
            return (
                f"These labels do not show which of {best} and {second} is better. {best} has the higher {name}, but "
                f"{_right(claim.share)}."
            )
        if claim is None:
            return full(sentences[0])
        worth = (
            "No simulation covers this case."
            if claim.word == "unknown"
            else f"{claim.word.capitalize()}: {_right(claim.share)}."
        )
        return f"{full(sentences[0])} {worth}"

    @computed_field  # type: ignore[prop-decorator]
    @property
    def distrusted(self) -> tuple[Distrust, ...]:
        """The measures with a claim that is not to be trusted, with their worst one; never HR@K corrected."""
        found: dict[str, Distrust] = {}
        for one in self.verdicts:
            if one.word != DISTRUSTED or one.measure == f"HR@{self.k} corrected":
                continue
            claim = min(one.claims, key=lambda order: order.trust.share)
            ends = (one.encoder, claim.other) if claim.better else (claim.other, one.encoder)
            seen = found.get(one.measure)
            if seen is None or one.right < seen.share:
                found[one.measure] = Distrust(one.measure, *ends, one.right)
        return tuple(found.values())

    def correction(self, encoder: str, decimals: int = 3) -> str:
        """One encoder's corrected HR@K as sentences, or why it is undefined; "" if nothing was corrected."""
        one = self.corrected.get(encoder)
        if one is None:
            return ""
        if isnan(one.value):
            return f"HR@{self.k} cannot be corrected: {one.reason}."
        shown = f"{value(one.value, decimals)} {bracketed(one.low, one.high, decimals)}".rstrip()
        plain = "" if isnan(one.estimated) else f" EHR@{self.k} is {value(one.estimated, decimals)}."
        return f"HR@{self.k} corrected for unjudged results: {shown}.{plain}"

    @property
    def is_known(self) -> bool:
        """Whether any two encoders can be compared, and it is recorded who fed the pool."""
        return bool(self.verdicts) and self.generators is not None

    def of(self, encoder: str) -> tuple[Verdict, ...]:
        """One encoder's verdicts, those to rely on first."""
        mine = [one for one in self.verdicts if one.encoder == encoder]
        return tuple(sorted(mine, key=lambda one: 1.0 if isnan(one.right) else -one.right))


def verdicts(
    comparisons: Sequence[Comparison],
    coverage: Mapping[str, float],
    generators: Collection[str] | None,
    *,
    k: int = 5,
    steadiness: Mapping[str, Steadiness] | None = None,
    alone: Mapping[str, float] | None = None,
    similar: float = nan,
    items: int = 0,
) -> tuple[Verdict, ...]:
    """A verdict for every measure and encoder compared.

    `generators` fed the pool; None where that is not known, and then every word is "unknown". `coverage` is each
    encoder's coverage@K, `alone` the share of the labelled pairs that only one generator retrieved, `similar` the
    share of positives among the labels, `items` how many can be retrieved. The calibration is too optimistic for DCS
    (docs/research/bias.md) below a share of .4, and below .8 in a catalog of more than 3,000 items, because half of
    the credit of DCS(alpha=10) is for the first 7% of the ranking, however long. DCS then gets the next lower word and
    no share.
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
            word, right = _claims(orders)
            of_measure = []
            steady = (steadiness or {}).get(measure)
            if steady is not None and not isnan(steady.least):
                of_measure.append(_steady(steady))
            if optimistic := _too_optimistic(measure, similar, items):
                word, right = LOWER.get(word, word), nan
                of_measure.append(optimistic)
            because = _because(encoder, coverage, generators, k, alone or {})
            found.append(Verdict(measure, encoder, word, right, orders, because, tuple(of_measure)))
    return tuple(found)


def _too_optimistic(measure: str, similar: float, items: int) -> str:
    """Why the calibration is too optimistic for a measure here; "" where it is not."""
    if not measure.startswith("DCS"):
        return ""
    if similar < MOSTLY_DISSIMILAR:
        return TOO_OPTIMISTIC
    return TOO_LARGE if similar < MOSTLY_SIMILAR and items > MANY_ITEMS else ""


def advice(encoders: Sequence[str], found: Sequence[Verdict]) -> tuple[str, str] | None:
    """The two best encoders that no trusted claim separates, None if there are none: label their pairs next.

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


def _right(share: float) -> str:
    """How often results like one were right.

    >>> _right(0.881)
    '88 of 100 such results were right where the ground truth is known'
    """
    return f"{100 * share:.0f} of 100 such results were right where the ground truth is known"


def _order(one: Comparison, coverage: Mapping[str, float], generators: Collection[str] | None) -> Order:
    encoder, other = one.encoders
    ends = [coverage.get(name, nan) for name in one.encoders]
    sure = is_significant(one)
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
    """The reasons of a verdict: whether the encoder fed the pool, and how many of its results are labelled."""
    fed = "It is not recorded whether the encoder fed the pool."
    if generators is not None:
        fed = f"The encoder {'fed' if encoder in generators else 'did not feed'} the pool."
    labelled = percent(coverage.get(encoder, nan), 0, missing="An unknown share")
    reasons = [
        f"{fed} {labelled} of its first {k} results {'is' if labelled.startswith('An') else 'are'} labelled."
    ]
    if encoder in alone:
        reasons.append(f"{percent(alone[encoder], 0)} of the labelled pairs came from it alone.")
    return tuple(reasons)


def _steady(found: Steadiness) -> str:
    keeps = "keeps" if found.least >= STEADY else "changes"
    return (
        f"Leaving out one generator's labels {keeps} the order of the {found.encoders} encoders. The lowest Spearman "
        f"correlation is {found.least:.2f}, without the labels of {found.omitted}."
    )
