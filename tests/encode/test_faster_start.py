"""A network is opened without what it does not need, and nothing else changes."""

import subprocess
import sys

import pytest
import timm
import torch
from safetensors.torch import save_file

from lookalike.encode.open import open_encoder
from lookalike.encode.sources.faster_start import without_random_weights
from lookalike.encode.spec import parse

OPENED = """
import sys
from PIL import Image
from lookalike.encode.encoder import encode_photo
from lookalike.encode.open import open_encoder
from lookalike.encode.spec import parse
encode_photo(Image.new("RGB", (9, 9)), open_encoder(parse(sys.argv[1])))
assert "torch._dynamo" not in sys.modules, "the compiler was loaded"
import torch, torchvision
from timm.layers import disable_compiler
marked = disable_compiler(lambda x: x + 1)
kept = torch.compiler.disable
boxes = torchvision.ops.roi_align(torch.ones(1, 1, 4, 4), [torch.tensor([[0.0, 0, 4, 4]])], 2)
print(boxes.flatten().tolist(), "torch._dynamo.utils" in sys.modules)
from torch._dynamo.utils import is_compile_supported
print(torch.compile(lambda x: marked(x) * 2, backend="eager")(torch.ones(1)).item())
print(torchvision.ops.roi_align.__globals__["is_compile_supported"]("cpu") == is_compile_supported("cpu"))
"""


@pytest.mark.slow
def test_a_network_is_opened_without_the_compiler_of_pytorch_which_still_works_afterwards(tmp_path):
    save_file(timm.create_model("test_resnet").state_dict(), tmp_path / "w.safetensors")
    text = f"timm:test_resnet?weights={tmp_path}/w.safetensors"
    done = subprocess.run([sys.executable, "-c", OPENED, text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    boxes, compiled, same = done.stdout.splitlines()
    assert boxes == "[1.0, 1.0, 1.0, 1.0] False"
    assert compiled == "4.0"
    assert same == "True"


def test_no_random_weights_are_drawn_and_constant_ones_are_kept():
    torch.manual_seed(0)
    state = torch.get_rng_state()
    with without_random_weights():
        made = timm.create_model("test_vit", num_classes=0)
        other = torch.nn.init.kaiming_uniform_(tensor := torch.full((2, 2), 7.0))
    assert torch.equal(torch.get_rng_state(), state)
    assert other is tensor
    assert (tensor == 7).all()
    assert (made.norm.weight == 1).all()
    assert (made.norm.bias == 0).all()
    assert not torch.equal(torch.nn.Linear(9, 9).weight, torch.zeros(9, 9))  # drawn again afterwards


@pytest.mark.timeout(30)
def test_values_out_of_range_are_not_drawn_until_they_fit():
    tensor = torch.full((2, 2), 1e9)  # new memory has any values
    with without_random_weights():
        assert torch.nn.init.trunc_normal_(tensor) is tensor
        assert torch.nn.init.trunc_normal_(tensor, std=9) is tensor
    assert (tensor == 1e9).all()
    assert torch.nn.init.trunc_normal_(tensor).abs().max() <= 2


def test_weights_are_those_of_the_file(tmp_path):
    torch.manual_seed(1)
    trained = timm.create_model("test_vit", num_classes=0)
    save_file(trained.state_dict(), tmp_path / "w.safetensors")
    opened = open_encoder(parse(f"timm:test_vit?weights={tmp_path}/w.safetensors"))
    for name, value in trained.state_dict().items():
        assert torch.equal(opened.module.state_dict()[name].cpu(), value)
