"""`labels export --format package`: a self-contained release of the labels (as in VSD, appendix B.1)."""

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from sqlalchemy import Connection, select

from lookalike.annotate.campaign import Campaign
from lookalike.annotate.protocol import REASONS
from lookalike.catalog.photos.decode import load_rgb
from lookalike.catalog.photos.masks import boxes_alone
from lookalike.core.errors import CatalogError, StorageError
from lookalike.core.progress import Progress
from lookalike.core.types import SPLITS, Catalog, Labels, Pool
from lookalike.core.version import __version__
from lookalike.discover.pool import united
from lookalike.discover.random_pairs import RandomPairs, joined
from lookalike.store.formats.label_files import write_label_file, write_provenance_file
from lookalike.store.formats.label_formats import Designs
from lookalike.store.formats.package_files import MANIFEST, filling, is_zip, require_free
from lookalike.store.formats.tables import write_table
from lookalike.store.history.rows import COMMENT, Row, history
from lookalike.store.history.votes_file import write_votes
from lookalike.store.labelling.campaigns import read_campaign
from lookalike.store.labelling.due import apply_all_due
from lookalike.store.sql.labelling_schema import annotator, example, guideline
from lookalike.store.sql.pools import every_pool
from lookalike.store.sql.rows import read_labels
from lookalike.store.sql.samples import StoredSample, read_designs, read_samples
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.labels import in_order
from lookalike.workflows.label.team import read_votes, team_of
from lookalike.workflows.release.agreement import agreement_texts
from lookalike.workflows.release.card import Facts, card, guidelines, license_text

FORMAT = 1
IMAGES = "images"
QUALITY = 95


@dataclass(frozen=True)
class Packed:
    """The content of a package. `missing` are images whose photo could not be read, with the reason."""

    package: str
    images: int
    labels: int
    rows: dict[str, int]
    missing: tuple[tuple[str, str], ...]
    size: int


@dataclass(frozen=True, eq=False)
class _Held:
    """The content of a package, from one snapshot."""

    labels: Labels
    pool: Pool | None
    drawn: RandomPairs
    campaign: Campaign
    guideline: str
    examples: tuple[tuple[str, str, int, str], ...]
    names: dict[str, str]
    designs: Designs
    samples: list[StoredSample]


def estimated_size(workspace: Workspace) -> int:
    """About how many bytes of photos a package will have: their current size."""
    folder, catalog = workspace.photos, workspace.catalog
    if folder is None:
        return 0
    every = max(1, len(catalog) // 1_000)
    looked = [folder / path for path in catalog.path[::every]]
    return every * sum(path.stat().st_size for path in looked if path.is_file())


def package(
    workspace: Workspace,
    path: Path,
    license: str,
    *,
    names: bool = False,
    replace: bool = False,
    progress: Progress | None = None,
) -> Packed:
    """Write the release, a folder or a zip file. The same workspace gives the same bytes.

    Photos are written as upright JPEG without EXIF, GPS or other metadata. Without `names`, annotators are A1, A2, ...
    and comments and reasons in own words, which can contain names, are left out.
    """
    require_free(path, replace)
    text = license_text(license)
    _require_room(workspace, path)
    apply_all_due(workspace.database)
    with filling(path) as folder:
        missing = _write_photos(workspace, folder, progress)
        with workspace.database.read() as connection:
            held, voted = _held(connection, names), read_votes(connection)
            rows = write_votes(_renamed(connection, held.names, names), folder / "votes.csv")
        catalog = workspace.catalog
        _write_catalog(catalog, folder, workspace.photos is not None)
        write_label_file(in_order(held.labels), folder / "labels.csv", designs=held.designs)
        if held.samples:
            _write_texts(folder, {"samples.json": _samples(held.samples)})
        if held.pool is not None:
            write_provenance_file(held.pool, held.drawn, folder / "provenance.csv")
        figures = team_of(voted, 0, seed=workspace.settings.seed)
        _write_texts(folder, agreement_texts(figures, held.names))
        facts = _facts(workspace, held, rows, missing, license)
        _write_texts(folder, {"LICENSE": text, "README.md": card(facts)})
        _write_texts(
            folder, {"guidelines.md": guidelines(held.guideline, held.examples, _photo_names(catalog))}
        )
        _write_texts(folder, {MANIFEST: _manifest(facts, workspace)})
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return Packed(str(path), len(catalog) - len(missing), len(held.labels), rows, missing, size)


def _require_room(workspace: Workspace, path: Path) -> None:
    import shutil

    needed = estimated_size(workspace) * (2 if is_zip(path) else 1)
    near = next(folder for folder in (path.resolve().parent, *path.resolve().parents) if folder.exists())
    free = shutil.disk_usage(near).free
    if needed > free:
        raise StorageError(
            f"The package needs about {needed / 1e6:,.0f} MB, and {near} has {free / 1e6:,.0f} MB free.",
            fix="Free some space, or choose a place on another disk.",
        )


def _held(connection: Connection, names: bool) -> _Held:
    latest = select(guideline.c.text).order_by(guideline.c.id.desc()).limit(1)
    shown = select(example.c.query, example.c.candidate, example.c.label, example.c.note)
    people = connection.execute(select(annotator.c.name).order_by(annotator.c.id)).scalars().all()
    pairs = every_pool(connection).values()
    pools = [one.pool for one in pairs if one.pool is not None]
    return _Held(
        labels=read_labels(connection),
        pool=united(pools) if pools else None,
        drawn=joined([one.drawn for one in pairs]),
        campaign=read_campaign(connection),
        guideline=connection.execute(latest).scalar() or "",
        examples=tuple(
            (row.query, row.candidate, row.label, row.note)
            for row in connection.execute(shown.order_by(example.c.place, example.c.id))
        ),
        names={name: name if names else f"A{at + 1}" for at, name in enumerate(people)},
        designs=read_designs(connection),
        samples=read_samples(connection),
    )


def _samples(samples: list[StoredSample]) -> str:
    """What the samples estimate and how they were drawn. Their pairs are in labels.csv and votes.csv."""
    names = ("name", "question", "seed", "looks", "catalog")
    listed = [{name: getattr(one, name) for name in names} | {"pairs": len(one.pairs)} for one in samples]
    return json.dumps(listed, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def _renamed(connection: Connection, names: dict[str, str], is_named: bool) -> Iterator[Row]:
    """The history. Unless annotators are named, it is without comments and without reasons in their own words."""
    for row in history(connection):
        if is_named or row.event != COMMENT:
            reason = row.reason if is_named or row.reason in REASONS else ""
            yield row._replace(who=names.get(row.who, row.who), reason=reason)


def _photo_names(catalog: Catalog) -> dict[str, str]:
    """The place of each photo in the package. It is named by its row, so that no name can clash or lead elsewhere."""
    return {image: f"{IMAGES}/{row:07d}.jpg" for row, image in enumerate(catalog.image)}


def _write_photos(
    workspace: Workspace, folder: Path, progress: Progress | None
) -> tuple[tuple[str, str], ...]:
    """Write the photos. Returns those that could not be read, with the reason."""
    photos, catalog = workspace.photos, workspace.catalog
    if photos is None:
        return ()
    (folder / IMAGES).mkdir()
    places = _photo_names(catalog)

    def write(row: int) -> tuple[str, str] | None:
        image = str(catalog.image[row])
        try:
            photo = load_rgb(photos / str(catalog.path[row]))
        except CatalogError as error:
            return image, error.problem.partition("cannot be read as a photo: ")[2].rstrip(".")
        photo.save(folder / places[image], "JPEG", quality=QUALITY, subsampling=0)
        return None

    missing = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for done, lost in enumerate(pool.map(write, range(len(catalog)))):
            if lost is not None:
                missing.append(lost)
            if progress is not None:
                progress(done + 1, len(catalog))
    return tuple(missing)


def _write_catalog(catalog: Catalog, folder: Path, has_photos: bool) -> None:
    places = _photo_names(catalog)
    path = {"path": [places[image] for image in catalog.image]} if has_photos else {}
    columns = {name: getattr(catalog, name).tolist() for name in ("item", "category", "role", "split")}
    others = {name: values.tolist() for name, values in catalog.columns.items()}
    if any(box := boxes_alone(catalog.box)):
        corners = [text.split(",") if text else [""] * 4 for text in box]
        columns |= {
            name: [corner[at] for corner in corners] for at, name in enumerate(("x0", "y0", "x1", "y1"))
        }
    write_table({"image": catalog.image.tolist(), **path, **columns, **others}, folder / "catalog.csv")
    (folder / "splits").mkdir()
    for split in SPLITS:
        listed = "".join(f"{image}\n" for image in catalog.image[catalog.split == split])
        (folder / "splits" / f"{split}.txt").write_text(listed, encoding="utf-8")


def _facts(
    workspace: Workspace,
    held: _Held,
    rows: dict[str, int],
    missing: tuple[tuple[str, str], ...],
    license: str,
) -> Facts:
    catalog, pool = workspace.catalog, held.pool
    return Facts(
        images=len(catalog),
        items=len(set(catalog.item)),
        categories=len(set(catalog.category) - {""}),
        missing=missing,
        has_photos=workspace.photos is not None,
        labels=len(held.labels),
        similar=int(held.labels.label.sum()),
        queries=len(set(held.labels.query)),
        generators=() if pool is None else pool.generators,
        top=0 if pool is None else pool.top,
        random=len(held.drawn),
        annotators=len(held.names),
        rows=rows,
        protocol=held.campaign.protocol,
        generated=workspace.settings.generated,
        license=Path(license).name,
        seed=workspace.settings.seed,
    )


def _manifest(facts: Facts, workspace: Workspace) -> str:
    written = asdict(facts) | {
        "format": FORMAT,
        "lookalike": __version__,
        "catalog": workspace.catalog.fingerprint,
        "images_are": f"JPEG, quality {QUALITY}, upright, no metadata"
        if facts.has_photos
        else "not included",
    }
    return json.dumps(written, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def _write_texts(folder: Path, texts: dict[str, str]) -> None:
    for name, content in texts.items():
        (folder / name).write_text(content, encoding="utf-8")
