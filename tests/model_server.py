"""A real HTTP server that answers as an OpenAI-compatible endpoint, with simulated judges behind it."""

import asyncio
import base64
import hashlib
import io
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from aiohttp import web
from PIL import Image

Faulty = Callable[
    ["Asked"], Any
]  # what to do instead of an answer: a response, "drop", seconds to wait, or None
USAGE = {"prompt_tokens": 900, "completion_tokens": 30}


@dataclass(frozen=True)
class Asked:
    """A request as the server got it: its number from 0, its JSON and headers, and the two photos of its question."""

    number: int
    body: dict[str, Any]
    headers: dict[str, str]
    photos: tuple[bytes, bytes]

    @property
    def key(self) -> str:
        """Equal for the same two photos in the same order, whatever their size."""
        return "-".join(looks(photo).tobytes().hex() for photo in self.photos)


@dataclass
class ModelServer:
    """An endpoint on a port of its own. `judge` gives P(similar) for two photos; `faulty` may answer instead."""

    judge: Callable[[bytes, bytes], float]
    faulty: Faulty = lambda asked: None
    seconds: float = 0.0
    asked: list[Asked] = field(default_factory=list)
    under_way: int = 0
    most: int = 0
    address: str = ""
    version: str = "model-2026-01"

    async def reply(self, request: web.Request) -> web.StreamResponse:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            body = await request.json()
            one = Asked(len(self.asked), body, dict(request.headers), photos_of(body["messages"][-1]))
            self.asked.append(one)
            found = self.faulty(one)
            if isinstance(found, int | float) and not isinstance(found, bool):
                await asyncio.sleep(found)
            elif found == "drop":
                request.transport.close()
                return web.Response()
            elif found is not None:
                return found
            if self.seconds:
                await asyncio.sleep(self.seconds)
            return answered(self.judge(*one.photos), self.version)
        finally:
            self.under_way -= 1


def answered(score: float, version: str = "model-2026-01", reason: str = "by design") -> web.Response:
    """A whole answer of a judge that thinks the pair similar with this chance."""
    answer = {"reason": reason, "similar": bool(score >= 0.5), "confidence": round(abs(2 * score - 1), 6)}
    return said(json.dumps(answer), version)


def said(content: str, version: str = "model-2026-01") -> web.Response:
    """A completion with this text."""
    message = {"role": "assistant", "content": content}
    return web.json_response(
        {"model": version, "choices": [{"index": 0, "message": message}], "usage": USAGE}
    )


def photos_of(message: dict[str, Any]) -> tuple[bytes, bytes]:
    """The photos of a question."""
    urls = [part["image_url"]["url"] for part in message["content"] if part["type"] == "image_url"]
    heads, content = zip(*(url.split(",") for url in urls), strict=True)
    assert set(heads) == {"data:image/jpeg;base64"}
    first, second = map(base64.b64decode, content)
    return first, second


def looks(photo: bytes) -> np.ndarray:
    """A coarse picture of a photo, by which copies of any size are recognised."""
    small = Image.open(io.BytesIO(photo)).convert("RGB").resize((8, 8), Image.Resampling.BOX)
    return (np.asarray(small).astype(np.int64) + 8) // 16


class KnownPhotos:
    """The images of a catalog by their photos, for judges that know the truth."""

    def __init__(self, folder, catalog) -> None:
        self.images = list(catalog.image)
        self.looks = np.array([looks((folder / path).read_bytes()).ravel() for path in catalog.path])

    def image(self, photo: bytes) -> str:
        away = np.abs(self.looks - looks(photo).ravel()).sum(axis=1)
        return self.images[int(away.argmin())]


def noise(*texts: str) -> float:
    """A number in 0 to 1 that only the texts decide."""
    return int.from_bytes(hashlib.sha256("\0".join(texts).encode()).digest()[:6], "big") / 2**48


@contextmanager
def serving(server: ModelServer) -> Iterator[ModelServer]:
    """Run the server in a thread of its own until the block ends."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    runner: list[web.AppRunner] = []

    async def begin() -> None:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/chat/completions", server.reply)
        app.router.add_post("/moved/chat/completions", moved)
        runner.append(web.AppRunner(app, shutdown_timeout=0.1))
        await runner[0].setup()
        site = web.TCPSite(runner[0], "127.0.0.1", 0)
        await site.start()
        port = runner[0].addresses[0][1]
        server.address = f"http://127.0.0.1:{port}/v1"
        ready.set()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(begin())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(end(runner[0]), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


async def end(runner: web.AppRunner) -> None:
    """Close all connections, and let what is under way notice it."""
    await runner.cleanup()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def moved(_request: web.Request) -> web.Response:
    """A redirect to another host."""
    raise web.HTTPTemporaryRedirect("http://elsewhere.example/v1/chat/completions")
