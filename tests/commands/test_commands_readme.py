"""The README does what it says: its commands run as written, and so does its Python."""

import re
import shlex
import shutil
from pathlib import Path

from lookalike.store.workspace import Workspace

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def commands(heading: str) -> list[str]:
    """The indented `lookalike` lines under a heading."""
    part = README.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [line.split("#")[0].strip() for line in part.splitlines() if line.startswith("    lookalike ")]


def labelled_pairs(folder: Path) -> str:
    """A label for every pair of the pool."""
    pool = Workspace(folder).pool()
    pairs = zip(pool.query, pool.candidate, strict=True)
    return "query,candidate,label\n" + "".join(f"{q},{c},{int(q[:3] == c[:3])}\n" for q, c in pairs)


def test_the_commands_for_ones_own_photos(lookalike, photos, tmp_path):
    photo = photos / "bowl/000/1.png"
    shutil.copy(photo, tmp_path / "new.jpg")
    written = commands("On your own photos")
    assert len(written) == 13
    for line in written:
        if "labels import" in line:
            (tmp_path / "labels.csv").write_text(labelled_pairs(tmp_path))
        if "precomputed" in line:
            import numpy as np

            np.save(tmp_path / "vectors.npy", np.random.default_rng(0).standard_normal((36, 8)))
        given = line.replace("~/photos", str(photos)).replace("~/some/photo.jpg", "new.jpg")
        said = lookalike(*shlex.split(given)[1:])
        assert said.status == 0, (line, said.err)
        assert "Error" not in said.err


def test_the_python_example(lookalike, photos, tmp_path, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    shutil.copytree(photos, tmp_path / "photos")
    assert lookalike("init", "photos").status == 0
    assert lookalike("embed", "descriptor:color", "descriptor:hog").status == 0
    assert lookalike("discover", "--top", 3).status == 0
    (tmp_path / "labels.csv").write_text(labelled_pairs(tmp_path))
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "pairs to label" in printed
    assert "hog AUC_mac" in printed
    assert len([line for line in printed.splitlines() if re.search(r"/\d{3} [\d.]+ (None|0|1)$", line)]) == 5


def test_every_file_the_readme_points_to_is_there():
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (Path(__file__).parents[2] / target).exists(), target
