"""Networks by their names in a library: the options of an encoder string, and who builds what they name."""

from pathlib import Path

from lookalike.core.errors import EncoderError
from lookalike.encode import timm_networks, torchvision_networks
from lookalike.encode.network import Network, Parts, Value
from lookalike.encode.preprocessing import OPTIONS
from lookalike.encode.spec import EncoderSpec
from lookalike.encode.weights import weights_file

OWN = ("weights", "precision", "layers", *OPTIONS)  # every other option is a keyword argument of the network
SOURCES = {"timm": timm_networks.build, "torchvision": torchvision_networks.build}


def open_network(spec: EncoderSpec, base: Path) -> "Network":
    """The network of a `timm:` or `torchvision:` string, with its own weights or those of `?weights=`."""
    options = dict(spec.options)
    file = weights_file(options["weights"], base, str(spec)) if "weights" in options else None
    parts = build_module(spec, file)
    preprocessing = parts.preprocessing.with_options(options, str(spec))
    return Network.of(spec, parts.module, preprocessing, options.get("precision"))


def build_module(spec: EncoderSpec, file: Path | None) -> Parts:
    """The network that a string names, its own options applied, with the parameters of a file or its library's."""
    options = dict(spec.options)
    if "layers" in options:
        raise EncoderError(
            f"{spec}: layers cannot be chosen in this version.",
            fix="Leave out layers=; the last one is used.",
        )
    if spec.source not in SOURCES:
        raise EncoderError(f"{spec} is no network of a library.", fix="Name one of timm: or torchvision:.")
    arguments = {key: _value(text) for key, text in options.items() if key not in OWN}
    return SOURCES[spec.source](spec, file, arguments)


def _value(text: str) -> Value:
    """An option's text as the network's argument: a number, true, false, none, or the text.

    >>> _value("same"), _value("2"), _value("0.5"), _value("True")
    ('same', 2, 0.5, True)
    """
    words: dict[str, Value] = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
