"""The wheel and the source distribution are complete, and the wheel works in an empty environment."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/lookalike"


def run(*words: object, at: Path) -> str:
    """What a program printed."""
    found = subprocess.run([str(word) for word in words], cwd=at, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


@pytest.fixture(scope="module")
def built(registry, tmp_path_factory) -> Path:
    """A folder with both packages, built in an environment of their own."""
    at = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "venv", "builder", at=at)
    run("builder/bin/python", "-m", "pip", "install", "--quiet", "build", at=at)
    run("builder/bin/python", "-m", "build", "--outdir", at / "dist", ROOT, at=at)
    return at / "dist"


@pytest.mark.slow
def test_both_packages_hold_every_file_of_the_package(built):
    wanted = {
        path.relative_to(ROOT / "src").as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    assert {Path(name).suffix for name in wanted} >= {".py", ".j2", ".css", ".js", ".toml"}
    (wheel,) = built.glob("*.whl")
    (source,) = built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        assert wanted - set(archive.namelist()) == set()
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in wanted} - names == set()
    assert {"LICENSE", "README.md", "pyproject.toml"} <= names


@pytest.mark.slow
def test_the_wheel_without_extras_searches_photos(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    run(sys.executable, "-m", "venv", "venv", at=tmp_path)
    run(
        "venv/bin/python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "-c",
        ROOT / "constraints.txt",
        wheel,
        at=tmp_path,
    )
    lookalike = tmp_path / "venv/bin/lookalike"
    (version,) = run(lookalike, "--version", at=tmp_path).split()[-1:]
    assert f"-{version}-" in wheel.name
    run(lookalike, "studio", "photos", "--photos", 200, at=tmp_path)
    run(lookalike, "init", "photos", "--workspace", "shop", at=tmp_path)
    run(lookalike, "embed", "descriptor:color", "--workspace", "shop", at=tmp_path)
    photo = next((tmp_path / "photos").rglob("*.png"))
    assert "item" in run(lookalike, "search", photo, "-k", 3, "--json", "--workspace", "shop", at=tmp_path)


@pytest.mark.slow
def test_pip_refuses_the_wheel_for_a_python_that_is_too_old(built, tmp_path):
    words = ("--no-index", "--find-links", built, "--no-deps", "--only-binary=:all:", "--dest", "there")
    pip = (sys.executable, "-m", "pip", "download", *map(str, words), "lookalike", "--python-version")
    refused = subprocess.run([*pip, "3.10"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "requires a different Python: 3.10" in refused.stderr
    assert "not in '>=3.11'" in refused.stderr
    run(*pip, "3.11", at=tmp_path)
