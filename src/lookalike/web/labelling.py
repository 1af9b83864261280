"""What a server applies every second: leases end, pairs are resolved, changes by other programs are noticed."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from lookalike.store.labelling.due import apply_due
from lookalike.web.site import Site

SECOND = 1.0
BITE = 100  # pairs in one transaction: an answer that comes meanwhile waits for these only
RULES_SECONDS = 3  # the longest time until a change of the campaign by another process is noticed
HASHES_SECONDS = 60  # the same for a change of the catalog
log = logging.getLogger("lookalike.web")


@asynccontextmanager
async def labelling_runs(site: Site) -> AsyncIterator[None]:
    """Within this block leases end, pairs are resolved, and the rules are kept up to date."""
    await site.refresh()
    beat = asyncio.create_task(_beat(site))
    try:
        yield
    finally:
        beat.cancel()
        with suppress(asyncio.CancelledError):
            await beat


async def _beat(site: Site) -> None:
    count = 0
    while True:
        await asyncio.sleep(SECOND)
        count += 1
        site.uploads.forget()
        try:
            if count % RULES_SECONDS == 0:
                await site.refresh()
            if count % HASHES_SECONDS == 0:
                site.digests = {}
            while await _apply_due(site) >= BITE:
                pass
        except Exception:  # a full disk or a database that restarts: it is tried again in a second
            log.exception("Changes that are due could not be applied. The server tries again.")


async def _apply_due(site: Site) -> int:
    rules, now = site.rules, site.now()
    return await site.write(lambda connection: apply_due(connection, rules, now, BITE))
