"""What `labels` says of labels that no measure can use."""

from lookalike.cli.console import say
from lookalike.rank.pairs import Unusable

LISTED = "table, qrels, vsd, label-studio or votes"


def tell_unusable(unusable: tuple[Unusable, ...]) -> None:
    """Say how many labels are left out of all measures, by reason."""
    for part in unusable:
        query, candidate = part.examples[0]
        say(
            f"{part.count:,} left out of all measures, {part.reason} (for instance {query!r}, {candidate!r})."
        )


def as_json(unusable: tuple[Unusable, ...]) -> list[dict[str, object]]:
    """The same for programs."""
    return [
        {"reason": u.reason, "count": u.count, "examples": [list(pair) for pair in u.examples]}
        for u in unusable
    ]
