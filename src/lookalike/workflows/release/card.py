"""The words of a package: its data card, guidelines and licence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from lookalike.annotate.protocol import LABELS, Protocol
from lookalike.core.errors import ArgumentError
from lookalike.core.text import count, percent

DEFAULT_GUIDELINE = (
    "Two images are similar if they show visual similarity in style, design and relatedness that makes the two "
    "suitable as alternative recommendations for each other."
)
LICENSES = {
    "CC0-1.0": (
        "CC0 1.0 Universal (SPDX: CC0-1.0)",
        "To the extent possible under law, those who made this data set have waived all copyright and related or "
        "neighbouring rights to it.",
        "https://creativecommons.org/publicdomain/zero/1.0/legalcode",
    ),
    "CC-BY-4.0": (
        "Creative Commons Attribution 4.0 International (SPDX: CC-BY-4.0)",
        "You may share and adapt this data set for any purpose, also commercially, if you give credit to those who "
        "made it, link to the licence and say what you changed.",
        "https://creativecommons.org/licenses/by/4.0/legalcode",
    ),
}


@dataclass(frozen=True)
class Facts:
    """The facts of a data card."""

    images: int
    items: int
    categories: int
    missing: Sequence[tuple[str, str]]
    has_photos: bool
    labels: int
    similar: int
    queries: int
    generators: Sequence[str]
    top: int
    random: int
    annotators: int
    rows: Mapping[str, int]
    protocol: Protocol
    generated: bool
    license: str
    seed: int


def license_text(given: str) -> str:
    """The text of LICENSE: notice and address of a known licence, or the content of the file that is named."""
    if given in LICENSES:
        title, notice, where = LICENSES[given]
        return f"{title}\n\n{notice}\n\nThe legally binding text: {where}\n"
    try:
        text = Path(given).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    if not text.strip():
        raise ArgumentError(
            f"--license is {given!r}, which is neither {' nor '.join(LICENSES)} nor a text file.",
            fix="Choose a licence under which you are allowed to publish these photos and labels. There is no default.",
        )
    return text


def guidelines(text: str, examples: Sequence[tuple[str, str, int, str]], photos: Mapping[str, str]) -> str:
    """The guidelines for annotators, with the example pairs."""
    words = {label: answer for answer, label in LABELS.items()}
    lines = ["# Guidelines", "", text.strip() or DEFAULT_GUIDELINE, ""]
    for query, candidate, label, note in examples:
        shown = " ".join(f"![{image}]({photos[image]})" for image in (query, candidate) if image in photos)
        lines += [f"**{words[label]}**{': ' + note if note else ''}", "", shown, ""]
    return "\n".join(lines)


def card(facts: Facts) -> str:
    """The data card."""
    templates = Environment(  # Markdown, so nothing is escaped
        loader=PackageLoader("lookalike.workflows.release", "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters.update(count=count, percent=percent)
    return templates.get_template("card.md.j2").render(vars(facts))
