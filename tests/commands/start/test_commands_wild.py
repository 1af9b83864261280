"""EDS 5.2: photos taken in the wild ask for items of the shop's own photos, from the table to the report."""

import csv
import shutil

import numpy as np
import pytest
from PIL import Image

from lookalike.store.workspace import Workspace


@pytest.fixture
def wild(lookalike, photos, tmp_path):
    """The shop's 36 photos as gallery, and 9 photos of customers: darker, turned, on another ground."""
    shutil.copytree(photos, tmp_path / "shop")
    rows = ["image,item,category,role,domain"]
    for path in sorted((tmp_path / "shop").rglob("*.png")):
        image, kind = path.relative_to(tmp_path).as_posix(), path.parent.parent.name
        rows.append(f"{image},{path.parent.name}-{kind},{kind},gallery,shop")
    random = np.random.default_rng(0)
    (tmp_path / "wild").mkdir()
    for number, path in enumerate(sorted((tmp_path / "shop").rglob("1.png"))[::2]):
        photo = Image.open(path).convert("RGB").rotate(12, fillcolor=(60, 50, 40))
        noisy = np.clip(np.asarray(photo) * 0.7 + random.normal(0, 8, (64, 96, 3)), 0, 255).astype(np.uint8)
        Image.fromarray(noisy).save(tmp_path / f"wild/{number}.png")
        rows.append(f"wild/{number}.png,wild-{number},{path.parent.parent.name},query,wild")
    (tmp_path / "catalog.csv").write_text("\n".join(rows) + "\n")
    assert lookalike("init", "catalog.csv", "--json").json["images"] == 45
    assert lookalike("embed", "descriptor:color", "descriptor:hog").status == 0
    return tmp_path


def test_wild_queries_through_every_command(lookalike, wild):
    done = lookalike(
        "discover", "--where", "domain=wild", "--where", "role=query", "--top", 3,
        "--random", 100, "--pairs", "pairs.csv", "--json",
    ).json  # fmt: skip
    assert (done["queries"], done["most"]) == (9, 2 * 9 * 3)
    assert done["positive_rate"]["all_pairs"] == 9 * 18  # no item of the gallery is a wild query's own
    assert done["saving_pairs"] == pytest.approx(9 * 36 / done["pairs"])
    with (wild / "pairs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(row["query"].startswith("wild/") and not row["item"].startswith("wild") for row in rows)
    kind = dict(zip(*(getattr(Workspace(wild).catalog, name) for name in ("image", "category")), strict=True))
    for row in rows:
        row["label"] = str(int(kind[row["query"]] == kind[row["candidate"]]))
    with (wild / "pairs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert lookalike("labels", "import", "pairs.csv", "--json").json["unusable"] == []
    measured = lookalike("evaluate", "--measures", "DCS,HR@3,coverage@3,AUC_mic", "--json").json["scores"]
    for scores in measured.values():
        assert all(score["queries"] == 9 for score in scores.values())
        assert scores["coverage@3"]["value"] == 1.0
    outcome = lookalike("discover", "--json").json
    assert outcome["positive_rate"]["low"] <= 1 / 3 <= outcome["positive_rate"]["high"]
    found = lookalike("search", "wild/0.png", "--encoder", "hog", "-k", 18, "--json").json["results"]
    assert len({result["item"] for result in found}) == 18
    assert not any(result["item"].startswith("wild") for result in found)
    assert any(result["label"] is not None for result in found)
    assert lookalike("report").status == 0
    assert "wild/0.png" in (wild / "reports/report.html").read_text()


def test_a_later_generator_keeps_the_wild_queries(lookalike, wild):
    lookalike("discover", "--generators", "color", "--where", "domain=wild", "--top", 3)
    more = lookalike("discover", "--generators", "hog", "--json").json
    assert (more["queries"], more["extra"]["generators"]) == (9, ["hog"])


def test_photos_of_the_shop_are_no_queries_there(lookalike, wild):
    result = lookalike("discover", "--where", "domain=shop")
    assert result.status == 1
    assert "36 images" in result.err
    assert "domain='shop'" in result.err
    assert "'wild' (9)" in result.err
