"""The packages of an environment whose licence needs a look, as a table: run it with the Python of that environment.

These are the packages whose metadata names no licence, and those with a proprietary one. Nothing is guessed: where the
metadata says nothing, the note says so, and names the licence file if the package has one.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions

LICENCE_FILE = re.compile(r"licen[cs]e|copying|notice", re.IGNORECASE)
PROPRIETARY = "Proprietary. Read its terms before you pass it on, for instance in a container image."


@dataclass(frozen=True)
class Note:
    """One package: what its metadata says about its licence ("" for nothing), who asks for it, and what to do."""

    name: str
    version: str
    licence: str
    asked_by: tuple[str, ...]
    what: str


def licence(package: Distribution) -> str:
    """The licence that the metadata names; "" if it names none."""
    about = package.metadata
    classes = [
        one.rpartition(" :: ")[2] for one in about.get_all("Classifier") or () if one.startswith("License ::")
    ]
    text = (about.get("License-Expression") or about.get("License") or "").strip()
    first = text.splitlines()[0] if text else ""
    return first if first and first.upper() != "UNKNOWN" else ", ".join(classes)


def licence_files(package: Distribution) -> list[str]:
    """The licence files that a package brings with its metadata, each with its first line."""
    found = []
    for file in package.files or ():
        if file.parts[0].endswith(".dist-info") and LICENCE_FILE.search(file.name):
            lines = file.locate().read_text(encoding="utf-8", errors="replace").strip().splitlines()
            found.append(f'{file.name} (begins "{lines[0].strip()}")' if lines else file.name)
    return found


def unnamed(package: Distribution) -> str:
    """What to do about a package whose metadata names no licence."""
    if files := licence_files(package):
        return f"The metadata names no licence. Read its file {', '.join(files)}."
    if all(file.parts[0].endswith(".dist-info") for file in package.files or ()):
        return "The metadata names no licence. The package is empty: it only asks for other packages."
    return (
        "The metadata names no licence, and there is no licence file. Ask its authors before you pass it on."
    )


def notes(packages: Iterable[Distribution]) -> list[Note]:
    """The packages to look at, by name."""
    packages = sorted(packages, key=lambda one: normal(one.metadata["Name"]))
    asking: dict[str, set[str]] = {}
    for one in packages:
        for asked in one.requires or ():
            asking.setdefault(normal(re.match(r"[\w.-]+", asked)[0]), set()).add(one.metadata["Name"])
    found = []
    for one in packages:
        name, named = one.metadata["Name"], licence(one)
        if named and "propriet" not in named.lower():
            continue
        what = PROPRIETARY if named else unnamed(one)
        found.append(Note(name, one.version, named, tuple(sorted(asking.get(normal(name), ()))), what))
    return found


def normal(name: str) -> str:
    """The name of a package as the registry compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def table(found: Iterable[Note]) -> str:
    """The notes in Markdown."""
    lines = ["| package | version | licence in its metadata | asked for by | note |", "|---|---|---|---|---|"]
    for one in found:
        cells = (
            one.name,
            one.version,
            one.licence or "none",
            ", ".join(one.asked_by) or "nothing here",
            one.what,
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print("\n## Licences to look at\n")
    print("Lookalike itself contains none of these packages: pip installs them.\n")
    print(table(notes(distributions())))
