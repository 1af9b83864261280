"""`lookalike finetune --onnx`: a file that cannot be is refused before the run, and a finished run is only exported."""

import os

import pytest
from test_commands_finetune import ON, bare, flat, head_of, nothing_left, shop  # noqa: F401 - fixtures by name


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("nowhere/head.onnx", "there is no folder nowhere"),
        ("labels.csv/head.onnx", "there is no folder labels.csv"),
        ("folder.onnx", "it is a folder"),
        ("labels.csv", "its name does not end with .onnx"),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_the_run(lookalike, shop, file, message):  # noqa: F811
    pytest.importorskip("onnxscript")
    (shop / "folder.onnx").mkdir()
    refused = lookalike(*ON, "--onnx", file)
    assert refused.status == 1
    assert f"{file!r}: {message}" in flat(refused.err)
    assert nothing_left(shop)


def test_a_folder_that_may_not_be_written_to(lookalike, shop, monkeypatch):  # noqa: F811
    pytest.importorskip("onnxscript")
    access, writing = os.access, os.W_OK | os.X_OK
    monkeypatch.setattr(os, "access", lambda path, mode, **how: mode != writing and access(path, mode, **how))
    refused = lookalike(*ON, "--onnx", "head.onnx")
    assert "is not writable" in flat(refused.err)
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
    assert "There is a finished run 'better' already" in flat(other.err)
    assert not (shop / "other.onnx").exists()
