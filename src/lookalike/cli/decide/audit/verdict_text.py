"""What `lookalike audit` says first: the verdict, in words that need no statistics."""

import math
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import Any

from lookalike.audit.verdict import Verdict, advice
from lookalike.cli.console import next_step, say
from lookalike.workflows.decide.verdict import Judgement

WIDTH = 100
WORDS = ("trusted", "with care", "not to be trusted", "cannot tell", "unknown")
LEGEND = (
    "In parentheses: of 100 significant orders like the most doubtful one, how many were right on simulated pools with "
    "a known ground truth (docs/research/bias.md). trusted: at least 95, even at the lower bound; with care: at least "
    "80. cannot tell: no order is significant.",
    "The interval of HR@K corrected reflects sampling error only. The error of the correction itself was .10 on those "
    "pools (root mean square; .04 on human labels). It is smaller if more pairs are labelled.",
)


def tell(found: Judgement, workspace: Path) -> None:
    """One block per encoder: what it rests on, the measures by word, and HR@K corrected."""
    if found.headline:
        say(fill(found.headline, WIDTH, break_long_words=False), "")
    say("Which measure can be trusted for which encoder")
    for encoder in found.encoders:
        _block(found, encoder)
    told: dict[str, list[str]] = {}
    for one in found.verdicts:
        for said in one.of_measure:
            told.setdefault(said, []).append(one.measure)
    say("")
    for said, measures in told.items():
        say(_folded(f"{', '.join(dict.fromkeys(measures))}: {said}"))
    say("", *(fill(said, WIDTH, break_long_words=False) for said in (found.uncorrected, *LEGEND) if said))
    pair = advice(found.encoders, found.verdicts)
    if pair is not None:
        say(
            fill(
                f"The labels so far cannot separate {pair[0]} from {pair[1]}. Next: label more pairs.", WIDTH
            )
        )
        next_step(f"lookalike compare {' '.join(pair)}", workspace=workspace)
    say("")


def _block(found: Judgement, encoder: str) -> None:
    """One encoder."""
    mine = found.of(encoder)
    say("", encoder)
    if not mine:
        return say("  There is no other encoder to compare it with.")
    say(*(_folded(said) for said in mine[0].because))
    for word in WORDS:
        groups: dict[tuple[str, ...], list[Verdict]] = {}
        for one in mine:
            if one.word == word:
                groups.setdefault(() if word == "trusted" else one.against, []).append(one)
        for against, some in groups.items():
            head = f"{word} against {', '.join(against)}" if against else word
            say(_folded(f"{head}: {', '.join(_named(one) for one in some)}"))
    if encoder in found.corrected:
        say(_folded(_estimates(found, encoder)))
    return None


def as_json(found: Judgement) -> dict[str, Any]:
    """Everything, for programs."""
    return {
        "k": found.k,
        "headline": found.headline,
        "encoders": list(found.encoders),
        "generators": None if found.generators is None else list(found.generators),
        "uncorrected": found.uncorrected,
        "coverage": dict(found.coverage),
        "verdicts": [_plain(one) for one in found.verdicts],
        "corrected": {
            name: {
                "measure": score.measure,
                "value": score.value,
                "low": around.low,
                "high": around.high,
                "queries": score.queries,
                "reason": score.reason,
                "estimated": found.estimated[name].value,
            }
            for name, (score, around) in found.corrected.items()
        },
    }


def _plain(one: Verdict) -> dict[str, Any]:
    orders = [(asdict(order) | {"trust": asdict(order.trust)}) for order in one.orders]
    return {
        "measure": one.measure,
        "encoder": one.encoder,
        "word": one.word,
        "right": one.right,
        "against": list(one.against),
        "else_word": one.else_word,
        "because": list(one.because),
        "of_measure": list(one.of_measure),
        "orders": orders,
    }


def _named(one: Verdict) -> str:
    if math.isnan(one.right):
        return one.measure
    rest = f"; else {one.else_word}" if one.else_word not in ("", one.word) else ""
    return f"{one.measure} ({100 * one.right:.0f}{rest})"


def _estimates(found: Judgement, encoder: str) -> str:
    score, around = found.corrected[encoder]
    if math.isnan(score.value):
        return f"HR@{found.k} cannot be corrected: {score.reason}."
    span = "" if math.isnan(around.low) else f" [{around.low:.3f}, {around.high:.3f}]"
    plain = found.estimated[encoder].value
    said = f"; EHR@{found.k} says {plain:.3f}" if not math.isnan(plain) else ""
    return f"HR@{found.k} corrected for unjudged results: {score.value:.3f}{span}{said}."


def _folded(said: str) -> str:
    return fill(said, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
