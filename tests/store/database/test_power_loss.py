"""Power loss, shown by the system calls: the log is on the disk before a vote is acknowledged. Needs strace."""

import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
import voting
from databases import postgresql_server
from shops import fill

from lookalike.store.sql.database import Database

VOTES = 12
CALLS = "trace=pwrite64,write,fdatasync,fsync,sendto"


@pytest.fixture
def strace():
    found = shutil.which("strace")
    if found is None:
        pytest.fail("strace is not installed: sh scripts/system.sh, or apt install strace")
    return found


def filled(place):
    database = Database(place)
    database.migrate()
    with database.write() as connection:
        fill(connection, 1, VOTES, 1)
    database.close()
    return str(place)


def voter(place, *how):
    return [sys.executable, voting.__file__, place, "1", "1", "once", *how]


def unsynced(calls, is_log, is_answer):
    """Answers that were given while what was written to the log was not synced; and those that came after a sync.

    A call that strace shows in two parts counts as done where it is resumed.
    """
    dirty, synced, early, after, begun = False, False, 0, 0, {}
    for line in calls:
        pid, _, rest = line.partition(" ")
        rest = rest.strip()
        if rest.endswith("<unfinished ...>"):
            begun[pid] = rest
            if not is_answer(rest):
                continue
        elif rest.startswith("<..."):
            rest = begun.pop(pid, "")
            if is_answer(rest):
                continue
        if is_answer(rest):
            early, after, synced = early + dirty, after + synced, False
        elif is_log(rest) and re.match(r"(pwrite64|write)\(", rest):
            dirty = True
        elif is_log(rest) and re.match(r"(fdatasync|fsync)\(", rest):
            dirty, synced = False, True
    return early, after


def trace_sqlite(strace, folder, *how):
    place = filled(folder / "lookalike.db")
    trace = folder / "trace"
    command = [strace, "-f", "-y", "-s", "200", "-e", CALLS, "-o", str(trace), *voter(place, *how)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.count("ack ") == VOTES
    with trace.open(errors="replace") as calls:
        return unsynced(
            calls, lambda call: "lookalike.db-wal>" in call, lambda call: re.match(r'write\(1<.*"ack ', call)
        )


def trace_postgresql(strace, folder, *options):
    with postgresql_server(*options) as server:
        place, trace = filled(server.fresh()), folder / "trace"
        main = (server.folder / "data" / "postmaster.pid").read_text().split()[0]
        command = [strace, "-f", "-y", "-s", "200", "-e", CALLS, "-o", str(trace), "-p", main]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:
            assert "attached" in tracer.stderr.readline()
            done = subprocess.run(voter(place), capture_output=True, text=True, check=True)
            time.sleep(0.5)
            tracer.send_signal(signal.SIGINT)
            tracer.communicate()
        assert done.stdout.count("ack ") == VOTES
        with trace.open(errors="replace") as calls:
            return unsynced(
                calls,
                lambda call: "/pg_wal/" in call,
                lambda call: call.startswith("sendto(") and "COMMIT\\0Z" in call,
            )


def test_sqlite_answers_only_when_its_log_is_on_the_disk(strace, tmp_path):
    assert trace_sqlite(strace, tmp_path) == (0, VOTES)


def test_the_trace_shows_a_sqlite_that_does_not_wait_for_the_disk(strace, tmp_path):
    assert trace_sqlite(strace, tmp_path, "lazy") == (VOTES, 0)


def test_postgresql_answers_only_when_its_log_is_on_the_disk(strace, tmp_path):
    early, synced = trace_postgresql(strace, tmp_path)
    assert early == 0
    assert synced >= 2 * VOTES  # of giving pairs and of taking answers


def test_the_trace_shows_a_postgresql_that_does_not_wait_for_the_disk(strace, tmp_path):
    lazy = "-c synchronous_commit=off", "-c wal_writer_delay=10s"
    _, synced = trace_postgresql(strace, tmp_path, *lazy)
    assert synced < VOTES
