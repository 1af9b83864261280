"""The files of `deploy` name commands, ports and paths that exist, and the installation step of the image works."""

import configparser
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from interpreters import interpreter

from lookalike.cli.commands import COMMANDS
from lookalike.web.safety import PROBES

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
PAGE = (ROOT / "docs/how-to/deploying.md").read_text(encoding="utf-8")


def steps(name: str) -> list[str]:
    """The arguments of an instruction of the Dockerfile."""
    return re.findall(rf"^\s*{name} (.*)$", DOCKERFILE, re.MULTILINE)


def options_of(command: str) -> str:
    """The help of a command, as a person reads it."""
    asked = subprocess.run(
        [sys.executable, "-m", "lookalike", *command.split(), "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    return asked.stdout


def require_options(words: list[str]) -> None:
    """The words are a command and options that it has."""
    name = next(one for one in (" ".join(words[:2]), words[0]) if one in COMMANDS)
    known = options_of(name)
    for word in words:
        assert not word.startswith("--") or word in known, word


def test_the_image_runs_the_server_as_a_user_of_its_own_and_asks_for_its_health():
    assert steps("USER") == ["lookalike"]
    (command,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    require_options(yaml.safe_load(command))
    (probed,) = re.findall(r"http://127.0.0.1:(\d+)(/\w+)", DOCKERFILE)
    assert probed[1] in PROBES
    assert steps("EXPOSE") == [probed[0]]
    assert f"default: {probed[0]};" in options_of("serve")


def test_compose_publishes_only_the_app_and_its_parts_belong_together():
    found = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text(encoding="utf-8"))
    services = found["services"]
    assert set(services) == {"app", "postgres", "milvus", "etcd", "minio"}
    assert [name for name, one in services.items() if "ports" in one] == ["app"]
    assert services["app"]["ports"] == [f"127.0.0.1:{steps('EXPOSE')[0]}:{steps('EXPOSE')[0]}"]
    assert (
        ROOT / "deploy" / services["app"]["build"]["context"] / services["app"]["build"]["dockerfile"]
    ).is_file()
    for one in services.values():
        assert set(one.get("depends_on", ())) <= set(services)
        assert set(one["networks"]) <= set(found["networks"])
        for volume in one.get("volumes", ()):
            assert volume.startswith("$") or volume.partition(":")[0] in found["volumes"]
    for name, one in services.items():
        assert "build" in one or not one["image"].endswith(":latest"), name


def test_the_unit_starts_a_command_that_exists_and_writes_into_the_workspace_only():
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str
    unit.read(ROOT / "deploy/lookalike.service")
    service = unit["Service"]
    program, *words = shlex.split(service["ExecStart"])
    assert program == "/srv/lookalike/venv/bin/lookalike"
    assert f"{program} init" in PAGE
    require_options(words)
    assert service["ReadWritePaths"] == service["WorkingDirectory"]
    assert (service["ProtectSystem"], service["NoNewPrivileges"]) == ("strict", "yes")


@pytest.mark.parametrize("line", re.findall(r"^    .*(?:bin/lookalike|--rm app) (.*)$", PAGE, re.MULTILINE))
def test_the_page_of_deploying_names_commands_and_options_that_exist(line):
    require_options(shlex.split(line))


@pytest.mark.slow
def test_the_installation_step_of_the_image_works_in_an_empty_environment(registry, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for *names, to in map(str.split, steps("COPY")):
        for name in names:
            there = source / to / (name if to.endswith("./") and to != f"./{name}" else "")
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, source / to, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, there)
    (install,) = [step for step in steps("RUN") if "pip install" in step]
    (version,) = re.findall(r"^FROM python:(\d\.\d+)", DOCKERFILE, re.MULTILINE)
    subprocess.run([interpreter(version) or sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    program, *words = shlex.split(install)
    assert program == "python"
    subprocess.run([tmp_path / "venv/bin/python", *words], cwd=source, check=True)
    shown = subprocess.run(
        [tmp_path / "venv/bin/lookalike", "--version"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"\d+\.\d+", shown.stdout)
    (command,) = re.findall(r"^ENTRYPOINT (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert (tmp_path / "venv/bin" / yaml.safe_load(command)[0]).is_file()
    subprocess.run([tmp_path / "venv/bin/python", "-c", "import psycopg, pymilvus, usearch"], check=True)
