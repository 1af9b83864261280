"""The job files of Slurm and Kubernetes, run by the shell with the variables that the schedulers set."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from lookalike.cli.app import run

ROOT = Path(__file__).parents[2]
SLURM = ROOT / "deploy/slurm-shards.sh"
(JOB,) = yaml.safe_load_all((ROOT / "deploy/kubernetes-shards.yaml").read_text(encoding="utf-8"))
POD = JOB["spec"]["template"]["spec"]
(WORKER,) = POD["containers"]


@pytest.fixture
def shell(tmp_path):
    """Run a program where `lookalike` only prints how it was called."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/lookalike").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "bin/lookalike").chmod(0o755)

    def run_in(program: list[str], variables: dict[str, str]) -> str:
        path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run(
            program, env={"PATH": path, **variables}, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    return run_in


@pytest.mark.parametrize(("first", "count"), [(0, 3), (1, 3), (5, 2)])
def test_a_slurm_array_runs_each_shard_once(shell, first, count):
    called = [
        shell(
            ["bash", str(SLURM), "/a plan"],
            {
                "SLURM_ARRAY_TASK_ID": str(first + at),
                "SLURM_ARRAY_TASK_MIN": str(first),
                "SLURM_ARRAY_TASK_COUNT": str(count),
            },
        )
        for at in range(count)
    ]
    assert called == [f"work /a plan --shard {at + 1}/{count}" for at in range(count)]


def test_a_kubernetes_job_runs_each_shard_once(shell):
    variables = {one["name"]: one["value"] for one in WORKER["env"]}
    count = JOB["spec"]["completions"]
    assert JOB["spec"]["completionMode"] == "Indexed"
    assert int(variables["SHARDS"]) == count
    for index in (0, count - 1):
        called = shell(WORKER["command"] + WORKER["args"], variables | {"JOB_COMPLETION_INDEX": str(index)})
        assert called == f"work {variables['PLACE']} --shard {index + 1}/{count} --photos /photos"


def test_a_pod_has_no_rights_that_it_does_not_need():
    assert POD["automountServiceAccountToken"] is False
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert WORKER["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True}
    mounted = {one["mountPath"]: one.get("readOnly", False) for one in WORKER["volumeMounts"]}
    assert mounted == {"/photos": True, "/tmp": False}


def test_the_command_has_the_options_of_the_files(capsys):
    run(["work", "--help"])
    shown = capsys.readouterr().out
    assert "--shard" in shown
    assert "--photos" in shown
