"""Networks of the transformers library: `hf:facebook/dinov2-base`, a repository of the hub or a folder.

Only networks that the library has itself, and weights in safetensors: no code of a repository is run.
"""

from pathlib import Path
from typing import Any

import torch
from huggingface_hub.constants import ENDPOINT as HUB
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel
from transformers.image_processing_base import ImageProcessingMixin
from transformers.utils import logging

from lookalike.core.errors import EncoderError, first_line
from lookalike.encode.inputs.preprocessing import INTERPOLATIONS, Preprocessing
from lookalike.encode.network import Arguments, Backbone
from lookalike.encode.spec import EncoderSpec
from lookalike.encode.weights import fit, read_weights, require_reachable, unreachable

POOLER = "pooler."


class ImageVectors(nn.Module):
    """A model of transformers as one that takes photos and returns one vector for each.

    The vector is the pooled output. Without one, it is the class token, and without a class token the mean of all
    tokens.
    """

    def __init__(self, model: nn.Module, *, pooled: bool) -> None:
        super().__init__()
        self.model, self.pooled = model, pooled
        self.has_class_token = any(name.endswith("cls_token") for name, _ in model.named_parameters())

    def forward(self, photos: Tensor) -> Tensor:
        """Photos to vectors."""
        features = getattr(self.model, "get_image_features", None)
        found = (features or self.model)(pixel_values=photos)
        vectors = found if isinstance(found, Tensor) else getattr(found, "pooler_output", None)
        if vectors is None or not self.pooled:
            tokens = found.last_hidden_state
            vectors = (
                tokens[:, 0] if self.has_class_token else tokens.flatten(2).mean(2 if tokens.ndim == 4 else 1)
            )
        return torch.as_tensor(vectors).flatten(1)


def build(spec: EncoderSpec, file: Path | None, arguments: Arguments) -> Backbone:
    """The network, and the preprocessing of its image processor."""
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    settings = _loaded(spec, lambda **options: AutoConfig.from_pretrained(spec.name, **options, **arguments))
    processor, _ = _loaded(
        spec, lambda **options: ImageProcessingMixin.get_image_processor_dict(spec.name, **options)
    )
    if file is not None:
        model = AutoModel.from_config(settings, trust_remote_code=False)
        prefix = f"{model.base_model_prefix}."
        state = {name.removeprefix(prefix): value for name, value in read_weights(file).items()}
        pooled = _without_pooler(model, not any(name.startswith(POOLER) for name in state))
        fit(model, state, str(spec), file, head=("classifier", "head", "lm_head"))
    else:
        model, about = _loaded(
            spec,
            lambda **options: AutoModel.from_pretrained(
                spec.name, config=settings, use_safetensors=True, output_loading_info=True, **options
            ),
        )
        missing = sorted(about["missing_keys"])
        pooled = _without_pooler(model, bool(missing) and all(name.startswith(POOLER) for name in missing))
        if pooled and missing:
            raise EncoderError(
                f"{spec}: its weights lack {len(missing):,} of the network's parameters, such as {missing[0]!r}.",
                fix="Use another repository, or give complete weights: ?weights=FILE",
            )
    model = model.float()  # repositories keep some weights in half precision
    return Backbone(ImageVectors(model, pooled=pooled), _preprocessing(spec, processor))


def _loaded(spec: EncoderSpec, load: Any) -> Any:  # noqa: ANN401 - the library's own classes
    """What a loader finds on this machine, else what it fetches."""
    try:
        try:
            return load(local_files_only=True, trust_remote_code=False)
        except OSError:
            if not Path(spec.name).is_dir():
                require_reachable(HUB)
            return load(trust_remote_code=False)
    except ValueError as error:
        raise EncoderError(
            f"{spec}: transformers cannot load this network without running code of its repository: "
            f"{first_line(error)}.",
            fix="Use a network that transformers has itself. Lookalike never runs code of a repository for `hf:`.",
        ) from None
    except Exception as error:  # the connection, its cache and missing files fail in many ways
        raise unreachable(spec, f"{HUB}/{spec.name}, in safetensors", error) from None


def _without_pooler(model: nn.Module, lacks: bool) -> bool:
    """Whether the pooled output may be used: a pooler that the weights lack would be random, and is removed."""
    if lacks and isinstance(getattr(model, "pooler", None), nn.Module):
        model._modules["pooler"] = None
        return False
    return True


def _preprocessing(spec: EncoderSpec, settings: dict[str, Any]) -> Preprocessing:
    size = settings.get("size") or {}
    size = {"height": size, "width": size} if isinstance(size, int) else size
    crop = settings.get("crop_size") or {}
    crop = {"height": crop, "width": crop} if isinstance(crop, int) else crop
    cut = crop if settings.get("do_center_crop") and crop else size
    side = size.get("shortest_edge") or min(size.get("height", 0), size.get("width", 0))
    height, width = cut.get("height") or side, cut.get("width") or side
    if not height or not width:
        raise EncoderError(
            f"{spec}: its image processor states no size that Lookalike understands: {size}.",
            fix="Give the preprocessing: ?size=224&mean=0.5&std=0.5",
        )
    whole = not settings.get("do_center_crop") and "shortest_edge" not in size
    filters = {int(value): name for name, value in INTERPOLATIONS.items()}
    plain = not settings.get("do_normalize", True)
    return Preprocessing(
        (height, width),
        resize=0 if whole else side,
        crop_mode="squash" if whole else "center",
        interpolation=filters.get(settings.get("resample", 3), "bicubic"),
        mean=(0.0, 0.0, 0.0) if plain else tuple(settings["image_mean"]),
        std=(1.0, 1.0, 1.0) if plain else tuple(settings["image_std"]),
    )
