"""The encoder string: one text names one encoder.

    source:name[?key=value[&key=value...]]

    descriptor:color+hog                                   classical, needs no weights
    precomputed:vectors.npy                                vectors that you computed yourself
    timm:vit_base_patch14_dinov2.lvd142m?weights=w.safetensors&size=224
    torchvision:resnet50/IMAGENET1K_V2
    open_clip:ViT-B-32/laion2b_s34b_b79k
    hf:facebook/dinov2-base                                transformers, without code of the repository
    hub:facebookresearch/barlowtwins:main/resnet50         torch.hub, runs code of repositories that you trust
    onnx:model.onnx
    checkpoint:run-7                                       an encoder trained in this workspace
    timm:resnet50?weights=s3://bucket/w.safetensors        a file of an object store, copied once
    dino                                                   a network of the zoo by its short name

A name may hold `:` and `/`; the options begin at the last `?` and are percent-decoded.
"""

import os
import re
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qsl, quote, unquote

from lookalike.core.errors import EncoderError
from lookalike.core.object_store import is_address, refuse_credentials
from lookalike.encode.fetched import fetched_folder
from lookalike.encode.zoo.networks import named, nearest

NETWORKS = ("timm", "torchvision", "open_clip", "hf", "hub", "onnx")
SOURCES = ("descriptor", "precomputed", *NETWORKS, "checkpoint")
FILES = ("precomputed", "checkpoint", "onnx")  # sources whose name is a path
FOLDERS = MappingProxyType({"hf": "", "open_clip": "local-dir:"})  # whose name can be one, after a prefix
MODELS, ABOUT, RUN = "models", "checkpoint.json", "run.json"
WEIGHTS, HEAD = "weights.safetensors", "head.safetensors"
CHECKPOINT_FILES = (
    ABOUT,
    WEIGHTS,
    HEAD,
)  # of which a checkpoint has the first, and one or both of the others
_SAFE = re.compile(r"[^A-Za-z0-9._+@-]+")


@dataclass(frozen=True)
class EncoderSpec:
    """A parsed encoder string.

    >>> spec = parse("timm:resnet50?weights=my%20file.safetensors&mean=0.5,0.4,0.4")
    >>> spec.source, spec.name, dict(spec.options)["weights"]
    ('timm', 'resnet50', 'my file.safetensors')
    >>> str(spec) == "timm:resnet50?mean=0.5,0.4,0.4&weights=my%20file.safetensors"
    True
    """

    source: str
    name: str
    options: tuple[tuple[str, str], ...] = ()
    called: str = field(default="", compare=False)  # the short name of the zoo by which it was given

    def __str__(self) -> str:
        listed = "&".join(f"{quote(key)}={quote(value, safe=',/:+')}" for key, value in self.options)
        return f"{self.source}:{self.name}" + (f"?{listed}" if listed else "")

    @property
    def short_name(self) -> str:
        """A name for folders and tables when the user gave none.

        >>> parse("precomputed:out/my vectors.npy").short_name, parse("descriptor:color+hog").short_name
        ('my-vectors', 'color+hog')
        """
        if self.called:
            return self.called
        tagged = not self.name.startswith(("hf-hub:", "local-dir:"))
        first = self.source in ("torchvision", "open_clip") and tagged
        stem = self.name.split("/")[0 if first else -1]
        if self.source in ("precomputed", "onnx"):
            stem = stem.rsplit(".", 1)[0] or stem
        return check_name(_SAFE.sub("-", stem).strip("-.") or self.source)


def located(spec: EncoderSpec, base: Path) -> EncoderSpec:
    """The spec with paths that can be found later: relative to `base` for files inside it, else absolute.

    A path that does not exist in the current folder stays as it is, since it may be relative to `base`. A checkpoint
    is found as by `checkpoint_folder`, so `checkpoint:run-7` becomes `checkpoint:models/run-7`. Addresses stay.
    """

    def place(path: str | Path) -> str:
        if is_address(str(path)) or not Path(path).exists():
            return str(path)
        full, folder = Path(os.path.abspath(path)), Path(os.path.abspath(base))
        return (full.relative_to(folder) if full.is_relative_to(folder) else full).as_posix()

    options = tuple((key, place(value) if key == "weights" else value) for key, value in spec.options)
    name = spec.name
    if spec.source == "checkpoint" and not is_address(name):
        name = place(checkpoint_folder(name, base) or name)
    elif spec.source in FILES:
        name = place(name)
    elif prefix_and_path := _folder(spec):
        name = prefix_and_path[0] + place(prefix_and_path[1])
    return replace(spec, name=name, options=options)


def in_folder(spec: EncoderSpec, base: Path) -> EncoderSpec:
    """The spec with the path of its network's folder, if that is in `base` or has an address; others as they are."""
    prefix, path = _folder(spec) or ("", "")
    if is_address(path):
        return replace(spec, name=f"{prefix}{fetched_folder(path, str(spec))}")
    return replace(spec, name=f"{prefix}{base / path}") if is_folder(spec, base) else spec


def is_folder(spec: EncoderSpec, base: Path) -> bool:
    """Whether the network comes from a folder of your own, by address or relative to `base`, and not from a hub."""
    _, path = _folder(spec) or ("", "")
    return bool(path) and (is_address(path) or (base / path).is_dir())


def _folder(spec: EncoderSpec) -> tuple[str, str] | None:
    """The prefix and the path in a name that can be a folder: `hf:FOLDER`, `open_clip:local-dir:FOLDER`."""
    prefix = FOLDERS.get(spec.source)
    if prefix is None or not spec.name.startswith(prefix):
        return None
    return prefix, spec.name.removeprefix(prefix)


def checkpoint_folder(name: str, base: Path) -> Path | None:
    """The folder that `checkpoint:NAME` means: `base`/models/NAME, `base`/NAME, or NAME in the current folder.

    A folder with a checkpoint takes precedence over one without. None if none of them exists. Of an address, the
    folder has copies of its files.
    """
    if is_address(name):
        return fetched_folder(name, f"checkpoint:{name}", CHECKPOINT_FILES)
    there = [place for place in (base / MODELS / name, base / name, Path(name)) if place.is_dir()]
    return next((place for place in there if (place / ABOUT).is_file()), there[0] if there else None)


def without_folders(spec: EncoderSpec) -> EncoderSpec:
    """The spec with file names instead of paths, for pages and tables that must not show this machine's folders.

    >>> str(without_folders(parse("timm:resnet50?weights=/home/me/w.pth")))
    'timm:resnet50?weights=w.pth'
    >>> str(without_folders(parse("hf:/home/me/net"))), str(without_folders(parse("hf:facebook/dinov2-base")))
    ('hf:net', 'hf:facebook/dinov2-base')
    """
    options = tuple(
        (key, value.rpartition("/")[2] if key == "weights" else value) for key, value in spec.options
    )
    prefix, path = _folder(spec) or ("", spec.name)
    is_path = spec.source in FILES or Path(path).is_absolute() or is_address(path)
    name = prefix + path.rpartition("/")[2] if is_path else spec.name
    return replace(spec, name=name, options=options)


def parse(text: str) -> EncoderSpec:
    """Read an encoder string or a short name. Raises EncoderError with the nearest known names and sources.

    >>> str(parse("dino")), parse("deits8?size=448").short_name, str(parse("moco?weights=m.pth"))
    ('timm:vit_small_patch8_224.dino', 'dino', 'torchvision:resnet50?weights=m.pth')
    """
    short, _, added = text.partition("?")
    if ":" not in short and (network := named(short)) is not None:
        spec, given = parse(network.source), _options(added, text) if added else ()
        return replace(
            spec, options=tuple(sorted({**dict(spec.options), **dict(given)}.items())), called=network.name
        )
    source, colon, rest = text.partition(":")
    if not colon or not rest.strip():
        hint = f"Did you mean {', '.join(found)}? " if (found := nearest(short)) else ""
        raise EncoderError(
            f"{text!r} is neither an encoder string nor the name of a network.",
            fix=f"{hint}Write source:name, for instance descriptor:color+hog. To list the names: lookalike encoders",
        )
    if source not in SOURCES:
        near = get_close_matches(source.lower(), SOURCES, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]}:{rest}? " if near else ""
        raise EncoderError(
            f"Unknown source {source!r} in the encoder string {text!r}.",
            fix=f"{hint}Known sources: {', '.join(f'{known}:' for known in SOURCES)}.",
        )
    name, mark, query = rest.rpartition("?") if "?" in rest else (rest, "", "")
    spec = EncoderSpec(source, unquote(name) if mark else name, _options(query, text) if mark else ())
    for path in (spec.name.removeprefix(FOLDERS.get(source, "")), dict(spec.options).get("weights", "")):
        if is_address(path):
            refuse_credentials(path)
    return spec


def check_name(name: str) -> str:
    """A name that can be a folder and a table cell: letters, digits and . _ + @ - only."""
    if not name or _SAFE.search(name) or name[0] in ".-" or len(name) > 100:
        raise EncoderError(
            f"{name!r} is not a valid name.",
            fix="Use at most 100 letters, digits and . _ + @ -, starting with a letter or digit.",
        )
    return name


def _options(query: str, text: str) -> tuple[tuple[str, str], ...]:
    try:
        pairs = parse_qsl(query.replace("+", "%2B"), keep_blank_values=True, strict_parsing=True)
    except ValueError:
        raise EncoderError(
            f"The options {query!r} of {text!r} are not of the form key=value&key=value.",
            fix="Write them like this: ?weights=file.safetensors&size=224",
        ) from None
    keys = [key for key, _ in pairs]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise EncoderError(f"{text!r} gives the option {twice[0]!r} twice.", fix="Give each option once.")
    return tuple(sorted(pairs))
