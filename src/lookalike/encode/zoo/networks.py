"""The zoo: the networks of the papers and today's strongest by short name, from `zoo.toml`. It loads no library."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Literal

PAPERS = ("vsd", "eds", "adapt", "today")
Allowed = Literal["yes", "no", "ask"]


@dataclass(frozen=True)
class ZooNetwork:
    """A network by its name here: how to get it, what it gives, and what the papers print about it.

    `weights` is a repository of the Hugging Face hub or a URL, for sources that do not say it themselves.
    """

    name: str
    source: str
    dimension: int
    licence: str
    papers: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    weights: str = ""
    note: str = ""
    figures: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Licence:
    """What a licence allows, and when its text was read; `checked` is None for one that is not in the list.

    `question` says what to find out where the answer is "ask".
    """

    name: str
    commercial: Allowed = "ask"
    derivatives: Allowed = "ask"
    serving: Allowed = "ask"
    question: str = ""
    source: str = ""
    checked: date | None = None

    @property
    def sentence(self) -> str:
        """The licence in one line.

        >>> licence("mit").sentence
        'mit (commercial use: yes, derivatives: yes, serving: yes; checked 2026-11-23).'
        >>> licence("of my own").sentence
        'of my own (commercial use: ask, derivatives: ask, serving: ask; not in our list).'
        >>> licence("cc-by-nc-4.0").sentence[-52:]
        'checked 2026-11-23). Is your service non-commercial?'
        """
        since = f"checked {self.checked}" if self.checked else "not in our list"
        question = f" {self.question}" if self.question else ""
        return (
            f"{self.name} (commercial use: {self.commercial}, derivatives: {self.derivatives}, "
            f"serving: {self.serving}; {since}).{question}"
        )

    @property
    def doubt(self) -> str:
        """Why training on from the weights may not be allowed; "" where it is.

        >>> licence("mit").doubt, licence("gemma").doubt[:70]
        ('', 'the licence may not allow training on from the weights: gemma (commerc')
        """
        if self.derivatives == "yes":
            return ""
        verb = "does" if self.derivatives == "no" else "may"
        return f"the licence {verb} not allow training on from the weights: {self.sentence}"


@cache
def networks() -> tuple[ZooNetwork, ...]:
    """All networks of the zoo, in the order of the papers."""
    rows = tomllib.loads((files(__package__) / "zoo.toml").read_text("utf-8"))["network"]
    return tuple(ZooNetwork(**_frozen(row)) for row in rows)


def _frozen(row: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}


@cache
def _by_name() -> Mapping[str, ZooNetwork]:
    return MappingProxyType({name: one for one in networks() for name in (one.name, *one.aliases)})


def named(name: str) -> ZooNetwork | None:
    """The network of a name or an alias, in any case.

    >>> named("DINO").source, named("deits8").name
    ('timm:vit_small_patch8_224.dino', 'dino')
    """
    return _by_name().get(name.lower())


def nearest(name: str) -> list[str]:
    """Names like an unknown one.

    >>> nearest("dinov4")
    ['dinov3', 'dinov2', 'dino']
    """
    return get_close_matches(name.lower(), _by_name(), n=3, cutoff=0.6)


def of_source(source: str) -> ZooNetwork | None:
    """The first network with the same weights as an encoder string, whatever its other options."""
    return next((one for one in networks() if _weights(one.source) == _weights(source)), None)


def licence(name: str) -> Licence:
    """What a licence allows; one that is not in the list counts as "ask"."""
    held = tomllib.loads((files(__package__) / "licences.toml").read_text("utf-8"))
    return Licence(name, **held[name], checked=held["checked"]) if name in held else Licence(name)


def published_at(file: str) -> str:
    """Where the weights file of a network of the zoo comes from, "" for other files.

    >>> published_at("folder/moco_v2_800ep_pretrain.pth.tar")[:33]
    'https://dl.fbaipublicfiles.com/mo'
    """
    name = file.rpartition("/")[2]
    sources = ((one.source.partition("weights=")[2].partition("&")[0], one) for one in networks())
    return next((one.weights for held, one in sources if held == name), "")


def _weights(source: str) -> str:
    """The part of an encoder string that decides on the weights."""
    head, _, options = source.partition("?")
    return head + next((one for one in options.split("&") if one.startswith("weights=")), "")
