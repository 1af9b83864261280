"""What the routes work with: the workspace, its database, the clock, the key, the rules. One per running app."""

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection
from starlette.requests import HTTPConnection

from lookalike.core.clock import now_ms
from lookalike.store.labelling.campaigns import Rules, rules_of
from lookalike.store.labelling.progress import digests
from lookalike.store.labelling.writer import Writer
from lookalike.store.people.access import new_secret, signing_key
from lookalike.store.sql.database import Database
from lookalike.store.thumbnails import Thumbnail, Thumbnails
from lookalike.store.workspace import DATABASE, Workspace
from lookalike.web.access.throttle import Throttle
from lookalike.web.background import Background
from lookalike.web.exploring import Exploring
from lookalike.web.serving.metrics import Metrics
from lookalike.web.serving.service import Service
from lookalike.web.serving.uploads import Uploads
from lookalike.workflows.label.team import Team

T = TypeVar("T")
PATIENCE = 4_000  # milliseconds for another program to end its writing: the page sends an answer again
READERS = 12  # connections that are kept open for pages
MOST_HASHES = 50_000
DECODERS = 2  # photos decoded at once: each may take some hundred megabytes


@dataclass(frozen=True)
class Options:
    """How the app is served. `hosts` are the names that browsers may know it by, without a port.

    `https`: people reach it through https, so cookies are sent through nothing else.
    """

    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    https: bool = False
    body_limit: int = 1 << 20
    upload_limit: int = 20 << 20
    upload_megapixels: float = 50.0  # as RGB this is 150 MB; the cameras of phones have up to 50
    rate: float = 100.0  # requests of a token in a second
    clock: Callable[[], int] = now_ms


@dataclass(frozen=True)
class TeamFigures:
    """The team's statistics and the pairs of each state, read at one moment, `at`, from one snapshot."""

    at: int
    counts: Counter[str]
    team: Team


@dataclass
class Site:
    """State of the running app; `writer`, `key` and the campaign's `rules` are there from its start to its end."""

    workspace: Workspace
    options: Options
    database: Database
    thumbnails: Thumbnails
    throttle: Throttle = field(default_factory=Throttle)
    making: dict[tuple[str, str, int], "asyncio.Future[Thumbnail]"] = field(default_factory=dict)
    team_figures: TeamFigures | None = None  # the last ones
    team_lock: threading.Lock = field(default_factory=threading.Lock)
    team_renewal: Future[TeamFigures] | None = None
    forecast: Any = None  # `Work` of routes/plan.py
    forecaster: ProcessPoolExecutor | None = None
    draw: random.Random = field(default_factory=random.Random)
    metrics: Metrics = field(default_factory=Metrics)
    service: Service = field(init=False)
    digests: dict[str, str] = field(default_factory=dict)  # of photos, by image
    exploring: Exploring = field(init=False)
    uploads: Uploads = field(init=False)
    rules: Rules = field(init=False)
    writer: Writer = field(init=False)
    decoders: ThreadPoolExecutor = field(init=False)
    key: str = field(init=False)

    @classmethod
    def of(cls, workspace: Workspace, options: Options) -> "Site":
        """A site that is not open yet."""
        place = workspace.settings.database or workspace.folder / DATABASE
        thumbnails = Thumbnails(workspace.folder, workspace.settings)
        return cls(workspace, options, Database(place, connections=READERS, patience=PATIENCE), thumbnails)

    def open(self) -> None:
        """Begin to write; makes the key that signs sessions where there is none."""
        self.writer = Writer(self.database)
        self.service = Service(self.workspace.folder, self.options.rate, self._follow)
        self.decoders = ThreadPoolExecutor(DECODERS, thread_name_prefix="decoder")
        self.exploring = Exploring(self.workspace.folder, self.workspace.pool_name, Background(self.now))
        self.exploring.warm()
        self.uploads = Uploads(self.now)
        made = new_secret()
        self.key = self.writer.submit(lambda connection: signing_key(connection, made)).result()

    def close(self) -> None:
        """Finish what was submitted and close the database."""
        if self.forecaster is not None:
            self.forecaster.shutdown(wait=False, cancel_futures=True)
        self.exploring.close()
        self.decoders.shutdown(wait=True, cancel_futures=True)
        self.writer.close()
        self.database.close()

    def _follow(self, changed: Workspace) -> None:
        """Pages see the new catalog, and photos of new images can be shown."""
        self.workspace.settings = changed.settings
        self.workspace.__dict__.pop("catalog", None)
        self.thumbnails = Thumbnails(changed.folder, changed.settings)
        self.digests = {}

    def now(self) -> int:
        """The time in milliseconds."""
        return self.options.clock()

    async def refresh(self) -> None:
        """Read the rules again: at the start, every few seconds, and when a lead changes them."""
        self.rules = await self.write(rules_of)

    def hashes(self, connection: Connection, images: Iterable[str]) -> dict[str, str]:
        """The hash of each image's photo, "" for one that the catalog no longer has."""
        wanted = set(images)
        found = {image: self.digests[image] for image in wanted if image in self.digests}
        missing = wanted - found.keys()
        if missing:
            read = digests(connection, missing)
            if len(self.digests) > MOST_HASHES:
                self.digests = {}
            self.digests.update(read)
            found.update({image: read.get(image, "") for image in missing})
        return found

    async def write(self, call: Callable[[Connection], T]) -> T:
        """What a call returns whose transaction is on the disk. A client that goes away does not stop it."""
        return await asyncio.shield(asyncio.wrap_future(self.writer.submit(call)))


def site_of(request: HTTPConnection) -> Site:
    """The site a request came to."""
    found = request.app.state.site
    assert isinstance(found, Site)  # noqa: S101 - create_app put it there
    return found
