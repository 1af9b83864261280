"""Where Optuna keeps the trials of a study: a journal file, or PostgreSQL for several machines.

A killed command leaves trials in the state RUNNING. A trial names its worker by host, process and the start of the
process, by which the next command on this host knows whether it is dead. In PostgreSQL, trials also send a heartbeat,
by which other machines know. A journal has none, so trials of other hosts stay as they are there. The settings of a
dead trial are tried once more.

One command at a time has a study in a journal (a lock), so that equal seeds draw equal settings. Its workers can
survive it for a moment, so the lock alone does not tell that they are dead.
"""

import fcntl
import json
import os
import socket
import subprocess
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import optuna
from optuna.exceptions import (
    ExperimentalWarning,
    StorageInternalError,
    UpdateFinishedTrialError,
)
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from lookalike.core.errors import LookalikeError, StorageError, first_line
from lookalike.store.disk import create_private, disk_errors, lock, make_folder
from lookalike.store.sql.database import Database, address
from lookalike.store.workspace import TUNING

Place = Path | str  # of a journal; the address of a PostgreSQL database
SCHEMA = "lookalike_tuning"  # Optuna's tables; one has the name of a table of the workspace
CREATING = 0x100CA12  # the advisory lock that lets one process create a study at a time
HEARTBEAT = 30  # seconds between two
SILENT = timedelta(minutes=2)  # without a heartbeat until a trial counts as dead
WORKER, REPEATS, ABOUT = "worker", "repeats", "about"  # attributes of trials; of a study


def journal_of(workspace: Path, encoder: str) -> Path:
    """The file with the studies of an encoder."""
    return workspace / TUNING / f"{encoder}.journal"


def named(place: Place) -> str:
    """A place in messages: without the password of an address."""
    return str(place) if isinstance(place, Path) else address(place).render_as_string(hide_password=True)


@contextmanager
def opened_study(
    place: Place, name: str, about: Mapping[str, Any] | None = None, first: Mapping[str, Any] | None = None
) -> Iterator[Study]:
    """A study. With what it is `about` and the settings to try `first`, it is created if there is none.

    The command that creates it locks it, if it is in a journal; its workers only open it.
    """
    with ExitStack() as opened:
        opened.enter_context(_study_errors(place))
        if about is None:
            study = optuna.load_study(storage=opened.enter_context(_storage(place)), study_name=name)
        else:
            with _creating(place, name, opened):
                storage = opened.enter_context(_storage(place))
                study = optuna.create_study(
                    storage=storage, study_name=name, direction="maximize", load_if_exists=True
                )
                if not study.get_trials(deepcopy=False):
                    study.set_user_attr(ABOUT, dict(about))
                    study.enqueue_trial(dict(first or {}))
        yield study


def other_studies(study: Study) -> list[Mapping[str, Any]]:
    """What other studies in the same place are about, the last one first."""
    found = optuna.get_all_study_summaries(study._storage, include_best_trial=False)
    dated = [
        (one.datetime_start, one.user_attrs[ABOUT])
        for one in found
        if one.study_name != study.study_name and one.datetime_start and ABOUT in one.user_attrs
    ]
    return [about for _, about in sorted(dated, key=lambda one: one[0], reverse=True)]


def repeat_dead_trials(study: Study, place: Place) -> None:
    """Fail the trials of dead workers, and queue their settings again. This command has locked the journal."""
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        if _is_dead(trial, locked=isinstance(place, Path)):
            with suppress(UpdateFinishedTrialError, ValueError):  # another command was faster
                study.tell(trial.number, state=TrialState.FAIL)
                _repeat(study, trial)
    with quiet():
        optuna.storages.fail_stale_trials(study)


def _repeat(study: Study, trial: FrozenTrial) -> None:
    """Queue the settings of a dead trial once: a trial that dies twice may be what kills its worker."""
    if REPEATS not in trial.user_attrs:
        study.enqueue_trial(trial.params, user_attrs={REPEATS: draw_of(study, trial.number)})


def draw_of(study: Study, number: int) -> int:
    """Which draw of the study a trial is, without repetitions: it does not depend on how often workers died."""
    trials = study.get_trials(deepcopy=False)
    repeats = trials[number].user_attrs.get(REPEATS)
    before = sum(REPEATS not in one.user_attrs for one in trials[:number])
    return before if repeats is None else int(repeats)


def worker() -> list[Any]:
    """This process as a trial names it: host, process, and when the process started."""
    return [socket.gethostname(), os.getpid(), _start(os.getpid())]


def unknown_hosts(study: Study) -> Mapping[int, str]:
    """The hosts of running trials that cannot be checked from here, by number: those of other hosts in a journal."""
    if not isinstance(study._storage, JournalStorage):
        return {}
    running = study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
    hosts = {one.number: str(one.user_attrs[WORKER][0]) for one in running if WORKER in one.user_attrs}
    return {number: host for number, host in hosts.items() if host != socket.gethostname()}


def _is_dead(trial: FrozenTrial, *, locked: bool) -> bool:
    """Whether the worker of a trial is known to be gone; of another machine, only its heartbeat tells."""
    if WORKER not in trial.user_attrs:  # it was killed, or has not yet named itself
        silent = trial.datetime_start is not None and datetime.now() - trial.datetime_start > SILENT
        return locked or silent
    host, process, start = trial.user_attrs[WORKER]
    return bool(host == socket.gethostname() and _start(process) != start)


def _start(process: int) -> str:
    """When a process of this machine started; "" if it does not run."""
    stat = Path(f"/proc/{process}/stat")
    if not Path("/proc/self/stat").exists():
        shown = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(process)], capture_output=True, text=True, check=False
        )
        return shown.stdout.strip()
    try:
        state, *fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state == "Z" else fields[18]  # Z: it is dead, and its parent does not know yet


@contextmanager
def quiet() -> Iterator[None]:
    """Without Optuna's warnings that heartbeats are experimental."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        yield


@contextmanager
def _study_errors(place: Place) -> Iterator[None]:
    """Turn errors of PostgreSQL into one that says what is kept; Optuna can raise others while it handles them.

    It does so after an error of the disk too, so ours is looked for beneath the others.
    """
    try:
        yield
    except LookalikeError:
        raise
    except Exception as error:
        lost: BaseException | None = error
        while lost is not None and not isinstance(lost, SQLAlchemyError | LookalikeError):
            lost = lost.__cause__ or lost.__context__
        if isinstance(lost, LookalikeError):
            raise lost from None
        if lost is None or isinstance(place, Path):
            raise
        raise StorageError(
            f"The connection to {named(place)} was lost while tuning: {first_line(getattr(lost, 'orig', lost))}.",
            fix="Finished trials are kept there. Check that PostgreSQL runs, then run the same command again: it "
            "repeats the trial that was interrupted and goes on.",
        ) from error


@contextmanager
def _creating(place: Place, name: str, opened: ExitStack) -> Iterator[None]:
    """One process at a time creates a study and its tables. A journal stays locked while it is opened."""
    if isinstance(place, Path):
        with disk_errors("making the folder of studies", place.parent):
            make_folder(place.parent)
            create_private(place)
        opened.enter_context(lock(place.parent, name, "tune"))
        yield
        return
    database, waiting = Database(place), text(f"SELECT pg_advisory_xact_lock({CREATING})")
    with database.write() as connection:
        connection.execute(waiting)
        if connection.execute(text(f"SELECT to_regnamespace('{SCHEMA}')")).scalar() is None:
            connection.execute(text(f"CREATE SCHEMA {SCHEMA}"))
    with database.write() as connection:
        connection.execute(waiting)
        yield


@contextmanager
def _storage(place: Place) -> Iterator[BaseStorage]:
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    if isinstance(place, Path):
        try:
            journal = JournalStorage(_Journal(str(place)))
        except (ValueError, KeyError, TypeError, AssertionError) as error:
            raise StorageError(
                f"{place} is damaged: {first_line(error)}.", fix="Delete it, and tune again from the start."
            ) from None
        yield journal
        return
    url = address(place)
    options = f"{url.query.get('options', '')} -csearch_path={SCHEMA}".strip()
    with quiet():
        database = _PostgreSQL(
            url.update_query_dict({"options": options}).render_as_string(hide_password=False),
            {"pool_pre_ping": True},
            heartbeat_interval=HEARTBEAT,
            grace_period=int(SILENT.total_seconds()),
            heartbeat_stale_trial_callback=_repeat,
        )
    try:
        yield database
    finally:
        database.engine.dispose()


class _PostgreSQL(RDBStorage):
    def record_heartbeat(self, trial_id: int) -> None:
        """Send a heartbeat. If the server is gone, the next report of the trial says so."""
        with suppress(StorageInternalError, SQLAlchemyError):
            super().record_heartbeat(trial_id)


class _Journal(JournalFileBackend):
    """A journal whose lock is free at once after a kill. What a killed worker wrote of a line is cut off."""

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Append to the file."""
        path = Path(self._file_path)
        with disk_errors("recording a trial", path), path.open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if size := file.seek(0, os.SEEK_END):
                file.seek(size - 1)
                if file.read() != b"\n":
                    file.truncate(path.read_bytes().rfind(b"\n") + 1)
            file.write(b"".join(json.dumps(log).encode() + b"\n" for log in logs))
            file.flush()
            os.fsync(file.fileno())
