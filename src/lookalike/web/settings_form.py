"""The campaign's settings as fields of a form: their words, and their values back."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lookalike.annotate.campaign import Campaign
from lookalike.annotate.protocol import Protocol
from lookalike.core.errors import ArgumentError


@dataclass(frozen=True)
class Setting:
    """One field: its name, its label, what it means; whole numbers only or not; its limits as the rules have them."""

    name: str
    label: str
    hint: str
    whole: bool = True
    least: float = 0
    most: float = 10_000


# ruff: noqa: E501
SETTINGS = (
    Setting("votes", "Votes on each pair",
            "How many experts judge each pair. Pairs that are in the queue keep the number they came with.", least=1, most=50),
    Setting("lease_minutes", "Minutes a pair is held",
            "So long a pair that was given to somebody is kept for them. Then it may go to others.", False, 0.5, 1440),
    Setting("undo_seconds", "Seconds to undo",
            "So long after its last vote a pair waits until it settles; votes can be undone until then.", False, 0, 3600),
    Setting("ahead", "Pairs given at once", "The next pairs' photos load while the first is looked at.", least=1, most=50),
    Setting("repeats", "Hidden repeats per annotator",
            "So many pairs come back twice to the one who answered them, to see whether they answer the same. 0: none."),
    Setting("gap_least", "Repeat after at least", "So many other answers lie between, at least.", least=1),
    Setting("gap_most", "Repeat after at most", "So many other answers lie between, at most.", least=1),
    Setting("gold_every", "A gold pair every", "After so many answers a pair whose answer is known is asked. 0: never."),
    Setting("planned_hours", "Planned hours",
            "Hours of all experts together that this labelling may take; the plan compares. 0: no plan.", False, 0, 1e6),
    Setting("break_minutes", "Minutes until a break", "After so long at work the page suggests a short break. 0: never.", False, 0, 1440),
    Setting("seed", "Seed", "Of every random choice; pairs in the queue keep their places.", most=2**53),
)  # fmt: skip


def values_of(campaign: Campaign) -> dict[str, Any]:
    """A campaign's values by the fields' names."""
    named = {one.name: getattr(campaign, one.name, None) for one in SETTINGS}
    own = {"votes": campaign.protocol.votes, "gap_least": campaign.gap[0], "gap_most": campaign.gap[1]}
    return {**named, **own, "protocol": campaign.protocol.name}


def campaign_of(values: Mapping[str, Any]) -> Campaign:
    """The campaign that fields say, ArgumentError for what makes no sense."""
    found = {one.name: _number(values.get(one.name), one) for one in SETTINGS}
    protocol = Protocol(str(values.get("protocol", "")), int(found.pop("votes")))
    gap = int(found.pop("gap_least")), int(found.pop("gap_most"))
    return Campaign(protocol=protocol, gap=gap, **found)  # type: ignore[arg-type]


def _number(value: object, setting: Setting) -> float | int:
    try:
        found = float(str(value).strip().replace(",", "."))
    except ValueError:
        found = math.nan
    if not setting.least <= found <= setting.most or (setting.whole and found != int(found)):
        kind = "a whole number" if setting.whole else "a number"
        raise ArgumentError(
            f"{setting.label}: {str(value)[:40]!r} cannot be used.",
            fix=f"Give {kind} from {setting.least:,g} to {setting.most:,.0f}.",
        )
    return int(found) if setting.whole else found
