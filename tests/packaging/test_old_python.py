"""A Python that is too old gets one sentence, not a SyntaxError of a module that it cannot read."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from interpreters import interpreter

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
OLDEST = re.search(r'requires-python = ">=(3\.\d+)"', (ROOT / "pyproject.toml").read_text("utf-8"))[1]
OLD = ("3.6", "3.7", "3.8", "3.9", "3.10")


def refused(done: subprocess.CompletedProcess[str], version: str) -> None:
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"Lookalike needs Python {OLDEST} or later; this is Python {version}. ")


def test_the_file_with_the_check_is_readable_by_old_pythons_and_checks_before_it_imports_anything_of_ours():
    tree = ast.parse((SOURCE / "lookalike/__init__.py").read_text(encoding="utf-8"), feature_version=(3, 7))
    check = next(at for at, node in enumerate(tree.body) if isinstance(node, ast.If))
    for node in tree.body[:check]:
        for name in ast.walk(node):
            if isinstance(name, ast.ImportFrom):
                assert name.module.partition(".")[0] in {"importlib", "typing"}


@pytest.mark.parametrize(
    "program", ["import lookalike", "import lookalike.cli", "import lookalike.core.errors"]
)
def test_an_old_version_number_is_refused_in_one_sentence(program):
    command = f"import sys; sys.version_info = (3, 10, 13); {program}"
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=SOURCE, capture_output=True, text=True, check=False
    )
    refused(done, "3.10")


@pytest.mark.parametrize("version", OLD)
@pytest.mark.parametrize("words", [("-m", "lookalike", "status"), ("-c", "import lookalike")])
def test_an_old_interpreter_is_refused_in_one_sentence(version, words):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"this machine has no Python {version}")
    done = subprocess.run(
        [python, "-B", *words],
        cwd=SOURCE,
        capture_output=True,
        text=True,
        check=False,
    )
    refused(done, version)
