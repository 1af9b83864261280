"""`doctor`: problems of this machine and this workspace, and how to solve them."""

import importlib.metadata
import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from lookalike.catalog.photos.changes import GONE, refresh_command, wrong_photos
from lookalike.core.checks import install, not_installed
from lookalike.core.cores import cores
from lookalike.core.errors import LookalikeError
from lookalike.core.progress import Progress
from lookalike.core.text import listed, plural
from lookalike.core.types import Rule
from lookalike.encode.spec import MODELS
from lookalike.rank.pairs import judged_pairs
from lookalike.store.disk import BESIDE, is_open
from lookalike.store.mounts import network_file_system
from lookalike.store.settings import FILE
from lookalike.store.thumbnails import FOLDER as THUMBNAILS
from lookalike.store.vectors.arrays import check_sum
from lookalike.store.workspace import DATABASE, EMBEDDINGS, REPORTS, TUNING, VIEWS, Workspace
from lookalike.workflows.label.serve import MOVE
from lookalike.workflows.start.embed import stale

LEAST_DISK = 1e9
EXTRAS = {
    "models": ("networks", ("torch", "torchvision", "timm", "safetensors")),
    "scale": ("PostgreSQL driver", ("psycopg",)),
}


@dataclass(frozen=True)
class HealthFinding:
    """One check. `fix` is "" where there is no problem; a `serious` problem makes the command fail."""

    what: str
    found: str
    fix: str = ""
    serious: bool = False


@dataclass(frozen=True)
class Diagnosis:
    """All findings; `sound` where none of them is serious."""

    sound: bool
    findings: tuple[HealthFinding, ...]


def diagnose(folder: Path, *, deep: bool = False, progress: Progress | None = None) -> Diagnosis:
    """Check this machine and the workspace; `deep` reads every photo and every vector."""
    found = (*machine(folder), *workspace_findings(folder, deep=deep, progress=progress))
    return Diagnosis(not any(one.serious for one in found), found)


def machine(folder: Path) -> list[HealthFinding]:
    """This machine: Python, processors, memory, disk, optional parts, a graphics card."""
    return [
        HealthFinding(
            "Lookalike", f"{importlib.metadata.version('lookalike')} on Python {platform.python_version()}"
        ),
        HealthFinding("processors", f"{cores():,}"),
        HealthFinding("memory", _memory()),
        _disk(folder),
        *(_extra(name, use, parts) for name, (use, parts) in EXTRAS.items()),
        _card(),
    ]


def workspace_findings(
    folder: Path, *, deep: bool = False, progress: Progress | None = None
) -> list[HealthFinding]:
    """The problems of a workspace; `deep` reads every photo and every vector."""
    if not (folder / FILE).is_file():
        return [HealthFinding("workspace", f"none in {folder}", "Create one: lookalike init PHOTOS_OR_TABLE")]
    try:
        workspace = Workspace(folder)
        workspace.database.check()
    except LookalikeError as error:
        return [HealthFinding("workspace", error.problem, error.fix, serious=True)]
    found = [
        HealthFinding(
            "workspace",
            f"{plural(len(workspace.catalog), 'image')}, format {workspace.settings.format}, database sound",
        )
    ]
    return [
        *found,
        *_photos(workspace, deep, progress),
        *_vectors(workspace, deep),
        *_labels(workspace),
        *_network(workspace),
        *_open_to_others(folder),
        *_left_behind(workspace),
    ]


def _memory() -> str:
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return "unknown on this system"
    return f"{pages * size / 2**30:.0f} GiB"


def _disk(folder: Path) -> HealthFinding:
    free = shutil.disk_usage(folder if folder.exists() else Path()).free
    fix = "" if free > LEAST_DISK else "Free some space: vectors and reports need it."
    return HealthFinding("free disk", f"{free / 1e9:,.1f} GB", fix)


def _extra(name: str, use: str, parts: tuple[str, ...]) -> HealthFinding:
    if missing := not_installed(parts):
        return HealthFinding(use, f"not installed ({', '.join(missing)})", install(name))
    return HealthFinding(use, "installed")


def _card() -> HealthFinding:
    if not_installed(["torch"]):
        return HealthFinding("graphics card", "not checked: PyTorch is not installed")
    import torch

    if not torch.cuda.is_available():
        return HealthFinding("graphics card", "none that PyTorch can use. Networks run on the processors.")
    return HealthFinding("graphics card", torch.cuda.get_device_name())


def _photos(workspace: Workspace, deep: bool, progress: Progress | None) -> Iterator[HealthFinding]:
    root = workspace.photos
    if root is None:
        yield HealthFinding("photos", "none: a catalog of vectors only")
        return
    wrong = wrong_photos(workspace.catalog, root, read=deep, progress=progress)
    looked = "read and compared" if deep else "there (doctor --deep reads them)"
    if not wrong:
        yield HealthFinding("photos", f"all {len(workspace.catalog):,} {looked}")
    for what, images in wrong.items():
        example = f"{len(images):,} {what}, for example {images[0]!r}"
        missing = len(images) if what == GONE else 0
        command = refresh_command(root, missing, len(workspace.catalog))
        yield HealthFinding("photos", example, f"Restore them, or run: {command}", serious=True)


def _vectors(workspace: Workspace, deep: bool) -> Iterator[HealthFinding]:
    old = stale(workspace)
    for name in workspace.encoders:
        try:
            manifest = workspace.manifest(name)
            if deep:
                check_sum(workspace.vectors_folder(name))
            if name in old:
                yield HealthFinding(
                    f"vectors of {name}", "stale: the catalog changed", "lookalike embed --stale"
                )
            else:
                workspace.embeddings(name)
                size = 4 * manifest.rows * manifest.dimension / 1e6
                yield HealthFinding(
                    f"vectors of {name}",
                    f"{manifest.rows:,} x {manifest.dimension:,}, {max(size, 1):,.0f} MB",
                )
        except LookalikeError as error:
            yield HealthFinding(f"vectors of {name}", error.problem, error.fix, serious=True)


def _labels(workspace: Workspace) -> Iterator[HealthFinding]:
    labels = workspace.labels()
    if not len(labels):
        return
    pairs = judged_pairs(workspace.catalog, labels, Rule())
    yield HealthFinding("labels", f"{len(labels):,}, of which measures can use {len(pairs):,}")
    for one in pairs.unusable:
        yield HealthFinding(
            "labels",
            f"{one.count:,} left out: {one.reason}, for example {one.examples[0]}",
            "lookalike labels stats",
        )


def _network(workspace: Workspace) -> Iterator[HealthFinding]:
    if workspace.database.is_sqlite and (kind := network_file_system(workspace.folder)):
        yield HealthFinding("database", f"a SQLite file on a network file system ({kind}): not safe", MOVE)


def _open_to_others(folder: Path) -> Iterator[HealthFinding]:
    """Files and folders of the workspace that other users may read. They hold votes, password hashes and a key."""
    databases = (DATABASE, *(f"{DATABASE}{ending}" for ending in BESIDE))
    names = (FILE, *databases, EMBEDDINGS, VIEWS, MODELS, TUNING, REPORTS, THUMBNAILS)
    if found := [name for name in names if is_open(folder / name)]:
        paths = " ".join(quote(str(folder / name)) for name in found)
        yield HealthFinding(
            "access", f"other users of this machine may read {listed(found)}", f"chmod go= {paths}"
        )


def _left_behind(workspace: Workspace) -> Iterator[HealthFinding]:
    """What stopped commands left: partial vectors can be resumed, other files can be deleted."""
    for name in workspace.unfinished:
        way_out = f"Embed it again to resume, or delete {workspace.folder}/embeddings/.{name}.partial"
        yield HealthFinding("unfinished", f"vectors of {name}", way_out)
    folder = workspace.folder
    for path in sorted([*folder.glob(".*.new"), *(folder / "embeddings").glob(".*.new")]):
        yield HealthFinding("left behind", f"{path.name}, by a command that was stopped", f"Delete {path}")
