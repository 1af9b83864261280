"""The methods of the papers' tables by their names there, each as settings of a training (VSD 6, 7.2.3, C; EDS 6.1)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from lookalike.core.errors import ArgumentError
from lookalike.core.text import quoted
from lookalike.learn.request import TrainingRequest
from lookalike.learn.settings import CLASSES, PAPER, UNLABELLED

Kind = Literal["pretrained", "supervised", "self-supervised", "classification"]
PRETRAINED, MEASURE = "Pre", "DCS(alpha=10)"  # chooses the epoch in the papers (VSD E)
ONLY = MappingProxyType(
    {  # settings that only some losses have a use for
        "prototypes": ("dino",),
        "head": ("supcon", "con", "trpl"),
        "projection": ("supcon", "con", "trpl", "simclr"),
    }
)


@dataclass(frozen=True)
class Method:
    """A method of a table. `settings` are the fields of `TrainingRequest` that make it; none for an encoder as it is.

    >>> METHODS["SupCon_SPA"].encoder("dino2"), METHODS["ID+C"].encoder("argus"), METHODS["Pre"].encoder("clip")
    ('dino2-supcon-spa', 'argus-id+c', 'clip')
    """

    name: str
    kind: Kind
    settings: Mapping[str, Any] = field(default_factory=dict)

    def encoder(self, base: str) -> str:
        """The name of the encoder that it makes from another."""
        if self.kind == "pretrained":
            return base
        return f"{base}-{self.name.lower().replace('_', '-')}"

    def used(self, overrides: Mapping[str, Any]) -> dict[str, Any]:
        """Its settings with those of all methods, of which some losses have no use for some."""
        loss = self.settings["loss"]
        return {name: one for name, one in overrides.items() if loss in ONLY.get(name, (loss,))} | {
            **self.settings
        }

    def request(self, overrides: Mapping[str, Any]) -> TrainingRequest:
        """The request of a training."""
        return TrainingRequest(**{"measure": MEASURE, **self.used(overrides)})


def _supervised(loss: str, positives: str, suffix: str) -> Method:
    printed = {"supcon": "SupCon", "con": "Con", "trpl": "TRPL"}[loss]
    return Method(printed + suffix, "supervised", {"loss": loss, "positives": positives})


SUPERVISED = tuple(
    _supervised(loss, positives, suffix)
    for positives, suffix in (("soft", "_SPA"), ("labels", ""), ("full", "_NSPA"))
    for loss in ("supcon", "con", "trpl")
)
SELF_SUPERVISED = tuple(
    Method(name, "self-supervised", {"loss": loss})
    for name, loss in zip(("SimCLR", "DINO"), UNLABELLED, strict=True)
)
BEFORE_LABELS = (
    *(
        Method(name, "classification", {"loss": loss, "keep": "last"})
        for name, loss in zip(("ID", "CAT", "ID+C"), CLASSES, strict=True)
    ),
    Method("FT", "self-supervised", {"loss": "dino", "keep": "last"}),
)
"""The methods of EDS. Labels choose nothing, so that their encoders can feed the pool; FT is DINO."""
METHODS: Mapping[str, Method] = MappingProxyType(
    {
        one.name: one
        for one in (Method(PRETRAINED, "pretrained"), *SUPERVISED, *SELF_SUPERVISED, *BEFORE_LABELS)
    }
)


def method(name: str) -> Method:
    """A method by its name in a paper, in any case. Raises ArgumentError where there is none."""
    found = {one.casefold(): each for one, each in METHODS.items()}.get(name.casefold())
    if found is None:
        raise ArgumentError(
            f"There is no method {name!r}.", fix=f"Name one of these: {quoted(tuple(METHODS), len(METHODS))}."
        )
    return found


TABLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "vsd-table-2": (
            "SupCon_SPA",
            "Con_SPA",
            "TRPL_SPA",
            "Con",
            "TRPL",
            "SupCon",
            "SimCLR",
            "DINO",
            "Pre",
        ),
        "vsd-table-3": ("SupCon_SPA", "SupCon_NSPA", "SupCon", "Pre"),
        **dict.fromkeys(("eds-table-2", "eds-table-3", "eds-table-4"), ("ID", "ID+C")),
        **dict.fromkeys(("eds-table-5", "eds-table-6"), ("CAT", "ID", "ID+C", "FT")),
    }
)
"""The methods of each table, in its order."""
ABLATION = "vsd-table-4"
CHAINS, BETAS = (2, 3, 4, 5, 6, 7), (0.1, 0.3, 0.5, 0.7, 0.9)  # its rows


def ablation() -> dict[tuple[int, float], Method]:
    """SupCon with soft positives for every L and beta of VSD Table 4. That with the usual values is SupCon_SPA."""
    soft = METHODS["SupCon_SPA"]
    return {
        (longest, beta): soft
        if (longest, beta) == (PAPER.max_distance, PAPER.beta)
        else Method(
            f"{soft.name}_L{longest}_b{beta:g}",
            soft.kind,
            {**soft.settings, "max_distance": longest, "beta": beta},
        )
        for longest in CHAINS
        for beta in BETAS
    }


def require_trained(table: str) -> None:
    """Refuse a table that has no trained encoders."""
    if table not in TABLES and table != ABLATION:
        raise ArgumentError(
            f"Nothing is trained for {table}.",
            fix=f"Leave out --train, or name one of these: {quoted((*TABLES, ABLATION), len(TABLES) + 1)}.",
        )
