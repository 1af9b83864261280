"""The folders of a reader of the documentation: a workspace, and the files that the pages name."""

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.cli.app import run
from lookalike.store.workspace import Workspace

NETWORK = "timm:test_resnet?size=32&weights"


def pair_lines(labels, head: str) -> str:
    """The labelled pairs as a table."""
    pairs = zip(labels.query, labels.candidate, labels.label, strict=True)
    return head + "\n" + "".join(f"{q},{c},{value}\n" for q, c, value in pairs)


def make_folders(workspace: Path, top: Path) -> None:
    """A copy of the workspace as `shop`, in which `dino` is a small network, and a home beside it."""
    shop = shutil.copytree(workspace, top / "shop")
    for folder in (top / "demo", top / "home"):
        folder.mkdir()
        (folder / "photos").symlink_to("../shop/photos")
    (top / "new-name").symlink_to("shop/photos")
    for kind in (shop / "photos").iterdir():
        (shop / kind.name).symlink_to(f"photos/{kind.name}")
    opened = Workspace(shop)
    ids = [str(image) for image in opened.catalog.image]
    for place in (
        "shop/photo.jpg",
        "shop/more-photos/chair/1.png",
        "shop/wild/0001.jpg",
        "home/some/photo.jpg",
    ):
        (top / place).parent.mkdir(parents=True, exist_ok=True)
        Image.open(shop / ids[5]).resize((90 + len(place), 100)).save(top / place)
    rows = [f"{one},{one.split('/')[1]},{one.split('/')[0]},both,shop" for one in ids]
    rows = ["image,item,category,role,domain", *rows, "wild/0001.jpg,wild-1,chair,query,wild"]
    (shop / "catalog.csv").write_text("\n".join(rows))
    (shop / "ids.txt").write_text("\n".join([*ids, "wild/0001.jpg"]))
    np.save(shop / "vectors.npy", np.random.default_rng(0).standard_normal((len(ids) + 1, 8)))
    (shop / "queries.txt").write_text("\n".join(ids[:20]))
    labels = opened.labels()
    (shop / "labels.csv").write_text(pair_lines(labels, "query,candidate,label"))
    (shop / "scores.csv").write_text(pair_lines(labels, "query,candidate,score"))
    (shop / "given.csv").write_text(pair_lines(labels, "image_a,image_b,known"))
    opened.database.close()
    (shop / "other-disk").mkdir()
    shutil.copytree(shop / "models/color-finetuned", shop / "models/run-7")
    make_models(shop)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(shop)
        assert run(["embed", f"{NETWORK}=models/mine.safetensors", "--name", "dino"]) == 0
        assert run(["evaluate", "hog", "lbp", "--replicates", "0", "--output-runs", "ranked"]) == 0
    (shop / "other.run.gz").write_bytes(gzip.compress((shop / "ranked/hog.run").read_bytes()))
    shutil.copy(shop / "ranked/lbp.run", shop / "third.run")


def make_models(folder: Path) -> None:
    """Networks with random weights."""
    import onnx.parser
    import timm
    import torch
    import torchvision
    from safetensors.torch import save_file

    torch.manual_seed(1)
    save_file(timm.create_model("test_resnet").state_dict(), folder / "models/mine.safetensors")
    save_file(timm.create_model("mobilenetv2_100").state_dict(), folder / "v2.safetensors")
    torch.save(torchvision.models.squeezenet1_0().state_dict(), folder / "squeezenet.pth")
    network = "(float[N,3,32,32] x) => (float[N,3] y) { p = GlobalAveragePool(x) y = Flatten(p) }"
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> g {network}')
    onnx.save(model, folder / "model.onnx")
