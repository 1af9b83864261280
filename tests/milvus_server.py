"""A Milvus server in a process of its own: gRPC threads in a process of tests would hang its forks."""

import atexit
import functools
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from databases import free_port

START_SECONDS = 60


@dataclass(frozen=True)
class MilvusServer:
    """A running Milvus Lite."""

    process: subprocess.Popen[bytes]
    address: str
    folder: Path

    def kill(self) -> None:
        """End it at once, as a machine that fails."""
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def started_milvus() -> MilvusServer:
    """A new, empty server that answers."""
    pytest.importorskip("pymilvus", reason="needs pymilvus: pip install '.[search]'")
    pytest.importorskip("milvus_lite", reason="needs milvus-lite, which tests use as a server")
    from pymilvus import MilvusClient, MilvusException

    folder, port = Path(tempfile.mkdtemp(prefix="lookalike-milvus-")), free_port()
    command = [
        "server",
        "--data-dir",
        str(folder / "data"),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "milvus_lite", *command], stdout=output, stderr=subprocess.STDOUT
        )
    server = MilvusServer(process, f"http://127.0.0.1:{port}", folder)
    atexit.register(server.kill)
    for _ in range(10 * START_SECONDS):
        try:
            MilvusClient(server.address, timeout=1).close()
        except MilvusException:
            assert process.poll() is None, "the server did not start"
            time.sleep(0.1)
        else:
            return server
    raise AssertionError("the server did not start")


@functools.cache
def shared_milvus() -> str:
    """The address of a server that the tests of a process share."""
    return started_milvus().address


def a_name() -> str:
    """A collection that no other test has."""
    return f"shop_{uuid4().hex}"
