"""The `lookalike` lines of the documentation run as written, page by page; the lists say which do not, and why."""

import io
import os
import re
import shlex
import shutil
from pathlib import Path

import polars
import pytest
from model_server import ModelServer, serving
from object_store import object_store, upload
from reader_folders import NETWORK, make_folders
from test_code_blocks import ROOT, blocks

from lookalike.cli import console
from lookalike.cli.app import run
from lookalike.cli.label import serve, users

ASKED = "--endpoint {judge} --pixels 64 --labelled 8 --examples 1"
# What stands for the reader's own things, and numbers that are too large for a test.
WORDS = {
    "lookalike serve": "lookalike serve --port 0",
    "init ~/photos": "init ~/photos --overwrite",
    "init ../demo/photos": "init ../demo/photos --overwrite",
    "--top 5 --queries 200": "--top 5 --queries 40 --overwrite",
    "chair/17/2.jpg": "chair/chair-000051/1.png",
    "chairs/0001": "chair/chair-000051",
    "timm:resnet50?weights": NETWORK,
    "timm:resnet50.a1_in1k?": f"{NETWORK}=models/mine.safetensors&",
    "size=227": "size=48",
    "pad_type=same": "pad_type=same&size=48",
    "embed dino": "embed dino --name the-real-dino",
    "embed 'timm:test_resnet?size=32&weights=s3": "embed --name stored 'timm:test_resnet?size=32&weights=s3",
    "checkpoint:s3": "--name stored-head checkpoint:s3",
    "init s3://bucket/photos": "init s3://bucket/photos --workspace stored",
    "s3://bucket": "{store}",
    "--endpoint http://localhost:8000/v1 --model NAME": f"{ASKED} --model NAME --name first --limit 6 --yes",
    "--endpoint URL --model NAME --limit 0": f"{ASKED} --model NAME --limit 0",
    "--endpoint URL --model NAME --name all": f"{ASKED} --model NAME --name all --limit 8",
    "--endpoint URL": ASKED,
    "judge:NAME": "judge:all",
    "http://milvus.example.com:19530": "http://127.0.0.1:9",
    "/other-disk": "other-disk",
    "/shared/plans": "plans",
    "near --workspace shop": "near --workspace together",
    "map ENCODER": "map color",
    "FOLDER --photos 2000": "FOLDER --photos 200",
    "--workspace FOLDER": "--workspace .",
    "--trials 20": "--trials 2 --epochs 2",
    "--trials 40 --loss trpl --epochs 50": "--trials 2 --loss trpl --epochs 2",
    "--trials 10": "--trials 2 --epochs 1",
    "--head adaptation": "--head adaptation --epochs 2 --resamples 2",
    "--head diagonal": "--head diagonal --epochs 2 --resamples 2",
    "--blocks 2": "--blocks 2 --epochs 1",
    "--rank 8": "--rank 8 --epochs 1",
    "--part network": "--part network --epochs 1",
    "--studios 6 --pools 900": "--studios 1 --pools 2 --images 200",
    "--studios 6 --pools 240": "--studios 1 --pools 2 --images 200",
}
RUN_ELSEWHERE = {
    "work /shared/plans/color --ray 10.0.0.5:6379 --cpus 4": "commands/shards/test_commands_shards_on_ray.py",
    "map ENCODER --method umap": "rank/test_plane.py",
    "finetune dino --name alone --part network --loss simclr": "commands/learn/test_commands_finetune_networks.py",
}
RUN_ELSEWHERE = {f"lookalike {line}": f"tests/{test}" for line, test in RUN_ELSEWHERE.items()}
# Lines that end with status 1 in a test: why, and words of the message.
ENDS = {
    ("no connection to fetch the weights", "are not on this machine and cannot be fetched"): (
        "lookalike embed timm:vit_base_patch14_dinov2.lvd142m",
        "lookalike embed torchvision:resnet50/IMAGENET1K_V2",
        "lookalike embed dino",
        "lookalike embed adapt-resnet50",
        "lookalike embed open_clip:ViT-B-32/laion2b_s34b_b79k",
        "lookalike embed hf:facebook/dinov2-base",
        "lookalike embed hub:facebookresearch/barlowtwins:main/resnet50",
    ),
    ("no server at the address", "does not answer"): (
        "lookalike index dino --engine milvus --address http://milvus.example.com:19530",
    ),
    ("hog is not better than color on these labels", "hog does not pass the gate"): (
        "lookalike promote hog --dry-run",
        "lookalike promote hog",
        "lookalike evaluate hog --gate",
    ),
    ("so nothing was promoted", "there is nothing to return to"): ("lookalike promote --rollback",),
    ("the page restores into PostgreSQL", "holds a workspace already"): ("lookalike restore team.backup",),
    ("only a part of the pairs is labelled", "so the true HR@10 is not known"): (
        "lookalike bias --workspace FOLDER --pools 500",
    ),
    ("needs vectors of large networks", "Unknown encoder 'dino2'"): (
        "lookalike reproduce vsd-table-2 --train --encoders dino2 --epochs 10",
        "lookalike reproduce vsd-table-4 --train --encoders dino2",
    ),
    ("needs vectors of the networks of EDS", "Unknown encoder 'argus'"): (
        "lookalike reproduce eds-table-2 --train --encoders argus",
        "lookalike discover --generators argus,dino,beit,clip,argus-id,argus-id+c --top 6",
        "lookalike reproduce eds-table-5 --train --encoders argus,dino,beit",
    ),
}


def lines() -> list[tuple[str, str]]:
    """The page and the text of each command line, in the order of the pages."""
    found = [
        (block.page, re.search(r"(?:^|torchrun .* -m )(lookalike .*)", line.split(" #")[0].strip()))
        for block in blocks()
        for line in block.code.splitlines()
    ]
    return [(page, line[1]) for page, line in found if line]


@pytest.fixture(scope="session")
def reader(studio_demo, made_once) -> Path:
    """A reader's folders: a workspace `shop` with the files that the pages name, and a home."""
    return made_once("reader", lambda top: make_folders(studio_demo / "d", top))


@pytest.fixture(scope="module")
def judge():
    """The address of a model that finds all pairs similar."""
    with serving(ModelServer(lambda _a, _b: 0.9)) as server:
        yield server.address


@pytest.fixture(scope="module")
def store(reader):
    """The address of a bucket with models and photos."""
    with pytest.MonkeyPatch.context() as patch, object_store(patch) as bucket:
        for folder in ("models", "photos/bed"):
            upload(reader / "shop" / folder, f"{bucket}/{folder}")
        yield bucket


@pytest.fixture
def printed(reader, tmp_path, monkeypatch) -> io.StringIO:
    """What commands print in a copy of the reader's folders, without a connection."""
    shutil.copytree(reader, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("TORCH_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("LOOKALIKE_TRUSTED_HUB", "facebookresearch/barlowtwins:main")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(users, "_password", lambda stdin: "a long password")  # a person types it
    monkeypatch.setattr(
        serve, "_run", lambda _app, listening, _https: listening.close()
    )  # it would run for ever
    text = io.StringIO()
    monkeypatch.setattr(console.out, "file", text, raising=False)
    monkeypatch.setattr(console.err, "file", text, raising=False)
    return text


def label_pairs(path: str) -> None:
    """What a person does before a file is imported: fill in all labels."""
    table = polars.read_csv(path)
    similar = table["query"].str.head(3) == table["candidate"].str.head(3)
    table.with_columns(label=similar.cast(int)).write_csv(path)


def in_a_test(line: str) -> tuple[str, set[str]]:
    """The line with its words replaced, and which were."""
    given, found = line.partition(" > ")[0], set()
    for word, meant in WORDS.items():
        if word in given:
            given = given.replace(word, meant)
            found.add(word)
    return given, found


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted({page for page, _ in lines()}))
def test_the_lines_of_a_page_run(page, printed, request):
    ends = {line: words for (_, words), listed in ENDS.items() for line in listed}
    for line in (line for where, line in lines() if where == page and line not in RUN_ELSEWHERE):
        given, _ = in_a_test(line)
        for name in re.findall(r"{(\w+)}", given):
            given = given.replace(f"{{{name}}}", request.getfixturevalue(name))
        words = [os.path.expanduser(word) for word in shlex.split(given)[1:]]
        if words[:2] == ["labels", "import"]:
            label_pairs(words[2])
        start = len(printed.getvalue())
        status = run(words)
        message = " ".join(printed.getvalue()[start:].split())
        assert status == (1 if line in ends else 0), f"{line}: {message}"
        assert ends.get(line, "") in message, line


def test_the_lists_name_lines_that_exist():
    written = {line for _, line in lines()}
    ends = [line for listed in ENDS.values() for line in listed]
    assert {*RUN_ELSEWHERE, *ends} <= written
    assert len({*RUN_ELSEWHERE, *ends}) == len(RUN_ELSEWHERE) + len(ends)
    assert set().union(*(in_a_test(line)[1] for line in written - set(RUN_ELSEWHERE))) == set(WORDS)
    assert all((ROOT / test).is_file() for test in RUN_ELSEWHERE.values())
