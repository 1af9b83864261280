"""Packages without a named licence, and proprietary ones, are listed with what is known about them."""

import subprocess
import sys
from importlib.metadata import distributions
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    spec = spec_from_file_location("licence_notes", ROOT / "scripts/licence_notes.py")
    module = sys.modules["licence_notes"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["licence_notes"]


@pytest.fixture
def packages(tmp_path):
    """Installed packages: each with lines of metadata, and further files by name."""

    def install(name: str, *lines: str, **files: str) -> None:
        about = tmp_path / f"{name.replace('-', '_')}-1.0.dist-info"
        (about / "licenses").mkdir(parents=True)
        text = [f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0", *lines]
        (about / "METADATA").write_text("\n".join(text) + "\n", encoding="utf-8")
        record = [f"{about.name}/METADATA,,"]
        for file, content in files.items():
            path = tmp_path / f"{name}.py" if file == "code" else about / "licenses" / file
            path.write_text(content, encoding="utf-8")
            record.append(f"{path.relative_to(tmp_path)},,")
        (about / "RECORD").write_text("\n".join(record) + "\n")

    install("free", "License-Expression: MIT", code="")
    install("classed", "Classifier: License :: OSI Approved :: BSD License", code="")
    install("vendor-lib", "License: NVIDIA Proprietary Software", code="")
    install("has-file", LICENSE="MIT License\n\nCopyright", code="")
    install("only-names", "Requires-Dist: vendor_lib>=1", "License: UNKNOWN")
    install("silent", code="")
    install("asks", "License: MIT", "Requires-Dist: Has.File", "Requires-Dist: silent; extra == 'x'")
    return list(distributions(path=[str(tmp_path)]))


def test_only_unnamed_and_proprietary_licences_are_listed_each_with_its_note(script, packages):
    found = {one.name: one for one in script.notes(packages)}
    assert list(found) == ["has-file", "only-names", "silent", "vendor-lib"]
    assert {name: one.licence for name, one in found.items()} == {
        "has-file": "",
        "only-names": "",
        "silent": "",
        "vendor-lib": "NVIDIA Proprietary Software",
    }
    assert 'LICENSE (begins "MIT License")' in found["has-file"].what
    assert "only asks for other packages" in found["only-names"].what
    assert "no licence file" in found["silent"].what
    assert found["vendor-lib"].what.startswith("Proprietary")
    assert [one.asked_by for one in found.values()] == [("asks",), (), ("asks",), ("only-names",)]


def test_the_table_has_a_row_per_note_and_names_no_licence_that_the_metadata_does_not_name(script, packages):
    rows = script.table(script.notes(packages)).splitlines()[2:]
    assert [row.split(" | ")[2] for row in rows] == ["none", "none", "none", "NVIDIA Proprietary Software"]


def test_the_script_runs_in_this_environment():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/licence_notes.py"], capture_output=True, text=True, check=True
    )
    assert "## Licences to look at" in done.stdout
    assert "| package | version |" in done.stdout
