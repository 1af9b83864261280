"""`scripts/extras.py` tries every extra of the project, and reports what it installs; the smallest is tried here."""

import re
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts/extras.py"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SMALLEST = "heic"


@pytest.fixture(scope="module")
def script():
    spec = spec_from_file_location("extras", SCRIPT)
    module = sys.modules["extras"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["extras"]


def test_all_extras_but_that_of_developers_are_tried_and_named_in_the_readme(script):
    extras = set(PROJECT["optional-dependencies"]) - {"dev"}
    assert set(script.EXTRAS) == extras | {"base"}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"pip install '\.\[(\w+)\]'", readme))
    assert named == extras - {"docs"}


def test_the_extra_of_developers_has_every_other_one():
    (inner,) = [one for one in PROJECT["optional-dependencies"]["dev"] if one.startswith("lookalike[")]
    every = set(inner.removeprefix("lookalike[").rstrip("]").split(","))
    assert every | {"models", "dev"} == set(PROJECT["optional-dependencies"])  # learn includes models


def test_the_packages_of_an_extra_are_also_those_of_the_extras_within_it(script):
    assert script.distributions("base") == {"lookalike"}
    assert script.distributions("heic") == {"lookalike", "pillow-heif"}
    assert script.distributions("models") < script.distributions("learn") < script.distributions("adapters")
    assert {"torch", "optuna", "peft"} <= script.distributions("adapters")
    assert "psycopg" in script.distributions("scale")


def test_a_step_that_fails_is_one_line_and_a_failed_status(script, monkeypatch, capsys, tmp_path):
    def fail(*_: object) -> str:
        return script.run(sys.executable, "-c", "raise SystemExit('ERROR: no such wheel')", at=tmp_path)

    monkeypatch.setattr(script, "wheel", lambda folder: folder)
    monkeypatch.setattr(script, "install", fail)
    assert script.main(["heic", "--folder", str(tmp_path)]) == 1
    assert capsys.readouterr().out == "heic: FAILED: ERROR: no such wheel\n"
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_extra_is_refused(script, capsys):
    with pytest.raises(SystemExit):
        script.main(["hiec"])
    assert "unknown extra: hiec" in capsys.readouterr().err


@pytest.mark.parametrize("newest", [False, True])
def test_resolving_asks_pip_for_wheels_of_that_python(script, monkeypatch, capsys, tmp_path, newest):
    asked = []

    def answer(*words: object, at: Path) -> str:
        asked.append([str(word) for word in words])
        return "Collecting a\nWould install a-1 b-2\n"

    monkeypatch.setattr(script, "wheel", lambda folder: Path("made.whl"))
    monkeypatch.setattr(script, "run", answer)
    assert script.main(["heic", "--resolve", "3.14", "--folder", str(tmp_path), *["--newest"] * newest]) == 0
    assert capsys.readouterr().out == "heic: 2 packages have wheels\n"
    (words,) = asked
    assert words[-3:] == ["--python-version", "3.14", "made.whl[heic]"]
    assert {"--dry-run", "--only-binary=:all:"} < set(words)
    assert ("--constraint" in words) is not newest


@pytest.mark.slow
def test_the_smallest_extra_installs_in_an_empty_environment(registry, tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPT, SMALLEST, "--folder", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"heic: \d+ s, [\d,]+ MB, imports lookalike, pillow_heif\n", done.stdout)
    assert list(tmp_path.iterdir()) == []
