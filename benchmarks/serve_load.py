"""Fifty annotators over HTTP: how long an answer with the next pairs takes, and whether every answer is kept.

    python benchmarks/serve_load.py [--on sqlite|postgresql] [--pairs 2500] [--think 1] [--kill 4]

Starts `lookalike serve` in a process of its own (and a PostgreSQL server on a loopback port), and fifty clients in this
one, each with its own connection and token. `--think` is the mean of the exponential think time before each answer, in
seconds. The aim, with a mean of 1 s: a 99th percentile under 50 ms on SQLite and under 100 ms on PostgreSQL.
`--kill` ends the server by SIGKILL after random times of that mean, and starts it again; clients then send the same
answer again until it is acknowledged. Afterwards the database is asked what it kept.
"""

import argparse
import asyncio
import contextlib
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import numpy as np
from sqlalchemy import func, select

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from databases import free_port, postgresql_server

from lookalike.core.checks import strings
from lookalike.core.clock import now_ms
from lookalike.core.types import Catalog
from lookalike.store.labelling.queue import NewPair, add_pairs
from lookalike.store.people import access, people
from lookalike.store.people.passwords import hashed
from lookalike.store.settings import WorkspaceSettings
from lookalike.store.sql.labelling_schema import check, claim, question, vote
from lookalike.store.workspace import Workspace

EXPERTS, IMAGES, NEEDED = 50, 2_000, 2
LEASE_SECONDS = 600
BARE = 2_000
AIM_MS = {"sqlite": 50, "postgresql": 100}
PROBE = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
while True:
    at = time.perf_counter()
    time.sleep(0.05)
    print(time.perf_counter() - at - 0.05, flush=True)
"""  # a process that does nothing: what the machine itself adds


def main() -> None:
    """Print what was measured, and what the database kept."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--on", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--pairs", type=int, default=2_500)
    parser.add_argument("--think", type=float, default=1.0)
    parser.add_argument("--kill", type=float, default=0.0, help="mean seconds between kills; 0: none")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lookalike-load-")))
        address = stack.enter_context(postgresql_server()).fresh() if given.on == "postgresql" else ""
        workspace, tokens = shop(folder / "shop", address, given.pairs)
        server = stack.enter_context(contextlib.closing(Server(workspace.folder)))
        run = asyncio.run(load(server, tokens, given.think, given.kill, random.Random(1)))
        report(given, run, server)
        kept(workspace, run, given.pairs)


def shop(folder: Path, address: str, pairs: int) -> tuple[Workspace, list[str]]:
    """A workspace of that many pairs and fifty annotators with tokens."""
    names = strings(f"photos/{n:06d}.jpg" for n in range(IMAGES))
    size = np.full(IMAGES, 640)
    catalog = Catalog(
        names, names, names, strings(f"kind {n % 8}" for n in range(IMAGES)), strings(["both"] * IMAGES),
        strings(["train"] * IMAGES), np.arange(IMAGES), strings(f"{n:064x}" for n in range(IMAGES)), size, size,
    )  # fmt: skip
    (folder.parent / "photos").mkdir()
    settings = WorkspaceSettings(
        str(folder.parent / "photos"), str(folder.parent / "photos"), database=address
    )
    workspace = Workspace.create(folder, catalog, settings)
    tokens, now, kept = [access.new_token() for _ in range(EXPERTS)], now_ms(), hashed("a long password")
    with workspace.database.write() as connection:
        for n, token in enumerate(tokens):
            owner = people.add(connection, f"expert {n}", people.ANNOTATOR, now, kept=kept)
            access.create_token(connection, owner.id, "load", token, now, scope=access.LABEL)
        ends = ((n % IMAGES, (n % IMAGES + 1 + n // IMAGES) % IMAGES) for n in range(pairs))
        new = (NewPair(names[q], names[c], names[c], "", "pool", n) for n, (q, c) in enumerate(ends))
        add_pairs(connection, new, NEEDED, now)
    return workspace, tokens


class Server:
    """`lookalike serve` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port, self.kills = folder, free_port(), 0
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [
            sys.executable,
            "-m",
            "lookalike",
            "serve",
            "--port",
            str(self.port),
            "-w",
            str(self.folder),
        ]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def kill(self) -> None:
        """SIGKILL, and a new one."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.kills += 1
        self.process = self._start()

    @property
    def cpu(self) -> float:
        """Seconds of the processor that the running process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """Let it end."""
        self.process.terminate()
        self.process.wait()


@dataclass
class Run:
    """What the clients saw."""

    told: dict[str, tuple[int, str]] = field(default_factory=dict)  # acknowledged: token -> expert, answer
    took: list[float] = field(default_factory=list)  # of answers that were taken at the first attempt
    waited: list[float] = field(default_factory=list)  # of all, retries included
    refused: Counter[int] = field(default_factory=Counter)
    bare: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)  # the first request of each expert, all sent at once
    late: list[float] = field(default_factory=list)  # how much later than asked a sleeping process was woken
    seconds: float = 0.0
    cpu_before: float = 0.0  # of the server, for its start and the answers without work
    own_cpu: float = 0.0  # of the clients


async def load(server: Server, tokens: list[str], think: float, kill: float, draw: random.Random) -> Run:
    """All experts until nothing is left for anybody."""
    run, done = Run(), asyncio.Event()
    base = f"http://127.0.0.1:{server.port}"
    await up(base)
    run.bare = await bare(base)
    run.cpu_before, own = server.cpu, time.process_time()
    began = time.perf_counter()
    killer = asyncio.create_task(kills(server, kill, draw)) if kill else None
    probe = subprocess.Popen([sys.executable, "-c", PROBE], stdout=subprocess.PIPE, text=True)
    ready = asyncio.Barrier(len(tokens))
    experts = (expert(base, n, token, think, random.Random(n), run, ready) for n, token in enumerate(tokens))
    await asyncio.gather(*experts)
    run.seconds, run.own_cpu = time.perf_counter() - began, time.process_time() - own
    probe.terminate()
    run.late = [float(line) for line in probe.communicate()[0].split()]
    done.set()
    if killer is not None:
        killer.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await killer
        await up(base)
    return run


async def expert(
    base: str, number: int, token: str, think: float, draw: random.Random, run: Run, ready: asyncio.Barrier
) -> None:
    """Answers what is given until nothing is, three times in a row. Thinks once all have their first pairs."""
    head, empty = {"Authorization": f"Bearer {token}"}, 0
    async with aiohttp.ClientSession(base, headers=head, connector=aiohttp.TCPConnector(limit=1)) as session:
        at = time.perf_counter()
        given = (await sent(session, "GET", "/api/label/next", None, run))["given"]
        run.first.append(time.perf_counter() - at)
        await ready.wait()
        while empty < 3:
            if not given:
                empty += 1
                await asyncio.sleep(1)
                given = (await sent(session, "GET", "/api/label/next", None, run))["given"]
                continue
            empty = 0
            if think:
                await asyncio.sleep(draw.expovariate(1 / think))
            body = {"token": given[0]["token"], "answer": draw.choice(("similar", "dissimilar")), "took": 500}
            came = await sent(session, "POST", "/api/label/answer", body, run)
            if "receipt" in came:
                run.told[body["token"]] = (number, body["answer"])
                given = came["given"]
            else:
                given = (await sent(session, "GET", "/api/label/next", None, run))["given"]


async def sent(session: aiohttp.ClientSession, method: str, path: str, body: object, run: Run) -> dict:
    """The answer to a request, sent until somebody answers it."""
    began = time.perf_counter()
    while True:
        at = time.perf_counter()
        try:
            async with session.request(method, path, json=body) as came:
                if came.status < 500:
                    found = await came.json()
                    if came.status >= 400:
                        run.refused[came.status] += 1
                    elif body is not None:
                        now = time.perf_counter()
                        run.waited.append(now - began)
                        if at == began or now - began < 2 * (now - at):
                            run.took.append(now - at)
                    return found
        except (aiohttp.ClientError, ConnectionError):
            pass
        await asyncio.sleep(0.1)


async def kills(server: Server, mean: float, draw: random.Random) -> None:
    """Kill it again and again."""
    base = f"http://127.0.0.1:{server.port}"
    while True:
        await asyncio.sleep(draw.expovariate(1 / mean))
        await asyncio.to_thread(server.kill)
        await up(base)


async def up(base: str) -> None:
    """Wait until the server answers."""
    async with aiohttp.ClientSession() as session:
        while True:
            with contextlib.suppress(aiohttp.ClientError, ConnectionError):
                async with session.get(f"{base}/static/icon.svg") as came:
                    await came.read()
                    return
            await asyncio.sleep(0.1)


async def bare(base: str) -> list[float]:
    """What the same server and clients need for a request that is refused without the database, fifty at once."""
    took: list[float] = []

    async def client() -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=1)) as session:
            for _ in range(BARE // EXPERTS):
                at = time.perf_counter()
                async with session.get(f"{base}/api/label/next") as came:
                    await came.read()
                took.append(time.perf_counter() - at)

    await asyncio.gather(*(client() for _ in range(EXPERTS)))
    return took


def report(given: argparse.Namespace, run: Run, server: Server) -> None:
    """The line of figures."""
    print(
        f"{given.on}, think {given.think:g} s, {EXPERTS} experts, {given.pairs:,} pairs: {len(run.told):,} answers"
    )
    answers = max(len(run.told), 1)
    print(f"  {answers / run.seconds:,.0f} a second")
    if not server.kills:
        server_cpu = 1e3 * (server.cpu - run.cpu_before) / answers
        print(
            f"  CPU an answer: the server {server_cpu:.2f} ms, the clients {1e3 * run.own_cpu / answers:.2f} ms"
        )
    print(
        f"  answer and next: {spread(run.took)} (aim for p99: {AIM_MS[given.on]} ms with a think time of 1 s)"
    )
    print(f"  first pairs, for {EXPERTS} at once: {spread(run.first)}")
    print(
        f"  bare answer, {EXPERTS} at once: {spread(run.bare)}; ratio of medians {ratio(run.took, run.bare):.2f}"
    )
    print(
        f"  a bare write and sync: {spread(syncs())}; a process that only sleeps woke late by {spread(run.late)}"
    )
    if server.kills:
        print(
            f"  {server.kills} kills; longest wait for an answer {max(run.waited):.1f} s (a lease: {LEASE_SECONDS} s)"
        )
    if run.refused:
        print(f"  refused: {dict(run.refused)}")


def spread(took: list[float]) -> str:
    """Median and 99th percentile, in milliseconds."""
    return f"p50 {1e3 * np.quantile(took, 0.5):.1f} ms, p99 {1e3 * np.quantile(took, 0.99):.1f} ms"


def ratio(took: list[float], limit: list[float]) -> float:
    """Of their medians."""
    return statistics.median(took) / statistics.median(limit)


def syncs(count: int = 100) -> list[float]:
    """What this disk needs for a write of 4 KiB that is there after a power cut."""
    took = []
    with tempfile.TemporaryFile() as file:
        for _ in range(count):
            at = time.perf_counter()
            file.write(b"\0" * 4096)
            file.flush()
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - at)
    return took


def kept(workspace: Workspace, run: Run, pairs: int) -> None:
    """Hold what was acknowledged against what the database has."""
    with workspace.database.read() as connection:
        rows = connection.execute(
            select(vote.c.token, vote.c.annotator, vote.c.answer, vote.c.question)
        ).all()
        checks = connection.execute(select(check.c.token, check.c.annotator, check.c.answer)).all()
        held = connection.execute(
            select(claim.c.question, func.count()).where(claim.c.kind != "skip").group_by(claim.c.question)
        ).all()
        full = connection.execute(select(func.count()).where(question.c.free == 0)).scalar_one()
    there = {token: (who, said) for token, who, said, *_ in [*rows, *checks]}
    lost = sum(token not in there for token in run.told)
    changed = sum(there.get(token, (0, said))[1] != said for token, (_, said) in run.told.items())
    by_pair = Counter((who, which) for _, who, _, which in rows)
    doubled = sum(count > 1 for count in by_pair.values())
    over = sum(count > NEEDED for _, count in held)
    more = len(rows) + sum(bool(said) for _, _, said in checks) - len(run.told)
    print(
        f"  acknowledged {len(run.told):,}: lost {lost}, changed {changed}, doubled {doubled}, over-assigned {over}"
    )
    print(f"  pairs with all votes {full:,} of {pairs:,}; kept but never acknowledged {more}")


if __name__ == "__main__":
    main()
