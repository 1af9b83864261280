"""Every module and public name is documented, and every example in the documentation runs."""

import ast
import doctest
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import lookalike

HOME = Path(lookalike.__file__).parent
FILES = sorted(HOME.rglob("*.py"))


def dotted(path: Path) -> str:
    """The module a file holds."""
    return ".".join(("lookalike", *path.relative_to(HOME).with_suffix("").parts)).removesuffix(".__init__")


def public(tree: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Public functions and classes of a module, and the methods of its public classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node)


@pytest.mark.parametrize("path", FILES, ids=dotted)
def test_the_module_and_its_public_names_have_docstrings(path: Path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = [node.name for node in public(tree) if not ast.get_docstring(node)]
    assert (ast.get_docstring(tree) is not None, silent) == (True, [])


WITH_EXAMPLES = [path for path in FILES if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=dotted)
def test_examples_run(path: Path):
    found = doctest.testmod(importlib.import_module(dotted(path)))
    assert found.attempted > 0
    assert found.failed == 0


def test_there_are_examples():
    assert len(WITH_EXAMPLES) >= 5
