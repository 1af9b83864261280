"""A judge behind an endpoint: how busy its bound of calls is, and what Lookalike adds to the time of the model.

    python benchmarks/judge.py [calls]

A server in a process of its own answers after a fixed time; photos have 1,200 x 900 pixels, 4 examples are sent with
each pair, and every answer is put on the disk. `busy` is the share of the time in which all allowed calls were under
way: the aim is 90 %. `overhead` is the whole time over calls x answer time / calls at once. The first run makes the
small copies of the photos, the others find them.
"""

import asyncio
import multiprocessing
import sys
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from aiohttp import web
from PIL import Image

from lookalike.core.types import Labels
from lookalike.judge.endpoint import EndpointSettings
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.judge.endpoint import judge_by_endpoint
from lookalike.workflows.decide.judge.questions import JudgeScope
from lookalike.workflows.start.embed import embed
from lookalike.workflows.start.init import init

PHOTOS, CALLS = 160, 1_200
RUNS = ((8, 0.25), (8, 0.25), (16, 0.5), (32, 0.5), (64, 1.0))  # calls at once, seconds of an answer
LEAST = 0.9
ANSWER = '{"reason": "alike", "similar": true, "confidence": 0.8}'


def main(calls: int) -> None:
    """Print a line for each run, and fail where the bound is not busy."""
    shares = []
    with tempfile.TemporaryDirectory() as folder:
        workspace = shop(Path(folder))
        for number, (parallel, seconds) in enumerate(RUNS):
            address, process = serve(seconds)
            given = EndpointSettings(endpoint=address, model=f"m{number}", parallel=parallel)
            scope = JudgeScope(limit=calls // 2, labelled=0, k=20)
            result = judge_by_endpoint(
                workspace, None, ["color", "hog"], scope, given, confirm=lambda _: None
            )
            process.terminate()
            made = result.calls
            ideal = made.calls * seconds / parallel
            shares.append(made.busy)
            print(
                f"{made.calls:,} calls, {parallel} at once, answers in {seconds:g} s: busy {made.busy:.1%}, "
                f"overhead {made.seconds / ideal:.2f}",
                flush=True,
            )
    assert min(shares) >= LEAST, shares


def shop(folder: Path) -> Workspace:
    """A workspace with photos of soft noise, two encoders and a few labels."""
    random = np.random.default_rng(0)
    photos = folder / "photos"
    for n in range(PHOTOS):
        (photos / f"{n:03d}").mkdir(parents=True)
        small = random.integers(0, 255, (12, 16, 3), np.uint8)
        large = Image.fromarray(small).resize((1200, 900), Image.Resampling.BICUBIC)
        large.save(photos / f"{n:03d}" / "a.jpg", quality=92)
    workspace, _ = init(photos, folder / "w")
    for spec in ("descriptor:color", "descriptor:hog"):
        embed(workspace, spec)
    image = workspace.catalog.image
    workspace.add_labels(Labels.of(image[:20], image[20:40], np.arange(20) % 2), "benchmark")
    return workspace


def serve(seconds: float) -> tuple[str, multiprocessing.Process]:
    """The address of a server that answers after some seconds, and its process."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=answer_all, args=(there, seconds), daemon=True
    )
    process.start()
    return f"http://127.0.0.1:{here.recv()}/v1", process


def answer_all(ready: Connection, seconds: float) -> None:
    """Answer every request alike."""

    async def reply(request: web.Request) -> web.Response:
        await asyncio.gather(request.read(), asyncio.sleep(seconds))
        message = {"choices": [{"message": {"content": ANSWER}}]}
        return web.json_response(message | {"usage": {"prompt_tokens": 900, "completion_tokens": 30}})

    async def run() -> None:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/chat/completions", reply)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        ready.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(run())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else CALLS)
