"""What the routes of the API share: loaded encoders, threads for searches, changes of the catalog, limits."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from lookalike.store.workspace import Workspace
from lookalike.web.access.throttle import LaterError, Rate
from lookalike.web.serving.pool import BoundedPool
from lookalike.web.serving.searchers import Searchers
from lookalike.workflows.start.catalog import Followed
from lookalike.workflows.start.uploads import NewImage, add_images, bring_up_to_date, remove_images

T = TypeVar("T")
SEARCHES = 2, 64  # threads, and searches that may wait for them; those that read the vectors are shared
BATCHES = 1, 16  # the same for searches with many ids
PHOTOS = 1, 16  # the same for uploads: a photo may take some hundred megabytes while it is decoded
CHANGES = 256  # images that may wait to be added
PER_ADDRESS = 4  # how many times the rate of a token an address may have

Changed = tuple[Followed, tuple[str, ...]]
"""What a change did, and the encoders that are stale after it."""


class Service:
    """Search for programs. `changed` is called after each change of the catalog."""

    def __init__(self, folder: Path, rate: float, changed: Callable[[Workspace], None]) -> None:
        self.folder, self._changed = folder, changed
        self.searchers = Searchers(folder)
        self.searches, self.photos = BoundedPool("search", *SEARCHES), BoundedPool("photo", *PHOTOS)
        self.batches = BoundedPool("batch", *BATCHES)
        self._catalog = BoundedPool("catalog", 1, CHANGES)
        self.tokens = Rate(rate, round(2 * rate) + 1)
        self.addresses = Rate(PER_ADDRESS * rate, round(2 * PER_ADDRESS * rate) + 1)
        self.uploads = 0  # whose bodies are being read or wait for a thread
        self._waiting: list[tuple[NewImage, asyncio.Future[Changed]]] = []
        self._adding: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Within this block encoders are loaded, and follow changes."""
        watching = asyncio.create_task(self.searchers.watch())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
            for pool in (self.searches, self.batches, self.photos, self._catalog, self.searchers):
                await asyncio.to_thread(pool.close)

    @asynccontextmanager
    async def upload(self) -> AsyncIterator[None]:
        """Within this block a photo is in memory. Raises LaterError if there are too many."""
        if self.uploads >= sum(PHOTOS):
            raise LaterError("Too many photos are being uploaded.", 1, "busy")
        self.uploads += 1
        try:
            yield
        finally:
            self.uploads -= 1

    async def add(self, new: NewImage) -> Changed:
        """Add an image. It can be found when this returns. Images that wait are added in one change."""
        if len(self._waiting) >= CHANGES:
            raise LaterError("Too many images wait to be added.", 10, "busy")
        done: asyncio.Future[Changed] = asyncio.get_running_loop().create_future()
        self._waiting.append((new, done))
        if self._adding is None:
            self._adding = asyncio.create_task(self._add_waiting())
        return await done

    async def remove(self, images: Sequence[str]) -> Changed:
        """Remove images. They are not found any more when this returns."""
        return await self._change(partial(remove_images, images=images))

    async def _add_waiting(self) -> None:
        while self._waiting:
            await asyncio.sleep(0.02)  # images that are sent together arrive together
            batch, self._waiting = self._waiting, []
            outcomes: Sequence[Followed | Exception]
            stale: tuple[str, ...]
            try:
                outcomes, stale = await self._change(partial(add_images, new=[new for new, _ in batch]))
            except Exception as error:
                outcomes, stale = [error] * len(batch), ()
            for (_, done), outcome in zip(batch, outcomes, strict=True):
                if done.done():
                    continue
                if isinstance(outcome, Followed):
                    done.set_result((outcome, stale))
                else:
                    done.set_exception(outcome)
        self._adding = None

    async def _change(self, work: Callable[[Workspace], T]) -> tuple[T, tuple[str, ...]]:
        found, stale = await self._catalog.run(partial(self._changed_workspace, work))
        await self.searchers.renew()
        return found, stale

    def _changed_workspace(self, work: Callable[[Workspace], T]) -> tuple[T, tuple[str, ...]]:
        workspace = Workspace(self.folder)
        try:
            found = work(workspace)
            stale = bring_up_to_date(workspace, (self.searchers.served, *self.searchers.loaded))
            self._changed(workspace)
        finally:
            workspace.database.close()
        return found, stale
