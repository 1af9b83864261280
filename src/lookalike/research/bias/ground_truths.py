"""Ground truths: the studio, drawn from a seed, and workspaces whose labels are complete."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np
from jaxtyping import Int
from PIL import Image

from lookalike.api import values
from lookalike.core.checks import fingerprint, strings
from lookalike.core.errors import LabelsError
from lookalike.core.progress import Progress, part
from lookalike.core.types import Basis, Catalog, Embeddings, Rule
from lookalike.rank.distinct import top_lists
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import JudgedPairs
from lookalike.research.bias.pools import TRUTH, GroundTruth, lacking
from lookalike.store.workspace import Workspace
from lookalike.studio import Studio, consensus, experts, true_labels, vote
from lookalike.studio.simulated_encoders import NONE, observed, observers
from lookalike.studio.wild import wild_photo
from lookalike.workflows.decide.pairs import rank_on_labels
from lookalike.workflows.decide.trained import untrained

DESCRIPTORS = ("color", "hog", "layout", "lbp")
JOINED = ("color+hog", "color+lbp", "hog+lbp", "color+hog+layout", "color+hog+layout+lbp")
OBSERVERS, BLENDED = 11, (("color", 4), ("hog", 5), ("layout", 6), ("color+hog", 8))
"""How many as-if encoders there are, and which descriptor is joined with which of them."""
QUERIES, DEPTH, SPARE, RANDOM_EACH = 400, 10, 4, 8
ONE, TWO = "one expert", "two experts"
TEST_SHARE, WHOLE = 0.3, Rule()


@dataclass(frozen=True, eq=False)
class Queries:
    """A studio's catalog and the queries asked of it: their rows, and the items of the studio that they show.

    Wild queries are photos after those of the studio, each an item of its own. `rule` says among which candidates.
    """

    catalog: Catalog
    row: Int[np.ndarray, " queries"]
    item: Int[np.ndarray, " queries"]
    rule: Rule = WHOLE

    @property
    def wild(self) -> Int[np.ndarray, " wild"]:
        """The items of which there are wild photos."""
        return self.item if (self.catalog.role == "query").any() else NONE


def own_queries(drawn: Studio, random: np.random.Generator, queries: int = QUERIES) -> Queries:
    """One photo each of up to `queries` items."""
    item = np.sort(random.choice(drawn.items, min(queries, drawn.items), replace=False))
    return Queries(drawn.catalog(), item * drawn.photos_per_item, item)


def wild_queries(drawn: Studio, random: np.random.Generator, queries: int = QUERIES) -> Queries:
    """Photos of another style of up to `queries` items (EDS 5.2)."""
    item, shop = own_queries(drawn, random, queries).item, drawn.catalog()
    names = strings(f"wild/{place:04d}.png" for place in range(len(item)))
    here = np.concatenate([np.arange(len(shop)), item * drawn.photos_per_item])
    is_wild = np.arange(len(here)) >= len(shop)
    catalog = replace(
        shop.take(here),
        image=np.concatenate([shop.image, names]),
        path=np.concatenate([shop.path, names]),
        item=np.concatenate([shop.item, names]),
        role=np.where(is_wild, "query", "both").astype(object),
    )
    return Queries(catalog, np.flatnonzero(is_wild), item)


def split_queries(drawn: Studio, random: np.random.Generator, queries: int = QUERIES) -> Queries:
    """Queries and candidates of the test split, to which 3 in 10 items belong; pools are made of the whole catalog."""
    shop = drawn.catalog()
    is_test = random.random(drawn.items) < TEST_SHARE
    item = np.sort(random.permutation(np.flatnonzero(is_test))[:queries])
    split = np.where(is_test[shop.item_codes[1]], "test", "train").astype(object)
    return Queries(replace(shop, split=split), item * drawn.photos_per_item, item, Rule(split="test"))


Kind = Literal["catalog", "wild", "split"]
KINDS: Mapping[Kind, Callable[..., Queries]] = MappingProxyType(
    {"catalog": own_queries, "wild": wild_queries, "split": split_queries}
)


def queries_of(drawn: Studio, kind: Kind) -> Queries:
    """The queries of one kind, drawn from the studio's seed."""
    return KINDS[kind](drawn, np.random.Generator(np.random.PCG64(drawn.seed)))


def write_wild(photos: Path, drawn: Studio, asked: Queries, size: int) -> None:
    """The photos of wild queries, beside those of the studio."""
    random = np.random.Generator(np.random.PCG64((drawn.seed, len(asked.wild))))
    for row, item in zip(asked.row.tolist(), asked.wild.tolist(), strict=False):
        shown = wild_photo(drawn.draw(item * drawn.photos_per_item, size), random)
        path = photos / asked.catalog.path[row]
        path.parent.mkdir(exist_ok=True)
        Image.fromarray(shown).save(path)


def studio_encoders(
    drawn: Studio, photos: Path, asked: Queries | None = None, progress: Progress | None = None
) -> list[Embeddings]:
    """Descriptors of the photos, their joins, as-if encoders, and joins of the two kinds."""
    catalog, wild = (drawn.catalog(), NONE) if asked is None else (asked.catalog, asked.wild)
    made: dict[str, np.ndarray] = {}
    for done, name in enumerate(DESCRIPTORS):
        step = part(progress, done, len(DESCRIPTORS))
        made[name] = values.embed(catalog, f"descriptor:{name}", photos=photos, progress=step).vectors
    for name in JOINED:
        made[name] = _beside([made[one] for one in name.split("+")])
    return [Embeddings(name, catalog.image, v) for name, v in (made | _as_if(drawn, made, wild)).items()]


def as_if_encoders(drawn: Studio) -> list[Embeddings]:
    """The as-if encoders alone, which need no photos."""
    image = drawn.catalog().image
    return [Embeddings(name, image, v) for name, v in _as_if(drawn, {}, NONE).items()]


def studio_ground_truth(
    drawn: Studio,
    encoders: Sequence[Embeddings],
    asked: Queries | None = None,
    *,
    queries: int = QUERIES,
    depth: int = DEPTH,
) -> GroundTruth:
    """What is true of some queries, its own by default; judged are every encoder's top `depth` and 8 random items each.

    Queries are left out if the last of these places of an encoder is one of a tie that was not judged to its end.
    """
    random = np.random.Generator(np.random.PCG64(drawn.seed))
    own = own_queries(drawn, random, queries)
    asked = asked or own
    query, found, drawn_at_random = _pairs(drawn, asked, encoders, random, depth)
    item, label = asked.item[query], true_labels(drawn, asked.item[query], found)
    one, two = (vote(drawn, expert, item, found) for expert in experts(2, drawn.seed))
    answers = {TRUTH: label, ONE: one, TWO: consensus(one, two)}
    pairs = _judged(asked, query, found, label, asked.rule)
    ranks = tuple(judged_ranks(asked.catalog, encoder, pairs) for encoder in encoders)
    proposed = None
    if asked.rule.split is not None:
        everywhere = _judged(asked, query, found, label, Rule())
        proposed = np.stack([judged_ranks(asked.catalog, one, everywhere).rank for one in encoders])
    whole = ~np.any([lacking(one, depth) > 0 for one in ranks], axis=0)[ranks[0].query_codes[1]]
    return GroundTruth(
        tuple(one.only(whole) for one in ranks),
        {kind: label[whole] for kind, label in answers.items()},
        drawn_at_random[whole],
        depth,
        None if proposed is None else proposed[:, whole],
    )


def _judged(
    asked: Queries, query: np.ndarray, found: np.ndarray, label: np.ndarray, rule: Rule
) -> JudgedPairs:
    catalog, rows = asked.catalog, asked.row[query]
    basis = Basis(catalog.fingerprint, fingerprint(query, found, label), rule)
    return JudgedPairs(rows, found, label, catalog.image[rows], catalog.item_codes[0][found], basis, ())


def workspace_ground_truth(workspace: Workspace, progress: Progress | None = None) -> GroundTruth:
    """All labels of a workspace, which must be complete for every encoder's top 10; trained encoders stay out of it."""
    found = rank_on_labels(workspace, untrained(workspace), progress=progress)
    if len(found.pairs) == 0:
        raise LabelsError(
            "There are no labels, so there is no truth to compare with.",
            fix="Import complete labels, or use the studio catalog: lookalike bias",
        )
    everywhere = np.ones(len(found.pairs), bool)
    return GroundTruth(tuple(found.ranks.values()), {TRUTH: found.pairs.label}, everywhere, DEPTH)


def _as_if(
    drawn: Studio, descriptors: Mapping[str, np.ndarray], wild: Int[np.ndarray, " wild"]
) -> dict[str, np.ndarray]:
    seen = [(one.name, observed(drawn, one, wild)) for one in observers(OBSERVERS, drawn.seed)]
    joins = [
        (f"{seen[place][0]}+{name}", _beside([seen[place][1], descriptors[name]]))
        for name, place in BLENDED
        if name in descriptors
    ]
    return dict(seen + joins)


def _beside(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Vectors side by side, each of length 1."""
    scaled = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in parts]
    return np.concatenate(scaled, axis=1).astype(np.float32)


def _pairs(
    drawn: Studio, asked: Queries, encoders: Sequence[Embeddings], random: np.random.Generator, depth: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(query place, item) of all encoders' top lists and of random items, and which are random."""
    of_image = asked.catalog.item_codes[1]
    tops = [
        of_image[top_lists(asked.catalog, one, asked.row, depth + SPARE, asked.rule).row] for one in encoders
    ]
    others = random.integers(0, drawn.items - 1, (len(asked.row), RANDOM_EACH))
    others += others >= of_image[asked.row][:, None]  # any item but the query's own
    place = np.arange(len(asked.row))[:, None] * drawn.items
    key = np.unique(np.concatenate([place + np.concatenate(tops, axis=1), place + others], axis=1))
    query, found = np.divmod(key, drawn.items)
    first = np.unique(of_image, return_index=True)[1]
    inside = asked.catalog.is_gallery(asked.rule.split)[first][found]
    return query[inside], found[inside], np.isin(key, place + others)[inside]
