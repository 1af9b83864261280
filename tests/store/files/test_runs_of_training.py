"""The folder of a run: whole files, one command at a time, resumed only with the same identity."""

import json
import os

import pytest

from lookalike.core.errors import LearningError, StorageError, WorkspaceError
from lookalike.store.vectors import models

IDENTITY = {"settings": {"rate": 0.1, "soft": {"beta": 0.7}}, "labels": "a", "vectors": "v", "views": 1}
FILES = {"head.safetensors": b"head", "checkpoint.json": b"{}"}


def epoch(number: int, value: float = 0.5) -> tuple[dict[str, float], dict[str, float]]:
    return {"number": number, "loss": 1.0 / number, "value": value}, {"loss": 1.0 / number, "DCS": value}


def finished(folder, name="one"):
    run = models.begin(folder, name, IDENTITY)
    run.keep(b"state")
    run.write(FILES)
    run.finish()
    return run


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "models").mkdir()
    return tmp_path


def scalars(folder) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard reads in a run's folder."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    seen = EventAccumulator(str(folder))
    seen.Reload()
    return {tag: [(one.step, one.value) for one in seen.Scalars(tag)] for tag in seen.Tags()["scalars"]}


def test_a_state_is_kept_when_it_is_due_by_the_clock(folder):
    now = [100.0]
    run = models.begin(folder, "one", IDENTITY, clock=lambda: now[0], every=20.0)
    assert (run.last(), run.due()) == (None, False)
    now[0] = 120.0
    assert run.due()
    run.keep(b"first")
    assert (run.last(), run.due()) == (b"first", False)
    now[0] = 139.0
    assert not run.due()
    run.keep(b"second")
    assert models.begin(folder, "one", IDENTITY).last() == b"second"


def test_a_run_from_its_beginning_to_its_end(folder):
    run = models.begin(folder, "one", IDENTITY)
    assert (models.trained(folder), models.unfinished(folder)) == ([], ["one"])
    run.keep(b"state")
    run.write(FILES)
    assert (models.trained(folder), models.unfinished(folder)) == ([], ["one"])
    run.finish()
    assert (models.trained(folder), models.unfinished(folder)) == (["one"], [])
    assert not (folder / "models/one/state.safetensors").exists()


def test_history_and_events_have_each_epoch_once_when_a_run_resumes(folder):
    run = models.begin(folder, "one", IDENTITY)
    run.begin_history([])
    for number in range(1, 6):
        run.note(*epoch(number, float("nan") if number == 2 else 0.5))
    with (folder / "models/one/history.jsonl").open("ab") as file:
        file.write(b'{"number": 6, "lo')  # a kill in a line
    again = models.begin(folder, "one", IDENTITY)
    again.begin_history([epoch(1), epoch(2, float("nan")), epoch(3)])
    for number in (4, 5, 6):
        again.note(*epoch(number))
    lines = [json.loads(line) for line in (folder / "models/one/history.jsonl").read_text().splitlines()]
    assert [line["number"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert lines[1]["value"] is None
    found = scalars(folder / "models/one")
    assert [step for step, _ in found["loss"]] == [1, 2, 3, 4, 5, 6]
    assert [value for _, value in found["loss"]] == pytest.approx([1 / n for n in range(1, 7)])
    assert [step for step, _ in found["DCS"]] == [1, 3, 4, 5, 6]
    assert len(list((folder / "models/one").glob("events.out.tfevents.*"))) == 1


def test_an_unfinished_run_resumes_only_with_the_same_settings(folder):
    models.begin(folder, "one", IDENTITY).keep(b"state")
    assert models.begin(folder, "one", IDENTITY).last() == b"state"
    other = IDENTITY | {"settings": {"rate": 0.2, "soft": None}, "labels": "b", "vectors": "w"}
    with pytest.raises(LearningError) as error:
        models.begin(folder, "one", other)
    run, _, changes = error.value.problem.partition(": ")
    assert "unfinished run 'one'" in run
    rate, soft, labels, vectors = changes.split("; ")
    assert (rate, soft) == ("rate was 0.1 and is now 0.2", "soft was beta 0.7 and is now not given")
    assert "labels" in labels
    assert "vectors" in vectors
    assert "--replace" in error.value.fix
    assert models.begin(folder, "one", IDENTITY).last() == b"state"
    assert models.begin(folder, "one", other, replace=True).last() is None


def test_a_finished_run_is_not_written_over(folder):
    finished(folder)
    for identity, message in (
        (IDENTITY, "same settings and data"),
        (IDENTITY | {"views": 3}, "views was 1 and is now 3"),
    ):
        with pytest.raises(LearningError, match="a finished run") as error:
            models.begin(folder, "one", identity)
        assert message in error.value.problem
    assert (folder / "models/one/head.safetensors").read_bytes() == b"head"
    models.begin(folder, "one", IDENTITY, replace=True)
    assert models.unfinished(folder) == ["one"]


def test_another_encoder_is_described_in_words():
    one = {"encoder": {"spec": "timm:a", "weights": "0a1b", "preprocessing": "p"}}
    other = {"encoder": {"spec": "timm:b", "weights": "9f8e", "preprocessing": "q"}}
    encoder, weights, preprocessing = models.differences(one, other)
    assert "was timm:a and is now timm:b" in encoder
    assert "weights" in weights
    assert "preprocessing" in preprocessing


def test_a_folder_that_no_run_wrote_is_left_alone(folder):
    (folder / "models/mine").mkdir()
    for file in ("weights.safetensors", "checkpoint.json"):
        (folder / "models/mine" / file).write_bytes(b"precious")
        for replace in (False, True):
            with pytest.raises(LearningError, match="no training run"):
                models.begin(folder, "mine", IDENTITY, replace=replace)
        assert (folder / "models/mine" / file).read_bytes() == b"precious"


def test_what_a_kill_left_before_the_first_file_is_no_obstacle(folder):
    (folder / "models/one").mkdir()
    (folder / "models/one/.run.json.999999999.new").write_bytes(b"{")
    (folder / "models/.one.old.new").mkdir()
    assert models.begin(folder, "one", IDENTITY).last() is None
    assert not (folder / "models/.one.old.new").exists()


def test_a_run_that_cannot_be_read_is_damaged(folder):
    models.begin(folder, "one", IDENTITY)
    (folder / "models/one/run.json").write_text("[")
    with pytest.raises(LearningError, match=r"'one' is damaged: .*run\.json"):
        models.begin(folder, "one", IDENTITY)


def test_a_second_command_is_refused_with_the_training_process(folder):
    with (
        models.running(folder, "one"),
        pytest.raises(WorkspaceError, match=f"finetune one, process {os.getpid()}"),
        models.running(folder, "one"),
    ):
        pass
    with models.running(folder, "one"), models.running(folder, "two"):
        pass


def test_clearing_takes_runs_and_leaves_the_users_files(folder):
    finished(folder)
    (folder / "models/mine.safetensors").write_bytes(b"precious")
    models.remove_runs(folder)
    assert sorted(path.name for path in (folder / "models").iterdir()) == ["mine.safetensors"]


def test_a_state_that_cannot_be_written_leaves_the_one_before(folder, monkeypatch):
    run = models.begin(folder, "one", IDENTITY)
    run.keep(b"first")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match=r"disk is full: .*state\.safetensors"):
        run.keep(b"second")
    monkeypatch.undo()
    assert run.last() == b"first"
    assert not list((folder / "models/one").glob(".*.new"))
