"""Pairs for pages and programs: the photos on the left and on the right, and their addresses."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from lookalike.annotate.protocol import SETTLED
from lookalike.store.labelling.corrections import OwnAnswer
from lookalike.store.labelling.discussion.lists import DiscussionList, discussions
from lookalike.store.labelling.guidelines import examples, read_guideline
from lookalike.store.labelling.leases import Given
from lookalike.store.people.people import Person
from lookalike.store.thumbnails import SIZES
from lookalike.web.pages.markup import rendered
from lookalike.web.routes.images import image_address
from lookalike.web.schemas import GivenPair, ListedPhoto, Pairs, Photo, ShownAnswer
from lookalike.web.site import Site

PAGE = 24
LIST, *LABELLING_SIZES = SIZES
BESIDE, ZOOM = LABELLING_SIZES[0], LABELLING_SIZES[-1]


def given_pairs(connection: Connection, site: Site, given: Sequence[Given]) -> list[GivenPair]:
    """Reserved pairs. Nothing tells which of the two photos is the query, or which pairs are hidden checks."""
    images = (image for pair in given for image in (pair.query, pair.candidate))
    hashes = site.hashes(connection, images)
    return [_given(pair, hashes) for pair in given]


def photo(image: str, hashes: Mapping[str, str]) -> Photo:
    """One photo: its image id, and its addresses at labelling size and at zoom size."""
    digest = hashes.get(image, "")
    return {
        "image": image,
        "url": image_address(image, digest, BESIDE),
        "zoom_url": image_address(image, digest, ZOOM),
    }


def srcset(address: str) -> str:
    """The resolutions of a photo on the labelling page, from one of its addresses. The browser chooses.

    >>> srcset("/images/960/bed/1.jpg?v=01234567").split(", ")[1]
    '/images/1600/bed/1.jpg?v=01234567 1600w'
    """
    _, images, _, image = address.split("/", 3)
    return ", ".join(f"/{images}/{size}/{image} {size}w" for size in LABELLING_SIZES)


def _given(pair: Given, hashes: Mapping[str, str]) -> GivenPair:
    left, right = (pair.candidate, pair.query) if pair.side else (pair.query, pair.candidate)
    return {
        "token": pair.token,
        "until": pair.until,
        "left": photo(left, hashes),
        "right": photo(right, hashes),
    }


def pictures(connection: Connection, site: Site, pairs: Sequence[Any]) -> list[dict[str, Any]]:
    """Pairs of a list, each with the addresses of its photos in three sizes."""
    hashes = site.hashes(connection, (image for pair in pairs for image in (pair.query, pair.candidate)))
    return [
        {"pair": pair, "query": _small(pair.query, hashes), "candidate": _small(pair.candidate, hashes)}
        for pair in pairs
    ]


def shown_answers(connection: Connection, site: Site, answers: Sequence[OwnAnswer]) -> list[ShownAnswer]:
    """Own answers with their photos. Nothing tells which of them are hidden checks."""
    hashes = site.hashes(connection, (image for one in answers for image in (one.left, one.right)))
    return [
        {
            "token": one.token,
            "left": _small(one.left, hashes),
            "right": _small(one.right, hashes),
            "answer": one.answer,
            "reason": one.reason,
            "at": one.at,
            "correctable": one.correctable,
        }
        for one in answers
    ]


def resolved_pairs(
    connection: Connection, site: Site, person: Person, after: int, *, but: Iterable[int] = ()
) -> dict[str, Any]:
    """Resolved pairs to choose from, without some questions, and after which question the next page begins."""
    found, known = pair_page(connection, DiscussionList(SETTLED, reader=person.reads_as), after), {*but}
    pairs = [pair for pair in found.pairs if pair.question not in known]
    return {"resolved": pictures(connection, site, pairs), "next_after": found.after}


def pair_page(connection: Connection, listed: DiscussionList, after: int = 0, limit: int = PAGE) -> Pairs:
    """A page of a list of pairs that are no longer open."""
    found = discussions(connection, listed, after=after, limit=limit + 1)
    more = found[limit - 1].question if len(found) > limit else None
    return Pairs(pairs=list(found[:limit]), after=more)


def guidance(connection: Connection, site: Site) -> dict[str, Any]:
    """The guidelines and examples that a page shows over the photos."""
    shown = pictures(connection, site, examples(connection))
    return {"guideline": rendered(read_guideline(connection).text), "examples": shown}


def _small(image: str, hashes: Mapping[str, str]) -> ListedPhoto:
    return {**photo(image, hashes), "small_url": image_address(image, hashes.get(image, ""), LIST)}
