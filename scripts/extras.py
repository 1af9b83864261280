"""Install each extra into an empty environment and import what it brings: `python scripts/extras.py [EXTRA ...]`.

Without names: the package without extras ("base"), then every extra except `dev`. One line each: seconds, size,
modules.
`--demo` also runs `lookalike demo` there. `--resolve 3.14` installs nothing, and asks whether pip finds a wheel of
every package for that Python. Each environment is deleted before the next one is made.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
OPTIONAL = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
BASE, DEV = "base", "dev"
EXTRAS = (BASE, *(name for name in OPTIONAL if name != DEV))
DEMO_PHOTOS = 300
IMPORT = """
import importlib, re, sys
from importlib.metadata import packages_distributions
names = lambda text: re.sub(r"[-_.]+", "-", text).lower()
wanted = set(sys.argv[1:])
found = {m for m, homes in packages_distributions().items() if wanted & set(map(names, homes)) and m.isidentifier()}
for module in sorted(m for m in found if not m.startswith("_")):
    importlib.import_module(module)
    print(module)
"""


class ExtraError(Exception):
    """A step that failed, and the last line of what it printed."""


@dataclass(frozen=True)
class Installed:
    """One environment: how long the installation took, its size in bytes, and the modules that were imported."""

    seconds: float
    size: int
    modules: tuple[str, ...]


def distributions(extra: str) -> set[str]:
    """The normalized names of the packages that an extra asks for, also those of the extras within it."""
    names = {"lookalike"}
    for one in OPTIONAL.get(extra, ()):
        name, inner = re.fullmatch(r"([\w.-]+)(?:\[([\w,]+)\])?.*", one).groups()
        names |= set().union(*map(distributions, inner.split(","))) if name == "lookalike" else {normal(name)}
    return names


def normal(name: str) -> str:
    """The name of a package as the registry compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def run(*words: object, at: Path) -> str:
    """What a program printed. Raises ExtraError with the last line of its complaint."""
    done = subprocess.run([str(word) for word in words], cwd=at, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        errors = [line for line in lines if line.startswith("ERROR")]
        raise ExtraError((errors or lines or ["it printed nothing"])[-1 if not errors else 0])
    return done.stdout


def wheel(folder: Path) -> Path:
    """The wheel of this tree."""
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT, at=folder)
    (made,) = folder.glob("lookalike-*.whl")
    return made


def wanted(made: Path, extra: str) -> str:
    """The arguments of pip."""
    return str(made) if extra == BASE else f"{made}[{extra}]"


def install(made: Path, extra: str, python: str, constraints: Iterable[str], at: Path) -> Installed:
    """An empty environment with one extra. Raises ExtraError if a step fails."""
    run(python, "-m", "venv", at / "venv", at=at)
    own = at / "venv/bin/python"
    begun = time.perf_counter()
    run(own, "-m", "pip", "install", "--quiet", *constraints, wanted(made, extra), at=at)
    seconds = time.perf_counter() - begun
    run(own, "-m", "pip", "check", at=at)
    modules = run(own, "-c", IMPORT, *sorted(distributions(extra)), at=at).split()
    size = sum(path.stat().st_size for path in (at / "venv").rglob("*") if path.is_file())
    return Installed(seconds, size, tuple(modules))


def resolve(made: Path, extra: str, version: str, constraints: Iterable[str], at: Path) -> str:
    """How many packages pip would install for a version of Python. Raises ExtraError if one has no wheel for it."""
    options = ("--dry-run", "--ignore-installed", "--only-binary=:all:", "--target", at / "none")
    pip = (sys.executable, "-m", "pip", "install", *options, *constraints, "--python-version", version)
    would = next(
        line
        for line in run(*pip, wanted(made, extra), at=at).splitlines()
        if line.startswith("Would install")
    )
    return f"{len(would.split()) - 2} packages have wheels"


def demo(at: Path) -> str:
    """Run the demo in the environment. Returns how long it took."""
    begun = time.perf_counter()
    run(at / "venv/bin/lookalike", "demo", "--photos", DEMO_PHOTOS, "--workspace", "demo", at=at)
    return f"; demo with {DEMO_PHOTOS} photos {time.perf_counter() - begun:.0f} s"


def line(extra: str, made: Path, given: argparse.Namespace) -> str:
    """What is printed about an extra. Raises ExtraError if a step fails."""
    at = Path(tempfile.mkdtemp(prefix=f"extra-{extra}-", dir=given.folder))
    try:
        constraints = () if given.newest else ("--constraint", str(ROOT / "constraints.txt"))
        if given.resolve:
            return resolve(made, extra, given.resolve, constraints, at)
        found = install(made, extra, given.python, constraints, at)
        shown = f"{found.seconds:.0f} s, {found.size / 1e6:,.0f} MB, imports {', '.join(found.modules)}"
        return shown + (demo(at) if given.demo else "")
    finally:
        shutil.rmtree(at)


def main(arguments: list[str]) -> int:
    """Print one line per extra. The status is 1 if one failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("extra", nargs="*", help=f"of: {', '.join(EXTRAS)}, {DEV}")
    parser.add_argument("--python", default=sys.executable, help="the Python of the environments")
    parser.add_argument("--newest", action="store_true", help="without constraints.txt: the newest versions")
    parser.add_argument("--demo", action="store_true", help="also run `lookalike demo` in each environment")
    parser.add_argument(
        "--resolve", metavar="VERSION", help="only ask whether pip finds wheels for this Python"
    )
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="where the environments are made")
    given = parser.parse_args(arguments)
    if unknown := set(given.extra) - {*EXTRAS, DEV}:
        parser.error(f"unknown extra: {', '.join(sorted(unknown))}")
    failed = 0
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        made = wheel(Path(folder))
        for extra in given.extra or EXTRAS:
            try:
                print(f"{extra}: {line(extra, made, given)}", flush=True)
            except ExtraError as error:
                failed += 1
                print(f"{extra}: FAILED: {error}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
