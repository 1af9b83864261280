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
    """What a data card says, all of it counted."""

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
    """The text of LICENSE: of a known licence its notice and where its legal code is, else the file that was named."""
    if given in LICENSES:
        title, notice, where = LICENSES[given]
        return f"{title}\n\n{notice}\n\nThe legal code, which counts: {where}\n"
    try:
        text = Path(given).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    if not text.strip():
        raise ArgumentError(
            f"--license is {given!r}, which is neither {' nor '.join(LICENSES)} nor a file of text.",
            fix="Say under which licence you may and want to release photos and labels: there is no default.",
        )
    return text


def guidelines(text: str, examples: Sequence[tuple[str, str, int, str]], photos: Mapping[str, str]) -> str:
    """What annotators were told, with the example pairs they saw."""
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
        "**The photos are generated**: they were drawn by Lookalike's studio, and show nothing that exists.\n\n"
        if facts.generated
        else ""
    )
    categories = f" in {facts.categories:,} categories" if facts.categories else ""
    share = f", {100 * facts.similar / facts.labels:.1f} % of them similar" if facts.labels else ""
    lost = "".join(f"\n- `{image}`: {reason}" for image, reason in facts.missing)
    missing = f"\n\n{len(facts.missing):,} photos are missing here:\n{lost}" if facts.missing else ""
    return (
        f"{drawn}{facts.images:,} images of {facts.items:,} items{categories}, and {facts.labels:,} labels of "
        f"(query, candidate) pairs over {facts.queries:,} queries{share}.{missing}"
    )


def _files(facts: Facts) -> str:
    photos = (
        "photos, written anew as JPEG (quality 95), upright, without EXIF, GPS or other metadata"
        if facts.has_photos
        else "not here: the catalog was one of vectors only"
    )
    provenance = (
        "| `provenance.csv` | who put each pair forward, at which place |\n" if facts.generators else ""
    )
    return (
        "## Files\n\n| file | is |\n|---|---|\n"
        f"| `images/` | {photos} |\n"
        "| `catalog.csv`, `splits/` | every image with item, category, role, split |\n"
        "| `labels.csv` | query, candidate, label: 1 similar, 0 dissimilar |\n"
        "| `votes.csv` | every question and everything that was answered, in time order |\n"
        f"{provenance}"
        "| `agreement.md`, `agreement.json` | how far annotators agree, with each other and with themselves |\n"
        "| `guidelines.md` | what annotators were told |\n"
        "| `manifest.json`, `SHA256SUMS` | all counts; the sum of every file |\n\n"
        "Read it with `lookalike init catalog.csv` and `lookalike labels import labels.csv`."
    )


def _pooled(facts: Facts) -> str:
    if not facts.generators:
        return "## How pairs were found\n\nThere is no pool: the pairs came from elsewhere."
    return (
        f"## How pairs were found\n\nThe top {facts.top} of {len(facts.generators)} encoders "
        f"({', '.join(facts.generators)}) were pooled, and {facts.random:,} pairs drawn at random."
    )


def _labelled(facts: Facts) -> str:
    votes = facts.rows.get("vote", 0)
    if not votes:
        return "## How pairs were labelled\n\nNo votes are kept here: the labels came from a file."
    what = (
        "disagreements went to discussion, and pairs without agreement were excluded"
        if facts.protocol.name == "consensus"
        else "ties are negative"
    )
    rest = ", ".join(
        f"{facts.rows[name]:,} {many}"
        for name, many in (("proposal", "proposals"), ("decision", "decisions"), ("check", "hidden checks"))
    )
    return (
        f"## How pairs were labelled\n\nProtocol: {facts.protocol.name}, {facts.protocol.votes} votes a pair; {what}. "
        f"{facts.annotators:,} annotators are known, and gave {votes:,} votes ({rest})."
    )


def _limits(facts: Facts) -> str:
    return (
        "## Known limits\n\n"
        "- A pair without a label is unjudged, not dissimilar. Measures that count it as dissimilar favour the "
        "encoders that fed the pool.\n"
        "- Dissimilar pairs of the pool are hard ones: some encoder ranked them high.\n"
        "- A label says what these annotators saw under these guidelines."
    )


def _use(facts: Facts) -> str:
    return (
        f"## Licence and citation\n\nLicence: {facts.license} (see `LICENSE`). Cite this data set by its name and the "
        "sum of `SHA256SUMS`, which changes when anything in it does."
    )
