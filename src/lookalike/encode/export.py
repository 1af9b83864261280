"""An encoder as one ONNX file, for programs without Python.

What goes in and what comes out, each with a first axis of any length:

    pixels  uint8   (n, height, width, 3)   photos fitted as `preprocessing` says; scaling is in the file
    vectors float32 (n, features)           instead of pixels, for a head on a descriptor or on precomputed vectors
    found   float32 (n, dimension)          as the encoder gives them: not normalised

Its metadata hold the encoder string, the preprocessing and the hash of the weights.
"""

import copy
import io
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict

import torch
from torch import nn

from lookalike.core.checks import install, not_installed
from lookalike.core.errors import EncoderError
from lookalike.encode.encoder import Encoder
from lookalike.encode.heads.head import Head
from lookalike.encode.inputs.regions import pools_regions
from lookalike.encode.network import Network
from lookalike.encode.sources.checkpoint import Headed
from lookalike.encode.spec import parse, without_folders

MOST = 2_000_000_000  # bytes one ONNX file can hold, a little less than protobuf's 2 GiB
GIVEN, FOUND = {True: "pixels", False: "vectors"}, "found"


class FromPixels(nn.Module):
    """A network with its scaling before it: (n, height, width, 3) pixels of 8 bits to vectors, in float32."""

    scale: torch.Tensor
    shift: torch.Tensor

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = copy.deepcopy(network.module).cpu().float()
        self.network = self.network.to(memory_format=torch.contiguous_format)
        self.register_buffer("scale", network.scale.cpu())
        self.register_buffer("shift", network.shift.cpu())

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        """Pixels to vectors."""
        found: torch.Tensor = self.network(pixels.permute(0, 3, 1, 2).float() * self.scale - self.shift)
        return found


def onnx_bytes(encoder: Encoder | Head) -> bytes:
    """The encoder as an ONNX file with the same vectors, up to the rounding of float32.

    A torch network, or heads on one, takes pixels; heads on a descriptor, or a head by itself (of `read_head`: on
    precomputed vectors), take the vectors of the encoder beneath.
    Raises EncoderError for an encoder without anything to export, one that is too large for a single file, and where
    the libraries are not installed.
    """
    require_onnx()
    module, example = _parts(encoder)
    size = sum(value.numel() * value.element_size() for value in module.state_dict().values())
    if size > MOST:
        raise EncoderError(
            f"The encoder has {size / 1e9:.1f} GB of parameters, and one ONNX file holds 2 GB.",
            fix="Export the head by itself, or use a smaller network.",
        )
    with _quiet(), torch.inference_mode():
        program = torch.onnx.export(
            module.eval(),
            (example,),
            input_names=[GIVEN[example.dtype == torch.uint8]],
            output_names=[FOUND],
            dynamic_shapes=({0: torch.export.Dim("n")},),
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    if program is None:
        raise EncoderError("PyTorch made no ONNX file of the encoder.", fix="Install a newer PyTorch.")
    model = program.model_proto
    for part in (*model.graph.node, *model.graph.value_info, *model.graph.input, *model.graph.output):
        part.ClearField("metadata_props")  # contains folders of this machine
    if not isinstance(encoder, Head):
        spec = str(without_folders(parse(encoder.origin.spec)))
        about = {
            "spec": spec,
            "preprocessing": encoder.origin.preprocessing,
            "weights": encoder.origin.weights,
        }
        if isinstance(encoder, Network):
            about["preprocessing.values"] = json.dumps(asdict(encoder.preprocessing))
        for key, value in about.items():
            model.metadata_props.add(key=f"lookalike.{key}", value=value)
    return bytes(model.SerializeToString())


def _parts(encoder: Encoder | Head) -> tuple[nn.Module, torch.Tensor]:
    """One module from input to vectors, and a traced input of two rows: one row would become a constant."""
    heads: list[nn.Module] = []
    below: Encoder | Head = encoder
    while isinstance(below, Headed):
        heads.insert(0, copy.deepcopy(below.head).cpu())
        below = below.base
    if isinstance(below, Network):
        if pools_regions(below.prepare):
            raise EncoderError(
                f"{below.origin.spec} averages features in a region, and an ONNX file takes photos only.",
                fix="Export the encoder without region=pool.",
            )
        height, width = below.preprocessing.size
        return nn.Sequential(FromPixels(below), *heads), torch.zeros(2, height, width, 3, dtype=torch.uint8)
    if isinstance(below, Head):
        return copy.deepcopy(below).cpu(), torch.ones(2, below.features)
    if not heads:
        raise EncoderError(
            f"{below.origin.spec} is no network: there is nothing to export.",
            fix="Export a network, or a head: checkpoint:NAME",
        )
    return nn.Sequential(*heads), torch.ones(2, below.dimension)


def require_onnx() -> None:
    """Refuse where the libraries that write ONNX files are not installed, and say how to install them."""
    if missing := not_installed(("onnx", "onnxscript")):
        raise EncoderError(
            f"An ONNX file needs {missing[0]}, which is not installed.",
            fix=install("learn"),
        )


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter's progress messages and warnings. Errors are still raised."""
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(level)
