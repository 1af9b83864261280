"""Benchmarks, studies and examples are not run with the tests: what they import must still be there."""

import ast
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    file for folder in ("benchmarks", "studies", "examples") for file in (ROOT / folder).glob("*.py")
)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_names_that_a_script_imports_exist(script):
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "lookalike":
            module = import_module(node.module)
            for name in (one.name for one in node.names):
                assert hasattr(module, name) or find_spec(f"{node.module}.{name}"), f"{node.module}.{name}"
