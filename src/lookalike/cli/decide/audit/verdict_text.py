"""The first part of the output of `lookalike audit`: the verdict, in words that need no statistics."""

import math
from collections.abc import Sequence

from lookalike.audit.verdict import UNKNOWN, Judgement, Verdict
from lookalike.cli.console import say
from lookalike.core.text import folded

WORDS = ("trusted", "with care", "not to be trusted", "cannot tell", UNKNOWN)
REASONS = {
    "compare": "A few labels of pairs drawn at random tell which of {} is better.",
    "discover": "All pairs of these queries that matter have a label, so only more queries can tell more.",
    "estimate": "The interval of {} is wide. A few drawn labels make it narrower.",
    "promote": "{} is the best encoder so far, and is not promoted yet.",
}  # of the next command, by its verb
LEGEND = (
    "In parentheses: of 100 significant orders like its least reliable one, how many were right on simulated pools "
    "with a known ground truth (docs/research/bias.md). trusted: at least 95, even at the lower bound; with care: "
    "at least 80, also at the lower bound; not to be trusted: fewer. cannot tell: no order is significant. "
    "unknown: no simulation covers this case.",
    "The interval of HR@K corrected includes the error of the correction. It is narrow where most of the first K "
    "results of each labelled query have a label, and wide where few have.",
)


def print_verdict(found: Judgement, steps: Sequence[str]) -> None:
    """One block per encoder: the reasons, the measures by word, and HR@K corrected; then why the next `steps`."""
    if found.headline:
        say(folded(found.headline), "")
    say("Which measure can be trusted for which encoder")
    for encoder in found.encoders:
        say("", encoder, *(folded(line, "  ") for line in _lines(found, encoder)))
    measures: dict[str, list[str]] = {}
    for one in found.verdicts:
        for remark in one.of_measure:
            measures.setdefault(remark, []).append(one.measure)
    say("", *(folded(f"{', '.join(dict.fromkeys(of))}: {remark}", "  ") for remark, of in measures.items()))
    say("", *(folded(line) for line in (found.uncorrected, *LEGEND) if line))
    for command in steps:
        _, verb, *names = command.split()
        say(folded(REASONS[verb].format(" and ".join(one for one in names if not one.startswith("-")))))
    say("")


def _lines(found: Judgement, encoder: str) -> list[str]:
    """What is known of one encoder."""
    mine = found.of(encoder)
    if not mine:
        return ["There is no other encoder to compare it with."]
    lines = list(mine[0].because)
    for word in WORDS:
        groups: dict[tuple[str, ...], list[str]] = {}
        for one in mine:
            if one.word == word:
                groups.setdefault(() if word == "trusted" else one.against, []).append(_named(one))
        for against, names in groups.items():
            head = f"{word} against {', '.join(against)}" if against else word
            lines.append(f"{head}: {', '.join(names)}")
    return [*lines, *filter(None, [found.correction(encoder)])]


def _named(one: Verdict) -> str:
    if math.isnan(one.right) or one.word == UNKNOWN:
        return one.measure
    rest = f"; else {one.else_word}" if one.else_word not in ("", one.word) else ""
    return f"{one.measure} ({100 * one.right:.0f}{rest})"
