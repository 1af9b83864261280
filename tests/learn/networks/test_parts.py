"""Which parameters learn, for networks of several families."""

import pytest
import timm
import torch
import torchvision
from torch import nn

from lookalike.core.errors import LearningError
from lookalike.learn.networks.parts import add_adapters, freeze_statistics, merged, train_last

pytestmark = pytest.mark.card

PHOTOS = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
MAKERS = {
    "resnet": lambda: timm.create_model("resnet18", num_classes=0),
    "vit": lambda: timm.create_model("vit_tiny_patch16_224", num_classes=0, img_size=64),
    "mobilenet": lambda: timm.create_model("mobilenetv2_050", num_classes=0),
    "torchvision": lambda: torchvision.models.shufflenet_v2_x0_5(weights=None),
}


def learning(module):
    return {name for name, value in module.named_parameters() if value.requires_grad}


@pytest.mark.parametrize(
    ("family", "blocks", "first"),
    [
        ("resnet", 1, "layer4.1.conv1.weight"),
        ("resnet", 3, "layer3.1.conv1.weight"),
        ("vit", 2, "blocks.10.norm1.weight"),
        ("mobilenet", 1, "blocks.6.0.conv_pw.weight"),
    ],
)
def test_the_last_blocks_and_what_follows_them_learn(family, blocks, first):
    module = MAKERS[family]()
    train_last(module, blocks)
    names = [name for name, _ in module.named_parameters()]
    assert learning(module) == set(names[names.index(first) :])


def test_more_blocks_than_there_are_is_refused():
    with pytest.raises(LearningError, match="8 blocks, fewer than 9"):
        train_last(MAKERS["resnet"](), 9)
    with pytest.raises(LearningError, match="0 blocks"):
        train_last(nn.Sequential(nn.Linear(2, 2)), 1)


@pytest.mark.parametrize("family", MAKERS)
def test_adapters_begin_as_the_network_and_become_part_of_its_weights(family):
    module = MAKERS[family]().eval()
    names = [name for name, _ in module.named_parameters()]
    with torch.inference_mode():
        before = module(PHOTOS)
    adapted = add_adapters(module, 4).eval()
    assert learning(adapted)
    assert all("lora_" in name for name in learning(adapted))
    with torch.inference_mode():
        torch.testing.assert_close(adapted(PHOTOS), before)
        for name, value in adapted.named_parameters():
            if "lora_B" in name:
                value.normal_(std=0.3, generator=torch.Generator().manual_seed(1))
        changed = adapted(PHOTOS)
        assert float((changed - before).norm()) > 1e-4 * float(before.norm())
        plain = merged(adapted)
        assert float((plain(PHOTOS) - changed).norm()) < 1e-5 * float(changed.norm())
    assert [name for name, _ in plain.named_parameters()] == names


def test_statistics_stay_when_they_are_frozen():
    module = MAKERS["resnet"]().train()
    freeze_statistics(module)
    before = module.bn1.running_mean.clone()
    module(PHOTOS)
    assert torch.equal(module.bn1.running_mean, before)
    module.train()(PHOTOS)
    assert not torch.equal(module.bn1.running_mean, before)
