"""Pairs as pages and programs get them: which photo is on the left, which on the right, and where they are."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from lookalike.store.giving import Given
from lookalike.store.unit_of_work import UnitOfWork
from lookalike.web.labelling import Labelling
from lookalike.web.routes.images import image_address

LIST, BESIDE, ZOOM = 240, 960, 2400


def given_pairs(work: UnitOfWork, labelling: Labelling, given: Sequence[Given]) -> list[dict[str, Any]]:
    """Given pairs. The two photos look alike in role: which one is the query is not told."""
    images = (image for pair in given for image in (pair.query, pair.candidate))
    hashes = labelling.hashes(work.connection, images, work.images_ahead)
    return [_given(pair, hashes) for pair in given]


def photo(image: str, hashes: Mapping[str, str]) -> dict[str, str]:
    """One photo: its image, where it is beside another, where it is large."""
    digest = hashes.get(image, "")
    return {
        "image": image,
        "url": image_address(image, digest, BESIDE),
        "zoom_url": image_address(image, digest, ZOOM),
    }


def _given(pair: Given, hashes: Mapping[str, str]) -> dict[str, Any]:
    left, right = (pair.candidate, pair.query) if pair.side else (pair.query, pair.candidate)
    return {
        "token": pair.token,
        "question": pair.question,
        "until": pair.until,
        "left": photo(left, hashes),
        "right": photo(right, hashes),
    }


def pictures(connection: Connection, labelling: Labelling, pairs: Sequence[Any]) -> list[dict[str, Any]]:
    """Pairs of a list, each with where its photos are small, beside another and large."""
    hashes = labelling.hashes(connection, (image for pair in pairs for image in (pair.query, pair.candidate)))
    return [
        {"pair": pair, "query": _small(pair.query, hashes), "candidate": _small(pair.candidate, hashes)}
        for pair in pairs
    ]


def _small(image: str, hashes: Mapping[str, str]) -> dict[str, str]:
    return {**photo(image, hashes), "small_url": image_address(image, hashes.get(image, ""), LIST)}
