"""A SQLite file on a network file system is found by the list of mounts, and refused where people would share it."""

import pytest
from voting_teams import shop

from lookalike.core.errors import WorkspaceError
from lookalike.store import mounts
from lookalike.store.mounts import file_system, network_file_system
from lookalike.store.workspace import Workspace

LISTED = r"""
21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
22 21 0:20 / /proc rw,nosuid - proc proc rw
35 21 0:40 /export /mnt/team rw,relatime shared:5 master:2 - nfs4 server:/export rw,vers=4.2
36 35 254:1 / /mnt/team/local rw - xfs /dev/vdb rw
37 21 0:41 / /mnt/with\040space rw - cifs //server/share rw,vers=3.0
38 21 0:42 / /home/ann/far rw - fuse.sshfs ann@server:/data rw
39 21 0:43 / /shared rw - 9p host rw,trans=virtio
40 21 0:44 / /old rw - nfs server:/old rw
41 21 254:2 / /old rw - ext4 /dev/vdc rw
42 21 254:3 / /disk\134s rw - ext4 /dev/vdd rw
""".strip()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/srv/shop", "ext4"),
        ("/mnt/team", "nfs4"),
        ("/mnt/team/shop/deep", "nfs4"),
        ("/mnt/teamwork", "ext4"),
        ("/mnt/team/local/shop", "xfs"),
        ("/mnt/with space/shop", "cifs"),
        ("/home/ann/far/shop", "fuse.sshfs"),
        ("/shared/shop", "9p"),
        ("/old/shop", "ext4"),
        ("/disk\\s/shop", "ext4"),
    ],
)
def test_the_file_system_is_that_of_the_nearest_mount(path, kind):
    assert file_system(LISTED, path) == kind


@pytest.mark.parametrize("text", ["", "no mounts", "21 1 254:0 / / rw", "21 1 0:1 / /other rw - nfs a:/b rw"])
def test_an_unknown_list_says_nothing(text):
    assert file_system(text, "/srv/shop") == ""


@pytest.fixture
def mounted(tmp_path, monkeypatch):
    """Make this machine believe that a folder has a file system of a type; the folder."""

    def mount(kind: str):
        (tmp_path / "far").mkdir(exist_ok=True)
        text = f"1 0 8:1 / / rw - ext4 /dev/sda rw\n2 1 0:9 / {tmp_path / 'far'} rw - {kind} there rw\n"
        (tmp_path / "mountinfo").write_text(text)
        monkeypatch.setattr(mounts, "MOUNTS", tmp_path / "mountinfo")
        return tmp_path / "far"

    return mount


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"])
def test_network_file_systems_are_known_by_name_also_through_a_link(mounted, tmp_path, kind):
    far = mounted(kind)
    (tmp_path / "link").symlink_to(far)
    assert network_file_system(tmp_path / "link/not/there/yet") == kind
    assert network_file_system(tmp_path) == ""


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "zfs", "overlay", "tmpfs", "fuseblk"])
def test_local_file_systems_are_not(mounted, kind):
    assert network_file_system(mounted(kind)) == ""


def test_a_machine_without_such_a_list_is_not_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(mounts, "MOUNTS", tmp_path / "absent")
    assert network_file_system(tmp_path) == ""


def test_opening_a_workspace_reads_no_list_of_mounts(tmp_path, monkeypatch):
    shop(tmp_path / "w", "")
    monkeypatch.setattr(mounts, "file_system", lambda *_: pytest.fail("asked for the file system"))
    assert len(Workspace(tmp_path / "w").catalog) > 0


def test_a_new_workspace_is_refused_before_anything_is_written(mounted):
    far = mounted("nfs4")
    with pytest.raises(WorkspaceError, match=r"network file system \(nfs4\)") as refused:
        shop(far / "w", "")
    assert "PostgreSQL" in refused.value.fix
    assert not (far / "w/lookalike.db").exists()
