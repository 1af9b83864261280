"""Which photos of a catalog are one photo: byte for byte, or stored again, resized, recompressed, a little cropped.

A group is a star: every photo in it is a duplicate of the group's centre. Chains (a like b, b like c, c like d)
therefore join nothing that is not like one photo, however many near-blank photos a catalog holds.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped, UInt8
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from lookalike.catalog.duplicates.likeness import aligned, contrast, direct, tones
from lookalike.catalog.duplicates.neighbours import near_pairs
from lookalike.catalog.duplicates.signature import BYTES, CELLS, COARSE, LIGHT, as_rows
from lookalike.core.checks import codes, strings
from lookalike.core.types import Catalog

# docs/research/calibration.md says what these were chosen from.
DIRECT, ALIGNED = 0.13, 0.07  # of the photos' contrast: the distance up to which two are one
MOST_GAIN, MOST_LIGHTER = 1.15, 16.0  # ratio of their contrasts, difference of their mean tones
HOPELESS = 0.6  # a direct distance that no small crop explains
RADIUS, LOOKED_AT = 0.2, 16  # in coarse features: how near, and how many, are looked at closely
CROWDED = LOOKED_AT // 2
_BLOCK = 8_192

FindPairs = Callable[
    [np.ndarray], np.ndarray
]  # distinct signatures, to the pairs of them that are duplicates


@dataclass(frozen=True, eq=False)
class DuplicateGroups:
    """Groups of duplicates, numbered by first appearance; -1 where a photo has none.

    Row `copy[p]` is a duplicate of row `of[p]`: byte for byte where `exact[p]`; `distance[p]` is 0 for the
    same and 1 at the limit. A group of m photos has m - 1 pairs: an exact copy beside the first of its bytes,
    any other beside the group's centre.
    """

    group: Int[np.ndarray, " images"]
    of: Int[np.ndarray, " pairs"]
    copy: Int[np.ndarray, " pairs"]
    exact: Bool[np.ndarray, " pairs"]
    distance: Float[np.ndarray, " pairs"]

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.group.max(initial=-1)) + 1


def find_duplicates(
    digest: Shaped[np.ndarray, " images"],
    signatures: UInt8[np.ndarray, "images bytes"],
    find_pairs: FindPairs | None = None,
) -> DuplicateGroups:
    """Duplicates among photos, from their content digests and signatures; the order of rows does not matter.

    A digest "" is no photo and has no duplicates; a signature of zeros, which no photo has, is one not
    known: then only exact copies are found. `find_pairs` gives what `duplicate_pairs` finds among all photos, where
    other machines have searched.

    >>> digest = np.array(["a", "b", "a", ""], dtype=object)
    >>> found = find_duplicates(digest, np.zeros((4, BYTES), np.uint8))
    >>> found.group.tolist(), found.exact.tolist()
    ([0, -1, 0, -1], [True])
    """
    photo = np.flatnonzero(digest != "")
    _, code = codes(digest[photo])
    _, first = np.unique(code, return_index=True)
    original = photo[first[code]]  # of each photo: the first with its bytes
    once = photo[first]
    known = once[np.array([signatures[row].any() for row in once], dtype=bool)]
    looks, same_look = _distinct(signatures, known)
    centre = np.arange(len(digest))
    centre[known] = looks[_stars(signatures[looks], find_pairs or duplicate_pairs)[same_look]]
    return _grouped(photo, original, centre[original], signatures)


def duplicate_groups(
    catalog: Catalog, signatures: Mapping[str, bytes], find_pairs: FindPairs | None = None
) -> Int[np.ndarray, " images"]:
    """The group of every image, from the signatures of whole photos by digest.

    A photo with several boxes is several photos, which have exact duplicates only.
    """
    boxes = Counter(digest for digest, _ in set(zip(catalog.digest, catalog.content, strict=True)))
    known = as_rows(signatures.get(digest, b"") if boxes[digest] == 1 else b"" for digest in catalog.digest)
    return find_duplicates(catalog.content, known, find_pairs).group


def duplicate_pairs(signatures: UInt8[np.ndarray, "looks bytes"]) -> Int[np.ndarray, "pairs 2"]:
    """Pairs (a < b) of distinct signatures that are duplicates, of each with the nearest few in coarse features."""
    pairs = near_pairs(features(signatures), RADIUS, LOOKED_AT)
    return pairs[distances(signatures, pairs[:, 0], pairs[:, 1]) <= 1]


def kept_together(item: np.ndarray, rows: np.ndarray, group: np.ndarray) -> np.ndarray:
    """A name for each row that items with a common duplicate share: the least name of those items.

    `group` are the duplicate groups of `rows`; -1 connects nothing.

    >>> item = np.array(["c", "b", "a", "c"], dtype=object)
    >>> kept_together(item, np.arange(4), np.array([-1, 0, -1, 0])).tolist()
    ['b', 'b', 'a', 'b']
    """
    names, code = codes(item)
    use = group >= 0
    ends = code[rows[use]], len(names) + group[use]
    nodes = len(names) + int(group.max(initial=-1)) + 1
    _, part = connected_components(
        coo_array((np.ones(use.sum(), np.int8), ends), (nodes, nodes)), directed=False
    )
    by_name = sorted(range(len(names)), key=names.__getitem__)
    least: dict[int, str] = {}
    for at in by_name:
        least.setdefault(part[at], names[at])
    return strings(least[part[at]] for at in range(len(names)))[code]


def distances(
    signatures: UInt8[np.ndarray, "images bytes"], a: Int[np.ndarray, " pairs"], b: Int[np.ndarray, " pairs"]
) -> Float[np.ndarray, " pairs"]:
    """How far the photos of rows a and b are apart: 0 the same, 1 the limit, above 1 two photos.

    min(direct / 0.13, aligned / 0.07) of `likeness`; infinite where contrasts differ by more than a factor of
    1.15, mean tones by more than 16 of 255, or the direct distance is above 0.6.
    """
    found = np.full(len(a), np.inf, np.float32)
    for start in range(0, len(a), _BLOCK):
        part = slice(start, start + _BLOCK)
        found[part] = _distances(signatures[a[part]], signatures[b[part]])
    return found


def _distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    found = np.full(len(a), np.inf, np.float32)
    lighter = np.abs(a[:, :LIGHT].mean(axis=1) - b[:, :LIGHT].mean(axis=1))
    one, other = tones(a), tones(b)
    gain = contrast(one) / contrast(other)
    fit = np.flatnonzero((np.maximum(gain, 1 / gain) <= MOST_GAIN) & (lighter <= MOST_LIGHTER))
    plain = direct(one[fit], other[fit])
    fit, plain = fit[plain <= HOPELESS], plain[plain <= HOPELESS]
    found[fit] = plain / DIRECT
    unsure = fit[plain > DIRECT]
    found[unsure] = np.minimum(found[unsure], aligned(one[unsure], other[unsure]) / ALIGNED)
    return found


def _distinct(signatures: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of distinct signatures, sorted by their bytes, and each row's place among them.

    What follows sees signatures in this order, whatever order the rows came in.
    """
    keys = np.ascontiguousarray(signatures[rows]).view(f"V{BYTES}").ravel()
    order = np.argsort(keys, kind="stable")
    new = np.ones(len(rows), dtype=bool)
    new[1:] = [keys[one] != keys[other] for one, other in pairwise(order.tolist())]
    place = np.empty(len(rows), np.int64)
    place[order] = np.cumsum(new) - 1
    return rows[order[new]], place


def _stars(looks: np.ndarray, find_pairs: FindPairs) -> np.ndarray:
    """The place of the centre of each distinct signature's group, its own where it has no duplicate.

    Whoever has most duplicates is a centre first and takes all that are free. Only the nearest few of each are
    looked at; centres that found many there are put together anew until nothing changes any more.
    """
    centre, asked = np.arange(len(looks)), np.arange(len(looks))
    pairs = find_pairs(looks)
    while len(pairs):
        degree = np.bincount(pairs.ravel(), minlength=len(looks))
        joined = _joined(pairs, degree)
        loose = _taken(centre, joined, looks)
        crowded = asked[(centre[asked] == asked) & (degree[asked] >= CROWDED)]
        asked = np.union1d(crowded, loose)
        pairs = asked[duplicate_pairs(looks[asked])]
    return centre


def _joined(pairs: np.ndarray, degree: np.ndarray) -> np.ndarray:
    """Who joins whom (joins x 2: point, its centre): centres by degree, then by place."""
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    rank = np.empty(len(degree), np.int64)
    rank[np.lexsort((np.arange(len(degree)), -degree))] = np.arange(len(degree))
    ends = ends[np.lexsort((ends[:, 1], rank[ends[:, 0]]))]
    free = np.ones(len(degree), dtype=bool)
    joins = []
    for star in np.split(ends, np.flatnonzero(np.diff(ends[:, 0])) + 1) if len(ends) else []:
        centre, near = star[0, 0], star[:, 1]
        if free[centre]:
            taken = near[free[near]]
            free[taken] = free[centre] = False
            joins += [(point, centre) for point in taken.tolist()]
    return np.array(joins, np.int64).reshape(-1, 2)


def _taken(centre: np.ndarray, joined: np.ndarray, looks: np.ndarray) -> np.ndarray:
    """Move points and what they were centres of to new centres; what is too far from its new one is left alone.

    Returns those left alone.
    """
    goes = np.arange(len(centre))
    goes[joined[:, 0]] = joined[:, 1]
    moved = np.flatnonzero(goes[centre] != centre)
    wanted = goes[centre[moved]]
    alone = distances(looks, moved, wanted) > 1
    centre[moved] = np.where(alone, moved, wanted)
    return moved[alone]


def _grouped(
    photo: np.ndarray, original: np.ndarray, centre: np.ndarray, signatures: np.ndarray
) -> DuplicateGroups:
    """Groups and pairs, from each photo's row, the first row with its bytes and the row of its group's centre."""
    _, code, size = np.unique(centre, return_inverse=True, return_counts=True)
    use = size[code] > 1
    photo, original, centre = photo[use], original[use], centre[use]
    group = np.full(len(signatures), -1, np.int64)
    _, begins, code = np.unique(centre, return_index=True, return_inverse=True)
    number = np.empty(len(begins), np.int64)
    number[np.argsort(begins)] = np.arange(len(begins))
    group[photo] = number[code]
    exact = original != photo
    of = np.where(exact, original, centre)
    pair = of != photo
    of, copy, exact = of[pair], photo[pair], exact[pair]
    far = np.zeros(len(of), np.float32)
    far[~exact] = distances(signatures, of[~exact], copy[~exact])
    return DuplicateGroups(group, of, copy, exact, far)


def features(signatures: UInt8[np.ndarray, "looks bytes"]) -> Float[np.ndarray, "looks 15"]:
    """Fifteen low frequencies of each signature, as a share of its contrast: small crops hardly change them.

    Cosine transforms of light (frequencies i + j = 1 to 3) and of colour (i + j = 0, 1).
    """
    rows = [np.empty((0, 15), np.float32)]
    for start in range(0, len(signatures), _BLOCK):
        vectors = tones(signatures[start : start + _BLOCK])
        vectors /= contrast(vectors)[:, None]
        light = _waves(CELLS, 4) @ vectors[:, :LIGHT].reshape(-1, CELLS, CELLS) @ _waves(CELLS, 4).T
        planes = vectors[:, LIGHT:].reshape(-1, 2, COARSE, COARSE)
        colour = _waves(COARSE, 2) @ planes @ _waves(COARSE, 2).T
        order, order_of_colour = (np.add.outer(np.arange(k), np.arange(k)) for k in (4, 2))
        chosen = light[:, (order > 0) & (order < 4)], colour[:, :, order_of_colour < 2]
        rows.append(np.concatenate([part.reshape(len(vectors), -1) for part in chosen], axis=1))
    return np.concatenate(rows)


def _waves(cells: int, count: int) -> np.ndarray:
    """The first cosines over a line of cells, of length 1 (count x cells)."""
    at = np.pi * (np.arange(cells) + 0.5) / cells
    scale = np.where(np.arange(count) == 0, 1, 2) / cells
    return (np.sqrt(scale)[:, None] * np.cos(np.outer(np.arange(count), at))).astype(np.float32)
