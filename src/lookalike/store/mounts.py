"""Whether a folder is on a network file system, where locks do not protect a SQLite file."""

import os
import re
from contextlib import suppress
from pathlib import Path

from lookalike.core.errors import WorkspaceError

MOUNTS = Path("/proc/self/mountinfo")  # absent on systems other than Linux: nothing is known there
NETWORK = {
    *("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "beegfs", "glusterfs"),
    *("fuse.sshfs", "fuse.glusterfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.ceph-fuse"),
}


def file_system(mounts: str, path: str) -> str:
    r"""The type of the file system of an absolute path without links, by the text of `mountinfo`; "" if unknown.

    Of several mounts at one place, the last one counts.

    >>> file_system("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 22 0:40 / /mnt/a\\040b rw - nfs4 host:/x rw", "/mnt/a b/c")
    'nfs4'
    """
    found, longest = "", -1
    for line in mounts.splitlines():
        before, _, after = line.partition(" - ")
        places = before.split(" ")[4:5]
        if not places or not after:
            continue
        place = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), places[0])
        if len(place) >= longest and f"{path}/".startswith(f"{place.rstrip('/')}/"):
            found, longest = after.split(" ")[0], len(place)
    return found


def network_file_system(folder: Path) -> str:
    """The type of the network file system that a folder is or would be on; "" for a local or an unknown one."""
    with suppress(OSError):
        kind = file_system(
            MOUNTS.read_text(encoding="utf-8", errors="surrogateescape"), os.path.realpath(folder)
        )
        return kind if kind in NETWORK else ""
    return ""


def require_local(folder: Path, fix: str) -> None:
    """Raise WorkspaceError if a SQLite file in this folder would be on a network file system."""
    if kind := network_file_system(folder):
        raise WorkspaceError(
            f"{folder} is on a network file system ({kind}), where locks do not protect a SQLite file.",
            fix=fix,
        )
