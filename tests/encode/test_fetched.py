"""Encoders whose files have addresses: one copy per content, the errors of a store and of a disk, and every source."""

import resource
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import timm
import torch
import transformers
from object_store import SECRET, object_store
from onnx import TensorProto, helper
from PIL import Image
from safetensors.torch import save_file

from lookalike.core import object_store as stores
from lookalike.core.errors import EncoderError, StorageError
from lookalike.core.object_store import ObjectStore
from lookalike.core.progress import showing
from lookalike.encode.encoder import encode_photo
from lookalike.encode.fetched import MOST_FILES, fetched_file, fetched_folder
from lookalike.encode.heads.two_layers import ProjectionHead
from lookalike.encode.open import open_encoder
from lookalike.encode.sources import checkpoint
from lookalike.encode.sources.precomputed import file_of
from lookalike.encode.spec import is_folder, located, parse, without_folders

CONTENT = bytes(range(256)) * 40
PHOTO = Image.fromarray(np.random.default_rng(0).integers(0, 255, (90, 120, 3), dtype=np.uint8))


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path) -> Path:
    """The folder of copies, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def bucket(monkeypatch):
    with object_store(monkeypatch) as address:
        yield address


def put(address: str, content: bytes = CONTENT) -> None:
    import s3fs

    s3fs.S3FileSystem().pipe_file(address, content)


def upload(folder: Path, address: str) -> None:
    for file in folder.iterdir():
        put(f"{address}/{file.name}", file.read_bytes())


def counted(monkeypatch, method: str) -> list[tuple]:
    """The calls of a method of all stores, which works as before."""
    calls, real = [], getattr(ObjectStore, method)

    def call(store, *given):
        calls.append(given)
        return real(store, *given)

    monkeypatch.setattr(ObjectStore, method, call)
    return calls


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_file_is_copied_once(bucket, cache, monkeypatch):
    put(f"{bucket}/models/a.bin")
    reads = counted(monkeypatch, "read")
    found = fetched_file(f"{bucket}/models/a.bin", "it")
    assert (found.name, found.read_bytes()) == ("a.bin", CONTENT)
    assert found.is_relative_to(cache / "lookalike/models")
    assert found.parent.stat().st_mode & 0o077 == 0
    assert fetched_file(f"{bucket}/models/a.bin", "it") == found
    assert (len(reads), files_in(cache)) == (1, ["a.bin"])


def test_another_content_of_the_same_size_is_copied_again(bucket):
    put(f"{bucket}/a.bin")
    first = fetched_file(f"{bucket}/a.bin", "it")
    put(f"{bucket}/a.bin", CONTENT[::-1])
    second = fetched_file(f"{bucket}/a.bin", "it")
    assert second.read_bytes() == CONTENT[::-1]
    assert first.read_bytes() == CONTENT


def test_a_large_file_is_read_in_pieces_and_shows_its_progress(bucket, monkeypatch):
    monkeypatch.setattr(stores, "PIECE", 1_000)
    monkeypatch.setattr("lookalike.encode.fetched.MEGABYTE", 1_000)
    put(f"{bucket}/a.bin")
    reads, steps = counted(monkeypatch, "read"), []

    class Shown:
        def __init__(self, step: str) -> None:
            steps.append(step)

        def __enter__(self):
            return lambda done, total: steps.append((done, total))

        def __exit__(self, *_):
            steps.append("end")

    with showing(Shown):
        assert fetched_file(f"{bucket}/a.bin", "it").read_bytes() == CONTENT
    assert len(reads) == 11
    assert steps == ["Copying a.bin (MB)", *((done, 10) for done in range(1, 11)), (10, 10), "end"]


def test_half_of_a_file_is_asked_for_again_then_refused(bucket, cache, monkeypatch):
    put(f"{bucket}/a.bin")
    import s3fs

    real, answers = s3fs.S3FileSystem._cat_file, []

    async def cut_short(files, *given, **options):
        answers.append(1)
        return (await real(files, *given, **options))[: 100 if len(answers) <= cut else None]

    monkeypatch.setattr(s3fs.S3FileSystem, "_cat_file", cut_short)
    cut = 10
    with pytest.raises(EncoderError, match=r"it: .*100 of 10,240 bytes") as refused:
        fetched_file(f"{bucket}/a.bin", "it")
    assert "run the same command again" in refused.value.fix
    assert [path.stat().st_size for path in cache.rglob("*") if path.is_file()] == [0]
    cut = len(answers) + 1
    assert fetched_file(f"{bucket}/a.bin", "it").read_bytes() == CONTENT
    assert files_in(cache) == ["a.bin"]


def test_what_a_killed_process_left_is_not_used(bucket, cache):
    put(f"{bucket}/a.bin")
    found = fetched_file(f"{bucket}/a.bin", "it")
    found.rename(found.with_name(".a.bin.part"))
    with found.with_name(".a.bin.part").open("ab") as part:
        part.write(b"more")
    assert fetched_file(f"{bucket}/a.bin", "it").read_bytes() == CONTENT
    found.write_bytes(CONTENT[:50])  # a disk lost the rest
    assert fetched_file(f"{bucket}/a.bin", "it").read_bytes() == CONTENT
    assert files_in(cache) == ["a.bin"]


def test_one_of_two_at_once_copies_and_the_other_waits(bucket, cache, monkeypatch):
    put(f"{bucket}/a.bin")
    inside, go, reads, real = threading.Event(), threading.Event(), [], ObjectStore.read

    def slow(store, *given):
        reads.append(given)
        inside.set()
        assert go.wait(60)
        return real(store, *given)

    monkeypatch.setattr(ObjectStore, "read", slow)
    found: list[bytes] = []
    both = [
        threading.Thread(target=lambda: found.append(fetched_file(f"{bucket}/a.bin", "it").read_bytes()))
        for _ in range(2)
    ]
    both[0].start()
    assert inside.wait(60)
    both[1].start()
    go.set()
    for one in both:
        one.join(60)
    assert found == [CONTENT] * 2
    assert (len(reads), files_in(cache)) == (1, ["a.bin"])


@pytest.mark.parametrize("times", [1, 5])
def test_a_file_that_changes_while_it_is_copied(bucket, cache, monkeypatch, times):
    put(f"{bucket}/a.bin")
    real, changes = ObjectStore.read, []

    def and_change(store, *given):
        found = real(store, *given)
        if len(changes) < times:
            changes.append(1)
            put(f"{bucket}/a.bin", bytes([len(changes)]) * len(CONTENT))
        return found

    monkeypatch.setattr(ObjectStore, "read", and_change)
    if times == 1:
        assert fetched_file(f"{bucket}/a.bin", "it").read_bytes() == b"\x01" * len(CONTENT)
        return
    with pytest.raises(EncoderError, match="changes while it is copied"):
        fetched_file(f"{bucket}/a.bin", "it")
    assert "a.bin" not in files_in(cache)


@pytest.mark.parametrize("name", ["none.bin", "models", "models/"])
def test_no_such_file(bucket, cache, name):
    put(f"{bucket}/models/a.bin")
    with pytest.raises(EncoderError, match=f"it: There is no file at {bucket}/{name}") as refused:
        fetched_file(f"{bucket}/{name}", "it")
    assert "Check the address" in refused.value.fix
    assert not cache.exists()


def test_a_bucket_is_no_file(bucket):
    with pytest.raises(EncoderError, match="names no file"):
        fetched_file(bucket, "it")


def test_refused_credentials_are_not_in_the_error(bucket, monkeypatch):
    import s3fs

    async def refuse(*_, **__):
        raise PermissionError(f"The key {SECRET} is not known")

    monkeypatch.setattr(s3fs.S3FileSystem, "_info", refuse)
    with pytest.raises(EncoderError) as refused:
        fetched_file(f"{bucket}/a.bin", "it")
    assert "refuses the credentials" in refused.value.problem
    assert "***" in refused.value.problem
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "spec",
    [
        "timm:resnet50?weights=s3://key:hidden@bucket/w.pth",
        "onnx:s3://key:hidden@bucket/m.onnx",
        "checkpoint:s3://key:hidden@bucket/run",
        "open_clip:local-dir:s3://key:hidden@bucket/net",
    ],
)
def test_credentials_in_an_encoder_string_are_refused_before_it_is_kept(spec):
    with pytest.raises(StorageError, match="contains credentials") as refused:
        parse(spec)
    assert "hidden" not in str(refused.value)


def test_without_the_extra_the_command_to_install_it_is_given(monkeypatch):
    monkeypatch.setattr(stores, "not_installed", lambda names: list(names)[-1:])
    with pytest.raises(EncoderError, match="s3fs, which is not installed") as refused:
        fetched_file("s3://bucket/a.bin", "it")
    assert "[storage]" in refused.value.fix


def test_a_cache_that_cannot_be_written_is_named(bucket, tmp_path, monkeypatch):
    put(f"{bucket}/a.bin")
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(EncoderError, match=f"cannot be written into {tmp_path}/file") as refused:
        fetched_file(f"{bucket}/a.bin", "it")
    assert "XDG_CACHE_HOME" in refused.value.fix


def test_a_full_disk_keeps_nothing(bucket, cache, monkeypatch):
    monkeypatch.setattr(stores, "PIECE", 4_000)
    put(f"{bucket}/a.bin")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, before[1]))
    try:
        with pytest.raises(EncoderError, match=r"it: The copy cannot be written .*: File too large"):
            fetched_file(f"{bucket}/a.bin", "it")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path for path in cache.rglob("*") if path.is_file() and path.stat().st_size > 4_000] == []
    assert fetched_file(f"{bucket}/a.bin", "it").read_bytes() == CONTENT


def test_the_folder_of_a_network_is_not_a_whole_bucket(bucket, monkeypatch):
    for number in range(MOST_FILES + 1):
        put(f"{bucket}/photos/{number}", b"x")
    reads = counted(monkeypatch, "read")
    with pytest.raises(EncoderError, match="not the folder of one network"):
        fetched_folder(f"{bucket}/photos", "it")
    with pytest.raises(EncoderError, match="There is no file at"):
        fetched_folder(f"{bucket}/nothing", "it")
    assert reads == []


def weights(path: Path, seed: int = 1) -> None:
    torch.manual_seed(seed)
    save_file(timm.create_model("test_resnet", num_classes=0).state_dict(), path)


def test_weights_by_address_are_those_of_the_file(bucket, tmp_path):
    weights(tmp_path / "w.safetensors")
    put(f"{bucket}/models/w.safetensors", (tmp_path / "w.safetensors").read_bytes())
    local = open_encoder(parse(f"timm:test_resnet?size=64&weights={tmp_path}/w.safetensors"))
    text = f"timm:test_resnet?size=64&weights={bucket}/models/w.safetensors"
    spec = located(parse(text), tmp_path)
    found = open_encoder(spec, tmp_path)
    assert str(spec) == found.origin.spec == text
    assert found.origin.weights == local.origin.weights
    assert (encode_photo(PHOTO, found) == encode_photo(PHOTO, local)).all()
    assert str(without_folders(spec)) == "timm:test_resnet?size=64&weights=w.safetensors"
    weights(tmp_path / "w.safetensors", seed=2)
    put(f"{bucket}/models/w.safetensors", (tmp_path / "w.safetensors").read_bytes())
    assert open_encoder(spec, tmp_path).origin.weights not in ("", local.origin.weights)


def test_an_onnx_file_by_address(bucket, tmp_path):
    graph = helper.make_graph(
        [helper.make_node("GlobalAveragePool", ["x"], ["m"]), helper.make_node("Flatten", ["m"], ["y"])],
        "mean",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    put(f"{bucket}/models/mean.onnx", model.SerializeToString())
    onnx.save(model, tmp_path / "mean.onnx")
    spec = located(parse(f"onnx:{bucket}/models/mean.onnx?std=1&mean=0"), tmp_path)
    found, local = open_encoder(spec, tmp_path), open_encoder(parse("onnx:mean.onnx?std=1&mean=0"), tmp_path)
    assert (spec.short_name, str(without_folders(spec))) == ("mean", "onnx:mean.onnx?mean=0&std=1")
    assert found.origin.weights == local.origin.weights
    assert (encode_photo(PHOTO, found) == encode_photo(PHOTO, local)).all()


def test_a_head_by_address(bucket, tmp_path):
    base = open_encoder(parse("descriptor:color"))
    head = ProjectionHead.seeded(base.dimension, 16, seed=2)
    (tmp_path / "run").mkdir()
    for name, content in checkpoint.head_files(base.origin, head, {}).items():
        (tmp_path / "run" / name).write_bytes(content)
    upload(tmp_path / "run", f"{bucket}/models/run")
    put(f"{bucket}/models/run/other.bin", b"not of the checkpoint")
    spec = located(parse(f"checkpoint:{bucket}/models/run"), tmp_path)
    found, local = open_encoder(spec, tmp_path), open_encoder(parse("checkpoint:run"), tmp_path)
    assert (str(spec), spec.short_name) == (f"checkpoint:{bucket}/models/run", "run")
    assert found.origin == replace(local.origin, spec=str(spec))
    assert (encode_photo(PHOTO, found) == encode_photo(PHOTO, local)).all()
    assert files_in(tmp_path / "cache") == ["checkpoint.json", "head.safetensors"]


def test_a_checkpoint_that_is_not_there(bucket):
    with pytest.raises(EncoderError, match=r"There is no file at .*/run/checkpoint\.json"):
        open_encoder(parse(f"checkpoint:{bucket}/run"))


def test_the_folder_of_a_network_by_address(bucket, tmp_path):
    config = transformers.ViTConfig(
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        image_size=32,
        patch_size=8,
    )
    torch.manual_seed(3)
    transformers.ViTModel(config).save_pretrained(tmp_path / "net")
    transformers.ViTImageProcessor(size={"height": 32, "width": 32}).save_pretrained(tmp_path / "net")
    upload(tmp_path / "net", f"{bucket}/net")
    spec = located(parse(f"hf:{bucket}/net"), tmp_path)
    found, local = open_encoder(spec, tmp_path), open_encoder(parse("hf:net"), tmp_path)
    assert (str(spec), str(without_folders(spec))) == (f"hf:{bucket}/net", "hf:net")
    assert is_folder(spec, tmp_path)
    assert found.origin == replace(local.origin, spec=str(spec))
    assert (encode_photo(PHOTO, found) == encode_photo(PHOTO, local)).all()


def test_vectors_and_their_ids_by_address(bucket, tmp_path):
    np.save(tmp_path / "v.npy", np.eye(3))
    put(f"{bucket}/v.npy", (tmp_path / "v.npy").read_bytes())
    spec = parse(f"precomputed:{bucket}/v.npy")
    assert np.array_equal(np.load(file_of(spec)), np.eye(3))
    assert not file_of(spec).with_name("ids.txt").exists()
    put(f"{bucket}/ids.txt", b"a\nb\nc\n")
    assert file_of(spec).with_name("ids.txt").read_bytes() == b"a\nb\nc\n"
