"""The frozen values between the stages.

photos -> Catalog -> Embeddings -> Pool -> votes -> Labels
                         |                        |
                         +----> JudgedRanks <-----+
                                    |
                                  Scores
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from jaxtyping import Bool, Float, Float32, Float64, Int, Int8, Int64, Shaped
from numpy.typing import ArrayLike

from lookalike.core.checks import codes, fingerprint, one_of, strings
from lookalike.core.errors import LabelsError, NotComparableError

ROLES = ("query", "gallery", "both")
Split = Literal["train", "validation", "test"]
Level = Literal["item", "image", "paper"]
Similarity = Literal["cosine", "dot", "euclidean"]
SPLITS: tuple[Split, ...] = get_args(Split)
LEVELS: tuple[Level, ...] = get_args(Level)
SIMILARITIES: tuple[Similarity, ...] = get_args(Similarity)
NO_COLUMNS: Mapping[str, np.ndarray] = MappingProxyType({})
NONE_DRAWN = np.empty(0, dtype=np.int8)
JUDGED_COLUMNS = ("query", "candidate", "label", "above", "tied", "score", "candidates", "drawn")
DRAWN: Mapping[str, int] = MappingProxyType({"sampled": 1, "catalog": 2})
NO_GROUPS = np.empty(0, dtype=np.int64)
NO_BOXES = np.empty(0, dtype=object)


class LeftOut(NamedTuple):
    """An image that is not in the catalog, and why. `position` is its row in the source."""

    image: str
    path: str
    position: int
    reason: str


CATALOG_TEXTS = ("image", "path", "item", "category", "role", "split", "digest", "box")
CATALOG_NUMBERS = ("position", "width", "height")


def contents(digests: Iterable[str], boxes: Iterable[str]) -> np.ndarray:
    """The hash of what an encoder sees of each photo: its digest, with a box or mask that of both."""
    return strings(
        # of a mask, its hash and not its path
        hashlib.sha256(f"{digest}#{' '.join(box.split(' ', 2)[:2])}".encode()).hexdigest() if box else digest
        for digest, box in zip(digests, boxes, strict=True)
    )


@dataclass(frozen=True, eq=False)
class Catalog:
    """One row per image. Text columns are object arrays of `str`, all of one length.

    `position` is the image's row in the table given to `init` (of a folder: its place among the sorted
    paths), left-out images included. `digest`, `width` and `height` are of the photo as it is shown
    (EXIF orientation applied); they are "" and 0 where no photo was read. `columns` are the table's others.
    Photos of one `duplicate` group are one photo, byte for byte or nearly so; -1 (all of them unless given) is a
    photo without duplicates. An encoder sees only the `box` of a photo, "x0,y0,x1,y1" in pixels of the photo as it is
    shown; "" (all of them unless given) is the whole photo. With a mask it is "BOX HASH PATH", see `Region`.
    """

    image: Shaped[np.ndarray, " images"]
    path: Shaped[np.ndarray, " images"]
    item: Shaped[np.ndarray, " images"]
    category: Shaped[np.ndarray, " images"]
    role: Shaped[np.ndarray, " images"]
    split: Shaped[np.ndarray, " images"]
    position: Int[np.ndarray, " images"]
    digest: Shaped[np.ndarray, " images"]
    width: Int[np.ndarray, " images"]
    height: Int[np.ndarray, " images"]
    columns: Mapping[str, np.ndarray] = field(default_factory=lambda: NO_COLUMNS)
    left_out: tuple[LeftOut, ...] = ()
    duplicate: Int[np.ndarray, " images"] = field(default_factory=lambda: NO_GROUPS)
    box: Shaped[np.ndarray, " images"] = field(default_factory=lambda: NO_BOXES)

    def __post_init__(self) -> None:
        if self.box is NO_BOXES:
            object.__setattr__(self, "box", np.full(len(self.image), "", dtype=object))
        if self.duplicate is NO_GROUPS:
            object.__setattr__(self, "duplicate", np.full(len(self.image), -1, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.image)

    @cached_property
    def row(self) -> Mapping[str, int]:
        """Image id -> row."""
        return {image: i for i, image in enumerate(self.image)}

    @cached_property
    def item_codes(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct items in order of appearance, and each row's place among them."""
        return codes(self.item)

    @cached_property
    def fingerprint(self) -> str:
        """Equal exactly when images, items, roles and splits are."""
        return fingerprint(self.image, self.item, self.role, self.split)

    @cached_property
    def content(self) -> Shaped[np.ndarray, " images"]:
        """The hash of what an encoder sees of each photo: its digest, with a box or mask that of both."""
        return contents(self.digest, self.box)

    @cached_property
    def images_fingerprint(self) -> str:
        """Equal exactly when the images, the contents of their photos, their boxes and their order are."""
        return fingerprint(self.image, self.content)

    def take(self, rows: Int[np.ndarray, " kept"]) -> "Catalog":
        """The catalog of some rows, in the order given; nothing is left out of it. One photo alone is no duplicate."""
        group = self.duplicate[rows]
        times = np.bincount(group + 1, minlength=1)[group + 1]
        return Catalog(
            **{name: getattr(self, name)[rows] for name in (*CATALOG_TEXTS, *CATALOG_NUMBERS)},
            columns={name: values[rows] for name, values in self.columns.items()},
            duplicate=np.where(times > 1, group, -1),
        )

    def leaving_out(self, image: str, reason: str) -> LeftOut:
        """An image of this catalog, as one that another catalog leaves out."""
        row = self.row[image]
        return LeftOut(image, self.path[row], int(self.position[row]), reason)

    def is_query(self, split: str | None = None) -> Bool[np.ndarray, " images"]:
        """Rows that may be queries."""
        return (self.role != "gallery") & self._in(split)

    def is_gallery(self, split: str | None = None) -> Bool[np.ndarray, " images"]:
        """Rows that may be candidates."""
        return (self.role != "query") & self._in(split)

    def _in(self, split: str | None) -> np.ndarray:
        if split is None:
            return np.ones(len(self), dtype=bool)
        return np.asarray(self.split == one_of(split, SPLITS, "split"), dtype=bool)


@dataclass(frozen=True)
class Origin:
    """What made an encoder's vectors: one origin and one photo make one vector.

    `spec` is the encoder string, `preprocessing` says in words how photos are fitted, `weights` is a hash of the
    network's parameters ("" where there are none), `precision` what it computed in.
    """

    spec: str
    preprocessing: str
    weights: str = ""
    precision: str = "float32"


class KnownVectors(NamedTuple):
    """Stored vectors of the same origin: catalog row i has vectors[row[i]], -1 for none."""

    vectors: Float32[np.ndarray, "known dimension"]
    row: Int64[np.ndarray, " images"]


@dataclass(frozen=True, eq=False)
class Embeddings:
    """One encoder over one catalog: `vectors[i]` is the vector of `image[i]`.

    `encoder` is the short name measures and pages use, `spec` the encoder string that made the vectors.
    """

    encoder: str
    image: Shaped[np.ndarray, " images"]
    vectors: Float[np.ndarray, "images dimension"]
    spec: str = ""

    def __len__(self) -> int:
        return len(self.image)


@dataclass(frozen=True, eq=False)
class Pool:
    """Pairs proposed for labelling, with their provenance.

    Pair p is the query image `query[p]` and the candidate item `item[p]`; annotators see the photo
    `candidate[p]`, which most generators ranked best. Provenance row s says that generator
    `generators[source[s]]` proposed pair `pair[s]` at zero-based rank `rank[s]` with `score[s]`.
    """

    query: Shaped[np.ndarray, " pairs"]
    item: Shaped[np.ndarray, " pairs"]
    candidate: Shaped[np.ndarray, " pairs"]
    pair: Int[np.ndarray, " sources"]
    source: Int[np.ndarray, " sources"]
    rank: Int[np.ndarray, " sources"]
    score: Float[np.ndarray, " sources"]
    generators: tuple[str, ...]
    top: int
    queries: Shaped[np.ndarray, " queries"]

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True, eq=False)
class Labels:
    """Resolved labels: `label[i]` is 1 (similar) or 0 (dissimilar) for (query, candidate) images.

    A pair that is not here is unjudged, which is never a negative. A pair may be here with both labels;
    ranking reports such conflicts and leaves them out.
    """

    query: Shaped[np.ndarray, " labels"]
    candidate: Shaped[np.ndarray, " labels"]
    label: Int8[np.ndarray, " labels"]

    def __len__(self) -> int:
        return len(self.query)

    @classmethod
    def of(cls, query: Iterable[object], candidate: Iterable[object], label: ArrayLike) -> "Labels":
        """Labels from any three sequences of one length; a label is 0 or 1 and nothing else."""
        given = np.asarray(label)
        if given.size and not (given.dtype.kind in "biuf" and np.isin(given, (0, 1)).all()):
            raise LabelsError(
                f"A label is 0 or 1, but these were given: {', '.join(sorted({repr(v) for v in given.tolist()})[:5])}.",
                fix="Give 1 for similar and 0 for dissimilar; leave out pairs without a label.",
            )
        columns = strings(query), strings(candidate), given.astype(np.int8)
        if len({len(column) for column in columns}) > 1:
            raise LabelsError(
                "There are {:,} queries, {:,} candidates and {:,} labels.".format(*map(len, columns)),
                fix="Give one query, one candidate and one label per pair.",
            )
        return cls(*columns)


@dataclass(frozen=True)
class Rule:
    """Which candidates a query is ranked against, and by what.

    `level="item"` ranks distinct items, each at its best image; `"image"` ranks images; `"paper"` is EDS's own
    evaluation: pairs on images, lists of distinct items with credit only for the labelled photo. Unless `own_item`,
    all images of the query's item are left out; the query image always is. `split` keeps queries and
    candidates within one split.
    """

    level: Level = "item"
    similarity: Similarity = "cosine"
    own_item: bool = False
    split: Split | None = None

    def __post_init__(self) -> None:
        one_of(self.level, LEVELS, "level")
        one_of(self.similarity, SIMILARITIES, "similarity")
        if self.split is not None:
            one_of(self.split, SPLITS, "split")


@dataclass(frozen=True)
class Drawing:
    """Sampled negatives: how, the most per query, the seed, and the encoders of the lists (`baselines`).

    `how` is a key of `DRAWN`; `pairs` is a fingerprint of the `drawn` pairs. `short` queries got fewer than n.
    """

    how: str
    n: int
    seed: int
    baselines: tuple[str, ...]
    pairs: str
    drawn: int = 0
    short: int = 0


@dataclass(frozen=True)
class Basis:
    """The labels, catalog and rules of a result. Results are comparable only on the same basis."""

    catalog: str
    labels: str
    rule: Rule
    negatives: tuple[Drawing, ...] = ()

    def require_same(self, other: "Basis") -> None:
        """Refuse to compare results of different labels, catalogs, candidate rules or drawn negatives."""
        for part in ("catalog", "labels", "rule", "negatives"):
            mine, theirs = getattr(self, part), getattr(other, part)
            if mine != theirs:
                raise NotComparableError(
                    f"These results were made on different {part}: {mine} and {theirs}.",
                    fix="Evaluate both encoders again in one call, on the same catalog, labels and options.",
                )


@dataclass(frozen=True, eq=False)
class JudgedRanks:
    """One row per labelled pair: all that a measure uses.

    `above` candidates score strictly better, `tied` others score equally (within the tie tolerance); the
    zero-based rank is `above + tied / 2` among `candidates`. At item level `candidate` is an item,
    at image level an image. `score` is what ranks were counted on: cosine, dot product, or minus half the squared
    Euclidean distance. Scores, of two queries too, within `tolerance` are equal. `drawn` is 0 for a labelled pair;
    a pair that nobody judged and that was drawn as a negative is marked with how (`DRAWN`), and only
    measures that ask for it see it. At paper level ranks are of images and `in_list` has the same rows' places in the
    list of distinct items; a row with `above >= candidates` has no place in its list. `kept` caches what
    measures computed from these rows.
    """

    encoder: str
    query: Shaped[np.ndarray, " pairs"]
    candidate: Shaped[np.ndarray, " pairs"]
    label: Int[np.ndarray, " pairs"]
    above: Int[np.ndarray, " pairs"]
    tied: Int[np.ndarray, " pairs"]
    score: Float[np.ndarray, " pairs"]
    candidates: Int[np.ndarray, " pairs"]
    basis: Basis
    tolerance: float = 1e-6
    drawn: Int8[np.ndarray, " pairs"] = field(default_factory=lambda: NONE_DRAWN)
    in_list: "JudgedRanks | None" = None
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.drawn is NONE_DRAWN:
            object.__setattr__(self, "drawn", np.zeros(len(self.query), dtype=np.int8))

    def __len__(self) -> int:
        return len(self.query)

    def only(self, which: Bool[np.ndarray, " pairs"]) -> "JudgedRanks":
        """The rows of a mask, ranks as they are: what is left of the labels, never a new ranking.

        The basis becomes another one: results on fewer labels do not compare with results on all of them.
        """
        if which.all():
            return self
        labels = fingerprint([self.basis.labels, np.packbits(which).tobytes().hex()])
        basis = replace(self.basis, labels=labels)
        rows = {column: getattr(self, column)[which] for column in JUDGED_COLUMNS}
        in_list = None if self.in_list is None else self.in_list.only(which)
        part = replace(self, **rows, basis=basis, in_list=in_list)
        self._hand_down(part, which)
        return part

    def _hand_down(self, part: "JudgedRanks", which: np.ndarray) -> None:
        """Give a part its codes, and its orders where they are known, without looking anything up again."""
        names, code = self.query_codes
        left = code[which]
        first = np.full(len(names), len(left), dtype=np.int64)
        np.minimum.at(first, left, np.arange(len(left)))
        order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(left))]
        place = np.empty(len(names), dtype=np.int64)  # queries keep the order of their first row
        place[order] = np.arange(len(order))
        part.__dict__["query_codes"] = names[order], place[left]
        row = np.cumsum(which) - 1
        for name in ("list_order", "score_order"):
            if name in self.__dict__ and (name == "score_order" or np.all(order[1:] > order[:-1])):
                whole = self.__dict__[name]
                part.__dict__[name] = row[whole[which[whole]]]

    @cached_property
    def labelled(self) -> "JudgedRanks":
        """The labelled pairs alone, without those drawn as negatives."""
        return self.only(self.drawn == 0)

    @cached_property
    def rank(self) -> Float64[np.ndarray, " pairs"]:
        """Zero-based rank, ties at the middle of their places."""
        return np.asarray(self.above + self.tied / 2.0)

    @cached_property
    def list_order(self) -> Int[np.ndarray, " pairs"]:
        """Rows by query (in order of `query_codes`), best rank first."""
        place = 2 * self.above + self.tied
        return np.argsort(self.query_codes[1] * (int(place.max(initial=0)) + 1) + place, kind="stable")

    @cached_property
    def score_order(self) -> Int[np.ndarray, " pairs"]:
        """Rows from the lowest score up."""
        return np.argsort(self.score, kind="stable")

    @cached_property
    def query_codes(self) -> tuple[np.ndarray, np.ndarray]:
        """Distinct queries in order of appearance, and each row's place among them."""
        return codes(self.query)


@dataclass(frozen=True, eq=False)
class Pooled:
    """What a measure over all pairs at once is folded from: enough to fold it again with other query weights.

    `fold` is "auc" or "ap". `positive` and `negative` hold the queries of the pairs of each label, as places among the
    score's queries, both from the lowest score up. Of the negatives, `under[i]` score below positive i
    and `not_over[i]` do not score above it; of the positives, `lower[i]` score below it.
    """

    fold: str
    positive: Int[np.ndarray, " positives"]
    negative: Int[np.ndarray, " negatives"]
    under: Int[np.ndarray, " positives"]
    not_over: Int[np.ndarray, " positives"]
    lower: Int[np.ndarray, " positives"]


@dataclass(frozen=True, eq=False)
class Score:
    """One measure of one encoder: its value, and the parts it is folded from.

    For every measure but micro AUC and PR-AUC, value = sum(numerator) / sum(denominator) over the queries
    of `query`; a query with denominator 0 does not count. Micro AUC and PR-AUC compare pairs of different queries:
    they have `pooled` and no parts. `queries` is how many count. Where the value is undefined it is NaN and
    `reason` says why.
    """

    measure: str
    value: float
    queries: int
    query: Shaped[np.ndarray, " queries"]
    numerator: Float64[np.ndarray, " parts"]
    denominator: Float64[np.ndarray, " parts"]
    reason: str = ""
    pooled: Pooled | None = None


@dataclass(frozen=True, eq=False)
class Scores:
    """All measures of one encoder on one basis, by printable name."""

    encoder: str
    basis: Basis
    scores: Mapping[str, Score]

    def __getitem__(self, measure: str) -> Score:
        return self.scores[measure]
