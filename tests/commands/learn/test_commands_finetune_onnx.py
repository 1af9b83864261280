"""`lookalike finetune --onnx`: a file that cannot be is refused before the run, and a finished run is only exported."""

import os

import pytest
from test_commands_finetune import ON, bare, flat, head_of, nothing_left, shop  # noqa: F401 - fixtures by name


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("nowhere/head.onnx", "folder nowhere"),
        ("labels.csv/head.onnx", "folder labels.csv"),
        ("folder.onnx", "is a folder"),
        ("labels.csv", "with .onnx"),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_the_run(lookalike, shop, file, message):  # noqa: F811
    pytest.importorskip("onnxscript")
    (shop / "folder.onnx").mkdir()
    refused = lookalike(*ON, "--onnx", file, "--force")
    assert refused.status == 1
    assert repr(file) in refused.err
    assert message in flat(refused.err)
    assert nothing_left(shop)


def test_a_folder_that_may_not_be_written_to(lookalike, shop, monkeypatch):  # noqa: F811
    pytest.importorskip("onnxscript")
    access, writing = os.access, os.W_OK | os.X_OK
    monkeypatch.setattr(os, "access", lambda path, mode, **how: mode != writing and access(path, mode, **how))
    refused = lookalike(*ON, "--onnx", "head.onnx")
    assert refused.status == 1
    assert "not writable" in flat(refused.err)
    assert nothing_left(shop)


def test_of_a_finished_run_only_the_file_is_written(lookalike, shop):  # noqa: F811
    pytest.importorskip("onnxscript")
    before = lookalike(*ON, "--json").json
    head, changed = head_of(shop), (shop / "models/better/head.safetensors").stat().st_mtime_ns
    result = lookalike(*ON, "--json", "--onnx", "head.onnx")
    assert result.status == 0, result.err
    assert result.json == before | {"resumed": 6, "onnx": "head.onnx"}
    assert (shop / "head.onnx").stat().st_size > 0
    assert (head_of(shop), (shop / "models/better/head.safetensors").stat().st_mtime_ns) == (head, changed)
    other = lookalike(*ON, "--seed", 1, "--onnx", "other.onnx")
    assert other.status == 1
    assert "finished run 'better'" in flat(other.err)
    assert "seed was 0 and is now 1" in flat(other.err)
    assert not (shop / "other.onnx").exists()
