"""The commands on a network file system: `init` and `serve` refuse a SQLite file there, `doctor` warns, others work."""

import pytest

from lookalike.store import mounts


@pytest.fixture
def far(tmp_path, monkeypatch):
    """The folder of the test, as if it were on NFS."""

    def believe() -> None:
        (tmp_path / "mountinfo").write_text(f"1 0 0:9 / {tmp_path} rw - nfs4 there rw\n")
        monkeypatch.setattr(mounts, "MOUNTS", tmp_path / "mountinfo")

    return believe


def test_init_names_the_folder_the_kind_and_postgresql(lookalike, photos, far, tmp_path):
    far()
    done = lookalike("init", photos, "--workspace", "shop")
    assert done.status == 1
    said = " ".join(done.err.split())
    assert "shop is on a network file system (nfs4)" in said
    assert "--database postgresql://" in said
    assert not (tmp_path / "shop").exists()


def test_init_with_postgresql_is_not_refused(lookalike, photos, far, postgresql):
    far()
    assert lookalike("init", photos, "--database", postgresql.fresh()).status == 0


def test_serve_refuses_doctor_warns_and_reading_works(lookalike, workspace, far):
    far()
    done = lookalike("serve", "--port", 0)
    assert done.status == 1
    assert "network file system (nfs4)" in done.err
    assert "lookalike backup FILE" in " ".join(done.err.split())
    found = lookalike("doctor", "--json").json
    (finding,) = [one for one in found["findings"] if one["what"] == "database"]
    assert "nfs4" in finding["found"]
    assert "PostgreSQL" in finding["fix"]
    assert lookalike("status").status == 0
