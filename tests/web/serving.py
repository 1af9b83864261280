"""The app of a small shop behind a real server on a loopback port, and a browser without a screen for it."""

import contextlib
import http.client
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

from PIL import Image

from lookalike.catalog.read import catalog_from
from lookalike.store.settings import WorkspaceSettings
from lookalike.store.workspace import Workspace
from lookalike.web.app import create_app
from lookalike.web.connection import Limits
from lookalike.web.server import server
from lookalike.web.site import Options, Site
from lookalike.workflows.label.people import add_person
from lookalike.workflows.label.serve import listen

PASSWORD = "a long password"
NOW = 1_700_000_000_000
CSRF = re.compile(r'name="csrf" (?:value|content)="([0-9a-f]{64})"')


class Clock:
    """A clock that the test moves."""

    def __init__(self, now: int = NOW) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now

    def goes(self, *, seconds: float = 0, hours: float = 0) -> None:
        self.now += round(1000 * (seconds + 3600 * hours))


def draw_shop(folder: Path, items: int = 6) -> Path:
    """Photos of a few items in two categories, two of each."""
    for item in range(items):
        for photo in (1, 2):
            path = folder / ("bowl", "rod")[item % 2] / f"{item:03d}" / f"{photo}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (300, 200), (40 * item, 90 * photo, 120)).save(path)
    return folder


def make_shop(folder: Path, photos: Path, place: Path | str) -> Workspace:
    """A workspace of these photos; `place` is what `database_place` gives."""
    database = place if isinstance(place, str) else ""
    settings = WorkspaceSettings(source=str(photos), photos=str(photos), database=database)
    return Workspace.create(folder, catalog_from(photos).catalog, settings)


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return unescape(self.body.decode())

    @property
    def csrf(self) -> str:
        found = CSRF.search(self.body.decode())
        assert found, self.body
        return found[1]


@dataclass
class Browser:
    """Keeps its cookies, sends the token of the last page with its forms, and requests any address."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)
    csrf: str = ""

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, *, csrf: str | None = None, **fields: str) -> Answer:
        form = {"csrf": self.csrf if csrf is None else csrf} | fields
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.ask("POST", path, body=urlencode(form).encode(), headers=kind)

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        chunked=False,
    ) -> Answer:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Accept": "text/html"} | {
            name.replace("_", "-"): value for name, value in (headers or {}).items()
        }
        if self.cookies:
            sent.setdefault("Cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
        with contextlib.closing(line):
            line.request(method, path, body=body, headers=sent, encode_chunked=chunked)
            came = line.getresponse()
            answer = Answer(came.status, {k.lower(): v for k, v in came.getheaders()}, came.read())
        self._learn(answer)
        return answer

    def log_in(self, name: str, password: str = PASSWORD) -> "Browser":
        self.get("/login")
        assert self.post("/login", name=name, password=password).status == 303
        self.get("/account")
        return self

    def _learn(self, answer: Answer) -> None:
        name, _, value = answer.headers.get("set-cookie", "").partition(";")[0].partition("=")
        if name:
            self.cookies[name] = value
        found = CSRF.search(answer.body.decode("utf-8", "replace"))
        if found:
            self.csrf = found[1]


@dataclass
class Served:
    """A running app."""

    workspace: Workspace
    site: Site
    clock: Clock
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def browser(self) -> Browser:
        return Browser(self.port)

    def add(self, name: str, role: str = "annotator") -> int:
        return add_person(self.workspace, name, role, PASSWORD, self.clock()).id

    def logged_in(self, name: str, role: str = "annotator") -> Browser:
        """Add a person and log them in."""
        self.add(name, role)
        return self.browser().log_in(name)


@contextlib.contextmanager
def serving(
    workspace: Workspace, clock: Clock | None = None, limits: Limits | None = None, **options: object
) -> Iterator[Served]:
    """Serve a workspace on a free loopback port until the block ends."""
    clock = clock or Clock()
    app = create_app(workspace, Options(clock=clock, **options))
    listening = listen("127.0.0.1", 0)
    running = server(app, limits=limits)
    running.config.timeout_graceful_shutdown = 1
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    port = listening.getsockname()[1]
    try:
        while not running.started and thread.is_alive():
            thread.join(0.01)
        assert thread.is_alive(), "the server did not start"
        yield Served(workspace, app.state.site, clock, port)
    finally:
        running.should_exit = True
        thread.join(30)
        listening.close()
        workspace.database.close()
