"""Other users of the machine cannot read what Lookalike creates: votes, password hashes, the key of the sessions."""

import os
import stat
from pathlib import Path

import pytest
from PIL import Image
from voting_teams import shop

from lookalike.store.disk import BESIDE, make_folder
from lookalike.store.settings import FILE
from lookalike.store.thumbnails import Thumbnails, listed
from lookalike.store.vectors import models
from lookalike.store.workspace import DATABASE
from lookalike.workflows.start.backup import backup, restore
from lookalike.workflows.start.doctor import workspace_findings
from lookalike.workflows.start.embed import embed
from lookalike.workflows.start.init import init


@pytest.fixture(autouse=True)
def anybody():
    """A umask under which a program that does not care creates files for everybody."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def folders_below(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): mode(path) for path in folder.rglob("*") if path.is_dir()}


def test_a_new_workspace_is_its_owners_only(tmp_path, database_place):
    workspace = shop(tmp_path / "new" / "shop", database_place)
    with workspace.database.write() as connection:
        connection.exec_driver_sql("INSERT INTO campaign (name, value) VALUES ('secret', '\"key\"')")
        beside = [path for path in workspace.folder.iterdir() if path.name.endswith(BESIDE)]
        secret = [workspace.folder / FILE, *beside]
        if workspace.database.is_sqlite:
            assert {path.name for path in beside} == {f"{DATABASE}-wal", f"{DATABASE}-shm"}
            secret.append(workspace.folder / DATABASE)
        assert {path.name: mode(path) for path in secret} == {path.name: 0o600 for path in secret}
    assert folders_below(tmp_path) == {"new": 0o700, "new/shop": 0o700}


def test_folders_of_the_workspace_are_its_owners_only_and_others_stay_as_they_are(tmp_path):
    photos, folder = tmp_path / "photos", tmp_path / "shop"
    folder.mkdir(mode=0o755)
    photos.mkdir()
    for n in range(4):
        Image.new("RGB", (24, 24), (60 * n, 90, 120)).save(photos / f"{n}.png")
    workspace, _ = init(photos, folder)
    embed(workspace, "descriptor:color", workers=1)
    with models.running(folder, "head"):
        pass
    with workspace.database.read() as connection:
        one = listed(connection, "0.png")
    Thumbnails(folder, workspace.settings).make(one, 240)
    made = folders_below(folder)
    assert {"embeddings", "embeddings/color", "models", "thumbnails", f"thumbnails/{one.digest[:2]}"} == set(
        made
    )
    assert set(made.values()) == {0o700}
    assert mode(folder) == 0o755


def test_a_database_in_the_place_of_a_damaged_one_is_its_owners_only(tmp_path):
    workspace = shop(tmp_path / "shop", tmp_path)
    backup(workspace, tmp_path / "kept")
    place = workspace.folder / DATABASE
    place.write_bytes(b"damaged")
    place.chmod(0o644)
    restore(workspace.folder, tmp_path / "kept", replace=True)
    assert mode(place) == 0o600
    place.unlink()
    restore(workspace.folder, tmp_path / "kept")
    assert mode(place) == 0o600


def test_the_doctor_names_what_others_may_read(tmp_path, database_place):
    workspace = shop(tmp_path / "new shop", database_place)
    make_folder(workspace.folder / "embeddings")

    def named() -> list[tuple[str, str, bool]]:
        found = workspace_findings(workspace.folder)
        return [(one.found, one.fix, one.serious) for one in found if one.what == "access"]

    assert named() == []
    opened = {FILE: 0o640, "embeddings": 0o711} | ({DATABASE: 0o644} if workspace.database.is_sqlite else {})
    for name, bits in opened.items():
        (workspace.folder / name).chmod(bits)
    ((words, fix, serious),) = named()
    assert all(name in words and str(workspace.folder / name) in fix for name in opened)
    assert serious is False
    assert os.system(fix) == 0
    assert named() == []
