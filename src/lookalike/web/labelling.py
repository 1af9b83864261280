"""What the labelling routes share: the campaign's rules, photos' hashes, and what is applied every second."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress

from sqlalchemy import Connection
from starlette.requests import HTTPConnection

from lookalike.store.labelling.campaigns import Rules, rules_of
from lookalike.store.labelling.due import apply_due
from lookalike.store.labelling.progress import digests
from lookalike.web.site import Site

SECOND = 1.0
BITE = 100  # pairs in one transaction: an answer that comes meanwhile waits for these only
RULES_SECONDS = 3  # the longest time until a change of the campaign by another process is noticed
HASHES_SECONDS = 60  # the same for a change of the catalog
MOST_HASHES = 50_000
log = logging.getLogger("lookalike.web")


class Labelling:
    """The state of labelling in one running server; `rules` are set when it starts."""

    rules: Rules

    def __init__(self, site: Site) -> None:
        self.site = site
        self.draw = random.Random()
        self._hashes: dict[str, str] = {}

    async def refresh(self) -> None:
        """Read the rules again: at the start, every few seconds, and when a lead changes them."""
        self.rules = await self.site.write(rules_of)

    def hashes(self, connection: Connection, images: Iterable[str]) -> dict[str, str]:
        """The hash of each image's photo, "" for one that the catalog no longer has."""
        wanted = set(images)
        found = {image: self._hashes[image] for image in wanted if image in self._hashes}
        missing = wanted - found.keys()
        if missing:
            read = digests(connection, missing)
            if len(self._hashes) > MOST_HASHES:
                self._hashes = {}
            self._hashes.update(read)
            found.update({image: read.get(image, "") for image in missing})
        return found

    def forget_hashes(self) -> None:
        """Read hashes from the catalog again from now on."""
        self._hashes = {}


@asynccontextmanager
async def labelling_runs(labelling: Labelling) -> AsyncIterator[None]:
    """Within this block leases end, pairs are resolved, and the rules are kept up to date."""
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
            while await _apply_due(labelling) >= BITE:
                pass
        except Exception:  # a full disk or a database that restarts: it is tried again in a second
            log.exception("Changes that are due could not be applied. The server tries again.")


async def _apply_due(labelling: Labelling) -> int:
    rules, now = labelling.rules, labelling.site.now()
    return await labelling.site.write(lambda connection: apply_due(connection, rules, now, BITE))


def labelling_of(request: HTTPConnection) -> Labelling:
    """The labelling of the server a request came to."""
    found = request.app.state.labelling
    assert isinstance(found, Labelling)  # noqa: S101 - create_app put it there
    return found
