"""Totally-Looks-Like (Rosenfeld et al. 2018): left/ and right/, whose photos of one name are a similar pair.

`TLL_obj.csv` lists the 4,199 of 6,016 pairs that ADAPT 4.1 uses, those without two faces: a header `,TLL_obj`, then
rows `0,00001.jpg`. The authors' file has each name twice, in two equal halves. Where it is absent, a Haar cascade finds
the faces.
"""

import os
from collections.abc import Mapping, Sequence
from filecmp import cmp
from pathlib import Path

from lookalike.catalog.layouts.faces import SPLIT, face_pairs, haar_cascade
from lookalike.catalog.layouts.source import PublishedData
from lookalike.catalog.readers.delimited import read_records
from lookalike.catalog.readers.rows import Rows
from lookalike.catalog.readers.walk import ENDINGS
from lookalike.core.checks import strings
from lookalike.core.errors import CatalogError
from lookalike.core.progress import Progress
from lookalike.core.text import plural, quoted
from lookalike.core.types import Catalog

TLL = PublishedData(
    "Totally-Looks-Like",
    f"https://sites.google.com/view/totally-looks-like-dataset, and TLL_obj.csv from {SPLIT}",
    "not stated; the photos were collected from the web",
    "the folders left and right, and for the pairs without faces TLL_obj.csv",
)
OBJECTS = "TLL_obj.csv"
SIDES = ("left", "right")


def read_pairs(
    folder: Path, images: str | os.PathLike[str] | None, progress: Progress | None = None, wanted: str = ""
) -> Rows:
    """All pairs, or those of objects or of faces.

    Objects are the pairs of TLL_obj.csv or, where it is absent and one kind is wanted, those whose photos do not both
    show a face. The column `subset` says which is which.
    """
    root = Path(os.path.abspath(images)) if images is not None else TLL.find(folder, "left").parent
    pairs = _pairs(root)
    subset, warnings = _subsets(folder, root, pairs, wanted, progress)
    names = sorted(name for name in pairs if not wanted or subset[name] == wanted)
    if not names:
        raise CatalogError(
            f"None of the {plural(len(pairs), 'pair')} of {str(folder)!r} is one of {wanted}.",
            fix=f"Read all pairs: tll:{folder}",
        )
    same = [name for name in names if cmp(root / pairs[name][0], root / pairs[name][1], shallow=False)]
    if same:
        what = "has the same photo on both sides" if len(same) == 1 else "have the same photo on both sides"
        warnings.append(f"{plural(len(same), 'pair')} {what}: {quoted(same)}. Remove both photos.")
    ids = [[pairs[name][at] for name in names] for at in range(2)]
    columns = {
        "image": [*ids[0], *ids[1]],
        "role": ["query"] * len(names) + ["gallery"] * len(names),
        "pair": names * 2,
        **({"subset": [subset[name] for name in names] * 2} if subset else {}),
    }
    labels = {"query": ids[0], "candidate": ids[1], "label": ["1"] * len(names)}
    note = f"{plural(len(names), 'pair')}, each with both photos in one split."
    return TLL.rows(
        folder, columns, root, note,
        labels=(labels,), together=strings(columns["pair"]), warnings=tuple(warnings),
    )  # fmt: skip


def _pairs(root: Path) -> dict[str, tuple[str, str]]:
    """The two photos of each pair, as paths from the root, by their common name."""
    left, right = (
        {
            path.stem: f"{side}/{path.name}"
            for path in sorted(TLL.find(root, side).iterdir())
            if path.suffix.lower() in ENDINGS
        }
        for side in SIDES
    )
    if left.keys() != right.keys() or not left:
        alone = [left[one] for one in sorted(left.keys() - right.keys())]
        alone += [right[one] for one in sorted(right.keys() - left.keys())]
        raise CatalogError(
            f"{str(root)!r} has {len(left):,} photos in left and {len(right):,} in right; without the other side are: "
            f"{quoted(alone)}.",
            fix="Restore those photos, or remove them: both folders need photos of the same names.",
        )
    return {name: (left[name], right[name]) for name in left}


def _subsets(
    folder: Path,
    root: Path,
    pairs: Mapping[str, tuple[str, str]],
    wanted: str,
    progress: Progress | None,
) -> tuple[dict[str, str], list[str]]:
    """Whether each pair is one of objects or of faces ({}: not known and not wanted), and warnings."""
    if file := TLL.look(folder, OBJECTS):
        listed = {Path(row[-1]).stem for row in read_records(file, "TLL_obj").rows}
        absent = sorted(listed - pairs.keys())
        said = f"{OBJECTS} lists {plural(len(absent), 'pair')} without photos: {quoted(absent)}."
        return {name: "objects" if name in listed else "faces" for name in pairs}, [said] if absent else []
    if not wanted:
        return {}, []
    photos = [(root / left, root / right) for left, right in pairs.values()]
    faces = face_pairs(photos, haar_cascade(), progress)
    return {name: "faces" if face else "objects" for name, face in zip(pairs, faces, strict=True)}, [
        f"{str(folder)!r} has no {OBJECTS}, so a Haar cascade found the faces. To compare with the paper, use its own "
        f"split: {SPLIT}"
    ]


def objects_table(catalog: Catalog) -> tuple[dict[str, Sequence[object]], list[str]]:
    """The columns of TLL_obj.csv: the photos' names of the pairs of objects, each once."""
    subset = catalog.columns.get("subset")
    left = [] if subset is None else catalog.path[(subset == "objects") & (catalog.role == "query")].tolist()
    if not left:
        raise CatalogError(
            "The catalog has no pairs whose column subset is objects.",
            fix="Read Totally-Looks-Like with its faces found: lookalike init tll-objects:FOLDER",
        )
    names = sorted(Path(path).name for path in left)
    return {"": range(len(names)), "TLL_obj": names}, []
