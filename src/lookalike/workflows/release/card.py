"""The words of a package: its data card, guidelines and licence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.annotate.protocol import LABELS, Protocol
from lookalike.core.errors import ArgumentError

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
    parts = (_what(facts), _files(facts), _pooled(facts), _labelled(facts), _limits(facts), _use(facts))
    return "# A visual-similarity data set\n\n" + "\n\n".join(parts) + "\n"


def _what(facts: Facts) -> str:
    drawn = (
        "**The photos are generated.** The studio of Lookalike drew them, and they show no real objects.\n\n"
        if facts.generated
        else ""
    )
    categories = f" in {facts.categories:,} categories" if facts.categories else ""
    share = f" {100 * facts.similar / facts.labels:.1f}% of the labels are similar." if facts.labels else ""
    lost = "".join(f"\n- `{image}`: {reason}" for image, reason in facts.missing)
    missing = (
        f"\n\n{len(facts.missing):,} photos could not be read and are missing:\n{lost}"
        if facts.missing
        else ""
    )
    return (
        f"{drawn}This data set has {facts.images:,} images of {facts.items:,} items{categories}. It has "
        f"{facts.labels:,} labels of (query, candidate) pairs with {facts.queries:,} queries.{share}{missing}"
    )


def _files(facts: Facts) -> str:
    photos = (
        "photos as JPEG (quality 95), upright, without EXIF, GPS or other metadata"
        if facts.has_photos
        else "not included: the catalog has vectors but no photos"
    )
    provenance = (
        "| `provenance.csv` | the encoders that proposed each pair, and its rank for each |\n"
        if facts.generators
        else ""
    )
    return (
        "## Files\n\n| file | content |\n|---|---|\n"
        f"| `images/` | {photos} |\n"
        "| `catalog.csv`, `splits/` | each image with its item, category, role and split |\n"
        "| `labels.csv` | query, candidate, label: 1 similar, 0 dissimilar |\n"
        "| `votes.csv` | each pair in the queue, and all answers in the order of time |\n"
        f"{provenance}"
        "| `agreement.md`, `agreement.json` | agreement between annotators, and of annotators with themselves |\n"
        "| `guidelines.md` | the guidelines that annotators followed |\n"
        "| `manifest.json`, `SHA256SUMS` | all counts; the checksum of each file |\n\n"
        "To use it with Lookalike, run `lookalike init catalog.csv` and `lookalike labels import labels.csv`."
    )


def _pooled(facts: Facts) -> str:
    if not facts.generators:
        return "## Selection of pairs\n\nThe pairs were not selected by Lookalike, so there is no pool."
    return (
        f"## Selection of pairs\n\nThe pool has the top {facts.top} candidates of {len(facts.generators)} encoders "
        f"({', '.join(facts.generators)}) for each query. {facts.random:,} more pairs were sampled at random."
    )


def _labelled(facts: Facts) -> str:
    votes = facts.rows.get("vote", 0)
    if not votes:
        return "## Labelling\n\nThe labels were imported from a file, so there are no votes."
    what = (
        "Annotators discussed pairs on which they disagreed. Pairs without a consensus were excluded."
        if facts.protocol.name == "consensus"
        else "The most frequent answer wins, and a tie means dissimilar."
    )
    rest = ", ".join(
        f"{facts.rows[name]:,} {many}"
        for name, many in (("proposal", "proposals"), ("decision", "decisions"), ("check", "hidden checks"))
    )
    return (
        f"## Labelling\n\nProtocol: {facts.protocol.name}, {facts.protocol.votes} votes per pair. {what} "
        f"There are {facts.annotators:,} annotators and {votes:,} votes ({rest})."
    )


def _limits(facts: Facts) -> str:
    return (
        "## Known limits\n\n"
        "- A pair without a label is unjudged, not dissimilar. Measures that count it as dissimilar favour the "
        "encoders whose results are in the pool.\n"
        "- Dissimilar pairs of the pool are hard: at least one encoder ranked the candidate high.\n"
        "- Labels depend on these annotators and these guidelines."
    )


def _use(facts: Facts) -> str:
    return (
        f"## Licence and citation\n\nLicence: {facts.license} (see `LICENSE`). Cite this data set by its name and the "
        "checksum of the file `SHA256SUMS`, which changes with every change of the data."
    )
