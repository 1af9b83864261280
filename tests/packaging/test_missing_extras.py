"""A message about a missing library names a command that works: for the Python that runs, and an extra that exists."""

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lookalike.core import checks
from lookalike.core.checks import install, pip_install
from lookalike.encode.open import MORE, TORCH, missing_libraries
from lookalike.workflows.start.doctor import EXTRAS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = PROJECT["optional-dependencies"]


def calls() -> dict[str, set[str]]:
    """The places that name an extra in a message, by extra."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = (
                isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "install"
            )
            if named and isinstance(node.args[0], ast.Constant):
                found.setdefault(node.args[0].value, set()).add(str(path.relative_to(ROOT)))
    return found


def test_every_message_names_an_extra_that_exists():
    found = calls()
    assert {"heic", "learn", "search", "scale", "faces", "judge", "map", "adapters"} <= set(found)
    computed = {extra for extra in EXTRAS} | {missing_libraries(source)[1] for source in (*MORE, "timm")}
    assert (set(found) | computed) - set(OPTIONAL) == set()


@pytest.mark.parametrize("libraries", [TORCH, *MORE.values()])
def test_networks_whose_libraries_are_missing_name_the_extra_that_has_them(libraries, monkeypatch):
    monkeypatch.setattr(
        "lookalike.encode.open.not_installed", lambda names: [n for n in names if n in libraries]
    )
    for source in (*MORE, "timm"):
        missing, extra = missing_libraries(source)
        names = {re.split(r"[><=\[]", one)[0].replace("-", "_") for one in OPTIONAL[extra]}
        for library in missing:
            assert library in names | {"open_clip" if "open_clip_torch" in names else ""}


@pytest.mark.parametrize("extra", OPTIONAL)
def test_the_command_runs_pip_of_the_python_that_runs_for_that_extra(extra):
    message = install(extra)
    assert message.startswith("Install it in the folder of Lookalike: ")
    words = shlex.split(message.partition(": ")[2])
    assert words == [sys.executable, "-m", "pip", "install", f".[{extra}]"]


def test_the_command_works_in_the_folder_of_lookalike(registry):
    """Pip of this Python reads the project and knows the extra. Nothing is installed."""
    words = shlex.split(install("heic").partition(": ")[2])
    done = subprocess.run(
        [*words, "--dry-run", "--no-deps"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "does not provide the extra" not in done.stderr
    asked = subprocess.run([*words[:3], "--version"], capture_output=True, text=True, check=True)
    assert Path(asked.stdout.split(" from ")[1].split(" (")[0]).is_relative_to(sys.prefix)


def test_a_path_with_a_space_is_quoted_and_an_unknown_one_is_python3(monkeypatch):
    monkeypatch.setattr(checks.sys, "executable", "/my tools/bin/python")
    assert shlex.split(pip_install("peft")) == ["/my tools/bin/python", "-m", "pip", "install", "peft"]
    monkeypatch.setattr(checks.sys, "executable", "")
    assert pip_install("peft") == "python3 -m pip install peft"
