"""The search page as values for its template: addresses, filters, and the result lists of encoders side by side."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from lookalike.core.errors import ArgumentError, LookalikeError
from lookalike.core.types import Catalog
from lookalike.store.thumbnails import SIZES
from lookalike.web.routes.images import image_address
from lookalike.web.serving.searchers import MOST_LOADED, STALE
from lookalike.workflows.release.promise import PromiseState
from lookalike.workflows.search.searcher import SearchAnswer

K, MOST_K = 10, 100
MOST_ENCODERS = MOST_LOADED  # more would be loaded again for every page


@dataclass(frozen=True)
class Wanted:
    """What an address of the search page asks for. `encoders` () are those shown unless others are chosen."""

    image: str = ""
    photo: str = ""
    box: str = ""
    encoders: tuple[str, ...] = ()
    k: int = K
    filters: tuple[str, ...] = ()
    words: str = ""
    after: int = 0

    @property
    def where(self) -> list[tuple[str, str]]:
        """The filters as columns and values. Raises ArgumentError for one without a column or a value."""
        pairs = [one.partition("=") for one in self.filters]
        if wrong := [name + sign + value for name, sign, value in pairs if not (name and sign and value)]:
            raise ArgumentError(
                f"{wrong[0]!r} is not a filter.", fix="Write it as COLUMN=VALUE, for example category=chair."
            )
        return [(name, value) for name, _, value in pairs]

    def address(self, **changes: Any) -> str:  # noqa: ANN401 - values of fields
        """The address of this page with some values changed.

        >>> Wanted(image="a 1.jpg", k=5).address(filters=("category=bed",))
        '/search?image=a+1.jpg&k=5&filter=category%3Dbed'
        """
        new = replace(self, **changes)
        parts: list[tuple[str, str | int]] = [("image", new.image), ("photo", new.photo), ("box", new.box)]
        parts += [("encoder", name) for name in new.encoders]
        parts += [("k", new.k if new.k != K else "")]
        parts += [("filter", one) for one in new.filters]
        parts += [("words", new.words), ("after", new.after or "")]
        given = urlencode([(name, value) for name, value in parts if value != ""])
        return f"/search?{given}" if given else "/search"

    def toggled(self, column: str, value: str) -> str:
        """The address with a filter switched on or off; the gallery begins again."""
        one = f"{column}={value}"
        kept = tuple(known for known in self.filters if known != one)
        return self.address(filters=kept if one in self.filters else (*self.filters, one), after=0)


@dataclass(frozen=True)
class Column:
    """The results of one encoder and its promise, or why there are none."""

    encoder: str
    answer: SearchAnswer | None
    promise: PromiseState | None = None
    stale: bool = False
    problem: LookalikeError | None = None


def filter_chips(wanted: Wanted, facets: Mapping[str, Mapping[str, int]]) -> list[dict[str, Any]]:
    """One menu for each column: its values with the number of images, and the address that switches each."""
    chips = []
    chosen: dict[str, list[str]] = {}
    for column, _, value in (one.partition("=") for one in wanted.filters):
        chosen.setdefault(column, []).append(value)
    for column in dict.fromkeys((*facets, *chosen)):
        known, mine = facets.get(column, {}), chosen.get(column, [])
        values = [(value, known.get(value, 0)) for value in dict.fromkeys((*known, *mine))]
        others = tuple(one for one in wanted.filters if one.partition("=")[0] != column)
        chips.append(
            {
                "column": column,
                "chosen": mine,
                "any": wanted.address(filters=others, after=0),
                "values": [
                    {"value": value, "count": count, "on": value in mine, "to": wanted.toggled(column, value)}
                    for value, count in values
                ],
            }
        )
    return chips


def encoder_chips(wanted: Wanted, names: Sequence[str], shown: Sequence[str]) -> list[dict[str, Any]]:
    """One switch for each encoder. The last one that is shown cannot be switched off."""
    chips = []
    for name in names:
        is_on = name in shown
        kept = tuple(one for one in shown if one != name) if is_on else (*shown, name)
        full = not is_on and len(shown) >= MOST_ENCODERS
        to = "" if full or not kept else wanted.address(encoders=kept)
        chips.append({"name": name, "on": is_on, "to": to})
    return chips


def columns_shown(
    wanted: Wanted, catalog: Catalog, columns: Sequence[Column], labels: Mapping[str, int]
) -> list[dict[str, Any]]:
    """The lists of all encoders, with what only one of them shows. `labels` are of items, for the query."""
    answers = {one.encoder: one.answer for one in columns if one.answer is not None}
    shows = Counter(hit.item for answer in answers.values() for hit in answer.results)
    shown = []
    for one in columns:
        hits: list[dict[str, Any]] = []
        for rank, hit in enumerate(one.answer.results if one.answer else (), 1):
            row = catalog.row.get(hit.image, -1)
            hits.append(
                {
                    "rank": rank,
                    "image": hit.image,
                    "item": hit.item,
                    "score": hit.score,
                    "label": labels.get(hit.item),
                    "only": len(answers) > 1 and shows[hit.item] == 1,
                    "to": wanted.address(image=hit.image, photo="", box="", words="", after=0),
                    **photo_of(catalog, row),
                }
            )
        promise = one.promise if one.promise is not None and not one.promise.why_none else None
        judged = [hit["label"] for hit in hits if hit["label"] is not None]
        shown.append(
            {
                "encoder": one.encoder,
                "problem": one.problem,
                "hits": hits,
                "judged": len(judged),
                "similar": sum(judged),
                "only": sum(hit["only"] for hit in hits),
                "promise": promise,
                "reached": promise.reached([hit["score"] for hit in hits]) if promise else 0,
                "notes": [note for note in (one.answer.note if one.answer else "", stale_note(one)) if note],
                "exhausted": one.answer is not None and one.answer.exhausted,
            }
        )
    return shown


def stale_note(column: Column) -> str:
    """That the vectors of an encoder are older than the catalog; "" if they are not."""
    return STALE.format(column.encoder) if column.stale else ""


def photo_of(catalog: Catalog, row: int) -> dict[str, str]:
    """The addresses of a catalog image's photo in a list and beside others; of row -1, which is new, without photo."""
    if row < 0:
        return {"small": "", "large": ""}
    image, digest = str(catalog.image[row]), str(catalog.digest[row])
    return {"small": image_address(image, digest, SIZES[0]), "large": image_address(image, digest, SIZES[1])}


def unjudged(columns: Sequence[Mapping[str, Any]]) -> list[str]:
    """The images shown for items without a label, each item once, best ranks first."""
    first: dict[str, str] = {}
    for hit in sorted((hit for one in columns for hit in one["hits"]), key=lambda hit: int(hit["rank"])):
        if hit["label"] is None:
            first.setdefault(hit["item"], hit["image"])
    return list(first.values())
