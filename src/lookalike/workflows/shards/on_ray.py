"""All shards of a plan as tasks of a Ray cluster. Ray places them, and repeats those of a machine that is lost."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from lookalike.core.checks import install, not_installed
from lookalike.core.cores import limit_cores
from lookalike.core.errors import ArgumentError, LookalikeError, StorageError, first_line
from lookalike.core.object_store import is_address
from lookalike.core.progress import Progress
from lookalike.store.shards.places import place_at
from lookalike.workflows.shards.plans import Part, read_plan, unit_count
from lookalike.workflows.shards.run import WorkedShard, work

HERE = "local"  # starts Ray on this machine
RETRIES = 3  # times that Ray repeats a shard whose machine or process is lost
PER_CORE = 4  # shards per processor of the cluster, so that a slow one holds up little
ANSWER_SECONDS = 5.0
LOOK_SECONDS = 1.0


@dataclass(frozen=True)
class WorkedShards:
    """All shards of a plan, which are in their place now; `existed` of them were there before."""

    place: str
    shards: int
    existed: int
    machines: int


def work_on_ray(
    ray_address: str,
    address: str,
    *,
    shards: int | None = None,
    photos: str | None = None,
    vectors: str | None = None,
    cpus: int = 1,
    gpus: float = 0,
    progress: Progress | None = None,
) -> WorkedShards:
    """Compute all shards of a plan on a Ray cluster; each takes `cpus` processors and `gpus` cards of its machine.

    Finished shards are kept, whatever happens: the same call goes on with the others.
    """
    with cluster(ray_address) as ray:
        total = int(ray.cluster_resources().get("CPU", 1))
        count = shards or PER_CORE * max(total // cpus, 1)
        return run_shards(
            ray, address, count, photos=photos, vectors=vectors, cpus=cpus, gpus=gpus, progress=progress
        )


def run_shards(
    ray: Any,  # noqa: ANN401 - Ray is imported late
    address: str,
    shards: int,
    *,
    photos: str | None = None,
    vectors: str | None = None,
    cpus: int = 1,
    gpus: float = 0,
    progress: Progress | None = None,
) -> WorkedShards:
    """Compute the shards of a plan, at most one per unit, on the cluster that is connected."""
    address = _as_on_all_machines(address) or address
    count = min(unit_count(read_plan(place_at(address))), shards)
    task = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=RETRIES)(_shard)
    waiting = [
        task.remote(address, Part(number, count), *map(_as_on_all_machines, (photos, vectors)), cpus)
        for number in range(1, count + 1)
    ]
    done: list[tuple[WorkedShard, str]] = []
    while waiting:
        ready, waiting = ray.wait(waiting, timeout=LOOK_SECONDS)
        done += [_result(ray, one) for one in ready]
        if progress:
            progress(len(done), count)
    machines = len({machine for _, machine in done})
    return WorkedShards(address, count, sum(shard.existed for shard, _ in done), machines)


def _as_on_all_machines(place: str | None) -> str | None:
    """A path as seen from any folder; addresses as they are."""
    return place if place is None or is_address(place) else os.path.abspath(place)


def _shard(
    address: str, part: Part, photos: str | None, vectors: str | None, cpus: int
) -> tuple[WorkedShard, str]:
    """One shard, on the machine that Ray chose."""
    limit_cores(cpus)
    import ray

    done = work(address, part, photos=photos, vectors=vectors, workers=cpus)
    return done, ray.get_runtime_context().get_node_id()


def _result(ray: Any, reference: Any) -> tuple[WorkedShard, str]:  # noqa: ANN401 - Ray is imported late
    """What a task returned. Its errors are ours; those of lost machines are Ray's."""
    try:
        found: tuple[WorkedShard, str] = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, LookalikeError):
            raise cause from None
        raise
    except ray.exceptions.RayError as error:
        raise StorageError(
            f"Ray gave up on a shard, because its machine or process was lost {RETRIES + 1} times: "
            f"{first_line(error)}.",
            fix="Check the machines and their memory, then run the same command again: finished shards are kept.",
        ) from None
    return found


@contextmanager
def cluster(address: str) -> Iterator[Any]:
    """Ray, connected to a cluster. Nothing is reported to its makers."""
    if not_installed(["ray"]):
        raise ArgumentError("--ray needs ray, which is not installed.", fix=install("ray"))
    if address not in (HERE, "auto"):
        _require_answer(address)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    with redirect_stdout(sys.stderr):  # Ray tells of lost machines there, and output may be JSON
        try:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", configure_logging=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise _unreachable(address, first_line(error)) from None
        try:
            yield ray
        finally:
            ray.shutdown()


def _require_answer(address: str) -> None:
    """Raise an error within seconds where nobody listens; Ray itself tries for minutes."""
    parts = urlsplit(address if "://" in address else f"ray://{address}")
    try:
        port = parts.port
        if not parts.hostname or port is None:
            raise ValueError
        socket.create_connection((parts.hostname, port), timeout=ANSWER_SECONDS).close()
    except ValueError:
        raise ArgumentError(
            f"Invalid value for --ray: {address}.",
            fix=f"Give HOST:PORT of the head, or {HERE} for this machine.",
        ) from None
    except OSError as error:
        raise _unreachable(address, error.strerror or str(error)) from None


def _unreachable(address: str, why: str) -> StorageError:
    return StorageError(
        f"The Ray cluster at {address} cannot be reached: {why}.",
        fix=f"Start it with `ray start --head`, or use --ray {HERE} for this machine.",
    )
