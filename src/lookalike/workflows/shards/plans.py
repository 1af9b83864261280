"""Plans and shards as files: what all stages share.

A plan is divided into units, one chunk each, after chunks that are common to all. Shard I of N is a run of consecutive
units; the file of a shard has one chunk for each of its units. Units do not depend on N, so shards of different N can
be joined.
"""

import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lookalike.core.errors import ArgumentError, StorageError
from lookalike.core.progress import Progress
from lookalike.core.text import listed, plural
from lookalike.store.shards.packed import Packed, Packing, packing
from lookalike.store.shards.places import Place

PLAN = "plan"
FORMAT = 1
SHARD = re.compile(r"shard-(\d+)-of-(\d+)")
NUMBERS = ("numpy", "torch", "onnxruntime", "pillow")  # packages that change the last bits of results


@dataclass(frozen=True)
class Part:
    """Shard `number` of `of`, counted from 1 as in --shard."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "Part":
        """Read I/N.

        >>> Part.parse("3/64")
        Part(number=3, of=64)
        """
        found = re.fullmatch(r"(\d+)/(\d+)", text.strip())
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise ArgumentError(
                f"Invalid value for --shard: {text}.",
                fix="Give I/N with 1 <= I <= N, for example --shard 3/64.",
            )
        return cls(int(found[1]), int(found[2]))

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"shard-{self.number:0{len(str(self.of))}d}-of-{self.of}"

    def units(self, count: int) -> range:
        """Its units among all, as even as possible.

        >>> [list(Part(number, 3).units(5)) for number in (1, 2, 3)]
        [[0], [1, 2], [3, 4]]
        """
        return range((self.number - 1) * count // self.of, self.number * count // self.of)


@dataclass(frozen=True)
class ShardWork:
    """What a worker has to compute: some units of a plan, one chunk each, in the file of a shard.

    `photos` and `vectors` say where these are if not where the plan says; `workers` is how many processes read photos.
    """

    plan: Packed
    units: range
    packing: Packing
    photos: str | None = None
    vectors: str | None = None
    workers: int | None = None
    progress: Progress | None = None


@dataclass(frozen=True)
class MadeUnits:
    """Where each unit of a plan was made: a shard's file and its chunk. `kinds` are the kinds of processors."""

    made: tuple[tuple[Packed, int], ...]
    shards: int
    kinds: tuple[str, ...]

    def chunk(self, unit: int) -> bytes:
        """What a worker made of a unit."""
        shard, at = self.made[unit]
        return shard.chunk(at)


def save_plan(place: Place, kind: str, header: Mapping[str, Any], units: Iterable[bytes]) -> Packed:
    """Write a plan. The same plan may be there already; another one is refused."""
    with packing() as (packed, path):
        for unit in units:
            packed.add(unit)
        identity = packed.close({**header, "kind": kind, "format": FORMAT})
        packed.file.flush()
        place.put(PLAN, path)
    plan = read_plan(place)
    if plan.identity != identity:
        raise StorageError(
            f"{place.name} already has another plan.",
            fix="Choose an empty folder with --to, or delete the old plan and its shards.",
        )
    return plan


def read_plan(place: Place) -> Packed:
    """The plan in a folder."""
    plan = Packed.opened(place, PLAN)
    if plan is None:
        raise StorageError(
            f"{place.name} has no plan.",
            fix="Make one first: lookalike plan embed ENCODER --to PLACE (or plan init, plan duplicates, "
            "plan discover, plan evaluate)",
        )
    if plan.header.get("format") != FORMAT:
        raise StorageError(
            f"The plan in {place.name} is of another version of Lookalike (format {plan.header.get('format')}, "
            f"this version reads {FORMAT}).",
            fix="Use the same version on all machines, or plan again.",
        )
    return plan


def unit_count(plan: Packed) -> int:
    """How many units a plan has: its chunks, but for those that are common to all units."""
    return len(plan.chunks) - int(plan.header.get("common", 0))


def shard_header(plan: Packed, part: Part, device: str) -> dict[str, Any]:
    """What the file of a shard says of itself."""
    units = part.units(unit_count(plan))
    kind = f"{processor()}, {device}" if device else processor()
    return {"kind": "shard", "plan": plan.identity, "first": units.start, "last": units.stop, "made": kind}


def made_units(place: Place, plan: Packed) -> MadeUnits:
    """Find every unit of a plan among the shards. Units that are missing, or shards of another plan, are an error."""
    made: dict[int, tuple[Packed, int]] = {}
    kinds, names = set(), sorted(name for name in place.names() if SHARD.fullmatch(name))
    for name in names:
        shard = Packed.opened(place, name)
        if shard is None:
            continue
        require_of(plan, shard)
        kinds.add(shard.header["made"])
        for at, unit in enumerate(range(shard.header["first"], shard.header["last"])):
            made.setdefault(unit, (shard, at))
    count = unit_count(plan)
    if missing := [unit for unit in range(count) if unit not in made]:
        raise _incomplete(place, names, missing, count)
    return MadeUnits(tuple(made[unit] for unit in range(count)), len(names), tuple(sorted(kinds)))


def require_of(plan: Packed, shard: Packed) -> None:
    """Raise StorageError for a shard of another plan."""
    if shard.header.get("plan") != plan.identity:
        raise StorageError(
            f"{shard.name} in {shard.place.name} belongs to another plan.",
            fix="Delete it, then run its shard again.",
        )


def processor() -> str:
    """The kind of this machine's processor and the packages that compute, by which equal results are expected."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        found = re.search(r"^model name\s*:\s*(.+)$", info.read_text(errors="replace"), re.MULTILINE)
        name = found[1].strip() if found else name
    versions = []
    for package in NUMBERS:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return f"{name}, {' '.join(versions)}"


def _incomplete(place: Place, names: list[str], missing: list[int], count: int) -> StorageError:
    """The error that says which shards to run."""
    of = {int(found[2]) for name in names if (found := SHARD.fullmatch(name))}
    if len(of) != 1:
        return StorageError(
            f"{plural(len(missing), 'unit')} of {count:,} of the plan in {place.name} are missing.",
            fix=f"Run a worker for each shard, for example: lookalike work {place.name} --shard 1/4",
        )
    shards = [Part(number, *of) for number in range(1, max(of) + 1)]
    absent = [one for one in shards if not set(missing).isdisjoint(one.units(count))]
    return StorageError(
        f"{plural(len(absent), 'shard')} of {max(of):,} {'is' if len(absent) == 1 else 'are'} missing in "
        f"{place.name}: {listed([one.number for one in absent], most=10)}.",
        fix=f"Run: lookalike work {place.name} --shard {absent[0].number}/{absent[0].of}"
        + (", and so on for the others." if len(absent) > 1 else ""),
    )
