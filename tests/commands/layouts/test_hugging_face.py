"""Data sets as `save_to_disk` of the package datasets (5.2) and the Hub write them: Arrow streams and Parquet."""

import io
import json
import sys

import polars
import pytest
from PIL import Image
from tiny_photos import photo

from lookalike.catalog.read import catalog_from
from lookalike.core.errors import CatalogError
from lookalike.store.workspace import Workspace

FEATURES = {
    "image": {"_type": "Image"},
    "labels": {"names": ["bowl", "rod"], "_type": "ClassLabel"},
    "item_id": {"dtype": "string", "_type": "Value"},
    "price": {"dtype": "float32", "_type": "Value"},
    "tags": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "List"},
}
STATE = {
    "_data_files": [{"filename": "data-00000-of-00001.arrow"}],
    "_fingerprint": "31a66c274743bb48",
    "_format_columns": None,
    "_format_kwargs": {},
    "_format_type": None,
    "_output_all_columns": False,
    "_split": None,
}
SPLITS = {"train": range(6), "validation": range(6, 8), "test": range(8, 12)}


def content(folder, seed, suffix="png"):
    return photo(folder / f"made/{seed}.{suffix}", seed=seed).read_bytes()


def table(folder, seeds):
    kind = polars.Struct({"bytes": polars.Binary, "path": polars.String})
    photos = [{"bytes": content(folder, seed, ("png", "jpg")[seed % 2]), "path": None} for seed in seeds]
    return polars.DataFrame(
        {
            "image": polars.Series(photos, dtype=kind),
            "labels": [seed % 2 for seed in seeds],
            "item_id": [f"{seed // 2:03d}" for seed in seeds],
            "price": polars.Series([1.5 for _ in seeds], dtype=polars.Float32),
            "tags": [["x"] for _ in seeds],
        }
    )


def saved(folder, place, splits=SPLITS):
    """What `save_to_disk` writes; for one split alone there are no folders of splits."""
    for split, seeds in splits.items():
        part = place / split if len(splits) > 1 else place
        part.mkdir(parents=True)
        table(folder, seeds).write_ipc_stream(part / "data-00000-of-00001.arrow")
        info = {"citation": "", "description": "", "features": FEATURES, "homepage": "", "license": ""}
        (part / "dataset_info.json").write_text(json.dumps(info, indent=2))
        (part / "state.json").write_text(json.dumps(STATE, indent=2))
    if len(splits) > 1:
        (place / "dataset_dict.json").write_text(json.dumps({"splits": list(splits)}))


def parquet(folder, place, splits=SPLITS, config="default"):
    """What the Hub makes of a data set: one folder per configuration and split."""
    for split, seeds in splits.items():
        (place / config / split).mkdir(parents=True)
        about = json.dumps({"info": {"features": FEATURES}})
        table(folder, seeds).write_parquet(
            place / config / split / "0000.parquet", metadata={"huggingface": about}
        )


@pytest.mark.parametrize("write", [saved, parquet])
def test_a_local_data_set(lookalike, tmp_path, write):
    write(tmp_path, tmp_path / "shop")
    said = lookalike("init", "hf-datasets:shop", "--json")
    assert said.status == 0, said.err
    assert any("'tags'" in note for note in said.json["notes"])
    catalog = Workspace(tmp_path).catalog
    by_item = dict(zip(catalog.item, catalog.split, strict=True))
    assert by_item == {f"{n:03d}": "train" if n < 3 else "validation" if n < 4 else "test" for n in range(6)}
    first = catalog.row["train/0000000.png"]
    assert (catalog.category[first], catalog.columns["price"][first]) == ("bowl", "1.5")
    assert catalog.category[catalog.row["train/0000001.jpg"]] == "rod"
    with Image.open(tmp_path / "shop-photos/train/0000000.png") as kept:
        assert kept.tobytes() == Image.open(io.BytesIO(content(tmp_path, 0))).tobytes()
    assert lookalike("catalog", "refresh", "--json").json["kept"] == 12


def test_one_split_is_none_and_splits_are_drawn(tmp_path):
    saved(tmp_path, tmp_path / "shop", {"train": range(12)})
    catalog = catalog_from(f"hf-datasets:{tmp_path / 'shop'}", images=tmp_path / "out").catalog
    assert {"train", "test"} <= set(catalog.split)
    assert (tmp_path / "out/train/0000011.jpg").is_file()


def test_from_the_hub_comes_parquet_and_no_code(tmp_path, monkeypatch):
    import huggingface_hub

    monkeypatch.chdir(tmp_path)
    asked = []

    def given(name, **options):
        asked.append((name, options["revision"], options["allow_patterns"]))
        if options["revision"] != "main":
            raise OSError("no such revision")
        parquet(tmp_path, tmp_path / "cache", config="small")
        parquet(tmp_path, tmp_path / "cache", config="large")
        return str(tmp_path / "cache")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", given)
    assert len(catalog_from("hf-datasets:someone/shop/small").catalog) == 12
    assert [one[1:] for one in asked] == [
        ("refs/convert/parquet", ["small/*.parquet"]),
        ("main", ["small/*.parquet"]),
    ]
    with pytest.raises(CatalogError, match="several configurations: 'large' and 'small'"):
        catalog_from(f"hf-datasets:{tmp_path / 'cache'}")


def test_without_network_or_package_the_error_says_what_to_do(tmp_path, monkeypatch):
    import huggingface_hub

    def refused(name, **options):
        raise ConnectionError("no route to the host\n(more)")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", refused)
    with pytest.raises(
        CatalogError, match=r"download from Hugging Face failed: no route to the host\nGet"
    ) as absent:
        catalog_from("hf-datasets:someone/shop")
    assert "Put it into 'someone/shop'" in absent.value.fix
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(CatalogError, match="need the package huggingface_hub"):
        catalog_from("hf-datasets:someone/shop")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_data_set_says_how_to_save_one(tmp_path):
    with pytest.raises(CatalogError, match=r"no state\.json and no \.parquet") as absent:
        catalog_from(f"hf-datasets:{tmp_path}")
    assert "save_to_disk" in absent.value.fix
    polars.DataFrame({"text": ["a"]}).write_parquet(tmp_path / "train-00000-of-00001.parquet")
    with pytest.raises(CatalogError, match="has no column of images; it has 'text'"):
        catalog_from(f"hf-datasets:{tmp_path}")
