"""Networks of libraries, with the library's weights or those of a file."""

from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from lookalike.core.errors import EncoderError
from lookalike.encode.inputs.preprocessing import OPTIONS
from lookalike.encode.network import Backbone, Network, Value
from lookalike.encode.sources.faster_start import without_compiler
from lookalike.encode.spec import EncoderSpec, in_folder
from lookalike.encode.weights import weights_file

OWN = (
    "weights",
    "precision",
    "layers",
    "region",
    *OPTIONS,
)  # every other option is a keyword argument of the network
LIBRARIES = ("timm", "torchvision", "open_clip", "hf", "hub")  # each a module with `build`
WORDS = MappingProxyType[str, Value]({"true": True, "false": False, "none": None})


def open_network(spec: EncoderSpec, base: Path) -> Network:
    """The network of a library's string, such as `timm:`, with the library's weights or those of `?weights=`."""
    options = dict(spec.options)
    file = weights_file(options["weights"], base, str(spec)) if "weights" in options else None
    backbone = backbone_of(in_folder(spec, base), file)
    preprocessing = backbone.preprocessing.with_options(options, str(spec))
    return Network.of(spec, backbone.module, preprocessing, options)


def backbone_of(spec: EncoderSpec, file: Path | None) -> Backbone:
    """The network that a string names, made with its keyword arguments, with the library's weights or a file's."""
    if spec.source not in LIBRARIES:
        raise EncoderError(
            f"{spec} is not a network of a library.",
            fix=f"Use {' or '.join(f'{known}:NAME' for known in LIBRARIES)}.",
        )
    arguments = {key: _value(text) for key, text in spec.options if key not in OWN}
    with without_compiler():
        library = import_module(f"lookalike.encode.sources.{spec.source}_networks")
    made: Backbone = library.build(spec, file, arguments)
    return made


def _value(text: str) -> Value:
    """An option's text as the network's argument: a number, true, false, none, or the text.

    >>> _value("same"), _value("2"), _value("0.5"), _value("True")
    ('same', 2, 0.5, True)
    """
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
