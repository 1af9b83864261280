"""Image towers of the open_clip library: `open_clip:ViT-B-32/laion2b_s34b_b79k`.

`open_clip:hf-hub:OWNER/NAME` is a repository of the Hugging Face hub with an `open_clip_config.json`, and
`open_clip:local-dir:FOLDER` such a folder.
"""

import json
import logging
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import open_clip
from huggingface_hub import try_to_load_from_cache
from huggingface_hub.constants import ENDPOINT as HUB
from open_clip import factory, pretrained
from open_clip.model import CLIPVisionCfg, _build_vision_tower
from open_clip.transform import PreprocessCfg, merge_preprocess_dict
from torch import nn

from lookalike.core.errors import EncoderError
from lookalike.encode.inputs.preprocessing import Preprocessing
from lookalike.encode.network import Arguments, Backbone
from lookalike.encode.sources.faster_start import without_random_weights
from lookalike.encode.spec import EncoderSpec
from lookalike.encode.weights import fit, read_weights, require_reachable, unreachable

HUB_PREFIX, FOLDER_PREFIX, VISUAL = factory.HF_HUB_PREFIX, factory.LOCAL_DIR_PREFIX, "visual."
CONFIG = "open_clip_config.json"
MOST = 3  # weights in an error
Settings = dict[str, Any]


def build(spec: EncoderSpec, file: Path | None, arguments: Arguments) -> Backbone:
    """The image tower with its projection, and the preprocessing of its weights; no text tower is made."""
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it warns at every retry
    model, preprocessing, published = _settings(spec)
    try:
        with without_random_weights():
            module = _tower(model, arguments)
    except (TypeError, ValueError, AssertionError) as error:
        raise EncoderError(
            f"{spec}: open_clip cannot make this image tower: {error}.",
            fix="Correct or leave out the keyword arguments of its vision_cfg.",
        ) from None
    file = file or _weights(spec, published)
    state = read_weights(file)
    towers = {name.removeprefix(VISUAL): value for name, value in state.items() if name.startswith(VISUAL)}
    fit(module, towers or state, str(spec), file)
    return Backbone(module, _preprocessing({**preprocessing, "size": module.image_size}))


def _settings(spec: EncoderSpec) -> tuple[Settings, Settings, Settings]:
    """The configurations of the model and of its preprocessing, and where its weights are."""
    if spec.name.startswith(FOLDER_PREFIX):
        folder = Path(spec.name.removeprefix(FOLDER_PREFIX))
        if not (folder / CONFIG).is_file():
            raise EncoderError(f"{spec}: there is no {CONFIG} in {folder}.", fix="Name another folder.")
        about = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        found = factory._find_checkpoint_in_dir(folder)
        return about["model_cfg"], about.get("preprocess_cfg", {}), {"file": found} if found else {}
    if spec.name.startswith(HUB_PREFIX):
        repository = spec.name.removeprefix(HUB_PREFIX)
        about = json.loads(
            _downloaded(spec, {"hf_hub": f"{repository}/{CONFIG}"}).read_text(encoding="utf-8")
        )
        return about["model_cfg"], about.get("preprocess_cfg", {}), {"hf_hub": f"{repository}/"}
    name, _, tag = spec.name.partition("/")
    model = factory.get_model_config(name)
    if model is None:
        near = get_close_matches(name, open_clip.list_models(), n=3, cutoff=0.5)
        raise EncoderError(
            f"{spec}: open_clip has no network named {name!r}.",
            fix=f"Did you mean {', '.join(f'open_clip:{one}' for one in near)}?"
            if near
            else "open_clip.list_models() lists all.",
        )
    published = pretrained.get_pretrained_cfg(name, tag) if tag else {}
    if tag and not published:
        listed = ", ".join(
            f"open_clip:{name}/{one}" for one in pretrained.list_pretrained_tags_by_model(name)
        )
        raise EncoderError(f"{spec}: open_clip has no weights {tag!r} of {name}.", fix=f"Use {listed}.")
    quick = model.get("quick_gelu", False) or published.get("quick_gelu", False)
    return {**model, "quick_gelu": quick}, published, published


def _tower(model: Settings, arguments: Arguments) -> nn.Module:
    settings = {**model["vision_cfg"], "timm_model_pretrained": False, **arguments}
    made: nn.Module = _build_vision_tower(
        model["embed_dim"], CLIPVisionCfg(**settings), model.get("quick_gelu", False)
    )
    return made


def _weights(spec: EncoderSpec, published: Settings) -> Path:
    if not published:
        tags = [] if ":" in spec.name else pretrained.list_pretrained_tags_by_model(spec.name)[:MOST]
        named = " or ".join(f"open_clip:{spec.name}/{tag}" for tag in tags)
        raise EncoderError(
            f"{spec} names no weights.",
            fix=f"Use {named}, or give a file: {spec}?weights=FILE"
            if named
            else f"Give a file: {spec}?weights=FILE",
        )
    return _downloaded(spec, published)


def _downloaded(spec: EncoderSpec, published: Settings) -> Path:
    """The file on this machine; only what is not there yet is fetched."""
    repository, _, name = published.get("hf_hub", "").rpartition("/")
    place = f"{HUB}/{repository}" if repository else str(published.get("url"))
    try:
        named = name or pretrained.HF_WEIGHTS_NAME
        for one in (*pretrained._get_safe_alternatives(named), named) if repository else ():
            if isinstance(found := try_to_load_from_cache(repository, one), str):
                return Path(found)
        if repository:
            require_reachable(HUB)
        return Path(pretrained.download_pretrained(published))
    except Exception as error:  # the connection and its cache fail in many ways
        raise unreachable(spec, place, error) from None


def _preprocessing(given: Settings) -> Preprocessing:
    settings = merge_preprocess_dict(PreprocessCfg(), given)
    size = settings["size"]
    height, width = (size, size) if isinstance(size, int) else size
    mode = {"shortest": "center", "longest": "border", "squash": "squash"}[settings["resize_mode"]]
    return Preprocessing(
        (height, width),
        resize=min(height, width) if mode == "center" else 0,
        crop_mode=mode,
        interpolation=settings["interpolation"],
        mean=tuple(settings["mean"]),
        std=tuple(settings["std"]),
        fill=(settings["fill_color"],) * 3,
    )
