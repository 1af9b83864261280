"""What the labelling routes share: the rules as the campaign has them, photos' hashes, and the sweep of each second."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager, suppress

from sqlalchemy import Connection
from starlette.requests import HTTPConnection

from lookalike.store.leases import Rules
from lookalike.store.settling import rules_of
from lookalike.store.standing import digests
from lookalike.store.sweep import sweep
from lookalike.web.site import Site

SECOND = 1.0
BITE = 100  # pairs swept at once: answers that came meanwhile wait for these only
RULES_SECONDS = 3  # so long another process's change of the campaign may go unseen
HASHES_SECONDS = 60  # so long a refreshed catalog's
MOST_HASHES = 50_000
log = logging.getLogger("lookalike.web")


class Labelling:
    """State of the labelling in one running server; `rules` are there from its start."""

    rules: Rules

    def __init__(self, site: Site) -> None:
        self.site = site
        self.draw = random.Random()
        self._hashes: dict[str, str] = {}

    async def refresh(self) -> None:
        """Read the rules anew: at the start, every few seconds, and when a lead has changed them."""
        self.rules = await self.site.write(rules_of)  # a write: the key is made where there is none

    def hashes(
        self, connection: Connection, images: Iterable[str], ahead: Callable[[], Collection[str]] = tuple
    ) -> dict[str, str]:
        """The hash of each image's photo, "" for one that the catalog no longer has.

        Where one must be read those that will be asked for next are read along: `ahead` says which.
        """
        wanted = set(images)
        found = {image: self._hashes[image] for image in wanted if image in self._hashes}
        missing = wanted - found.keys()
        if missing:
            read = digests(connection, missing.union(ahead()))
            if len(self._hashes) > MOST_HASHES:
                self._hashes = {}
            self._hashes.update(read)
            found.update({image: read.get(image, "") for image in missing})
        return found

    def forget_hashes(self) -> None:
        """Ask the catalog again from now on."""
        self._hashes = {}


@asynccontextmanager
async def labelling_runs(labelling: Labelling) -> AsyncIterator[None]:
    """Within this block leases end, pairs settle and the rules are kept fresh."""
    await labelling.refresh()
    beat = asyncio.create_task(_beat(labelling))
    try:
        yield
    finally:
        beat.cancel()
        with suppress(asyncio.CancelledError):
            await beat


async def _beat(labelling: Labelling) -> None:
    count = 0
    while True:
        await asyncio.sleep(SECOND)
        count += 1
        try:
            if count % RULES_SECONDS == 0:
                await labelling.refresh()
            if count % HASHES_SECONDS == 0:
                labelling.forget_hashes()
            while await _sweep(labelling) >= BITE:
                pass
        except Exception:  # a full disk or a database that restarts: the next second tries again
            log.exception("what is due could not be brought up to date")


async def _sweep(labelling: Labelling) -> int:
    rules, now = labelling.rules, labelling.site.now()
    return await labelling.site.write(lambda connection: sweep(connection, rules, now, BITE))


def labelling_of(request: HTTPConnection) -> Labelling:
    """The labelling of the server a request came to."""
    found = request.app.state.labelling
    assert isinstance(found, Labelling)  # noqa: S101 - create_app put it there
    return found
