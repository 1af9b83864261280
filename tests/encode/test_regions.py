"""Features averaged in a region: equal to an average by hand; one pixel, and encoders that cannot use a region."""

import itertools
import json

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import nn

from lookalike.catalog.photos.boxes import Box
from lookalike.core.errors import CatalogError, EncoderError
from lookalike.encode.encoder import encode_photo
from lookalike.encode.export import onnx_bytes
from lookalike.encode.inputs.preprocessing import Preprocessing
from lookalike.encode.inputs.regions import WithRegion, load_photo, weights_of
from lookalike.encode.layers import Layers, last_map
from lookalike.encode.network import Network
from lookalike.encode.open import open_encoder
from lookalike.encode.spec import parse

FITTED = Preprocessing((12, 16), crop_mode="squash", mean=(0.5,) * 3, std=(0.25,) * 3)


class Tiny(nn.Module):
    """A map of 3 x 4 positions, its mean, and a last linear step that a region leaves out."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.features = nn.Sequential(nn.Conv2d(3, 5, 4, stride=4), nn.ReLU())
        self.last = nn.Linear(5, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.features(x).mean((2, 3)))


def tiny(options="region=pool"):
    return Network.of(parse(f"timm:tiny?{options}"), Tiny(), FITTED, dict(parse(f"timm:x?{options}").options))


def photo_at(tmp_path, width=64, height=48, seed=0):
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    return tmp_path / "photo.png"


def by_hand(path, inside):
    """The mean of the map's cells, each weighted by its share of pixels of the photo that are inside; length 1."""
    with Image.open(path) as photo:
        pixels = np.asarray(photo.resize((16, 12), Image.Resampling.BICUBIC), np.float64) / 255
    pixels = (pixels - 0.5) / 0.25
    module = Tiny().features[0].double()
    kernel, bias = module.weight.detach().numpy(), module.bias.detach().numpy()
    total, weight = np.zeros(5), 0.0
    for row, column in itertools.product(range(3), range(4)):
        block = pixels[4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
        cell = [max(0.0, (kernel[c] * block.transpose(2, 0, 1)).sum() + bias[c]) for c in range(5)]
        share = inside[16 * row : 16 * row + 16, 16 * column : 16 * column + 16].mean()
        total, weight = total + share * np.array(cell), weight + share
    mean = total / weight
    return mean / np.linalg.norm(mean)


def found_with(path, encoder, box=None, mask=None):
    return encode_photo(load_photo(path, encoder.prepare, encoder.size_hint, box, mask), encoder)


@pytest.mark.parametrize("box", [Box(0, 0, 64, 48), Box(16, 16, 48, 32), Box(4, 8, 36, 40)])
def test_a_box_averages_the_cells_by_their_share_in_it(tmp_path, box):
    path, inside = photo_at(tmp_path), np.zeros((48, 64))
    inside[box.y0 : box.y1, box.x0 : box.x1] = 1
    np.testing.assert_allclose(found_with(path, tiny(), box), by_hand(path, inside), atol=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_a_mask_averages_the_cells_by_their_share_in_it_and_in_the_box(tmp_path, seed):
    path = photo_at(tmp_path, seed=seed)
    inside = np.kron(np.random.default_rng(seed).random((12, 16)) < 0.4, np.ones((4, 4)))
    Image.fromarray((255 * inside).astype(np.uint8)).save(tmp_path / "mask.png")
    for box in (None, Box(8, 12, 60, 44)):
        both = inside.copy()
        if box:
            both = np.zeros_like(inside)
            part = np.s_[box.y0 : box.y1, box.x0 : box.x1]
            both[part] = inside[part]
        found = found_with(path, tiny(), box, tmp_path / "mask.png")
        np.testing.assert_allclose(found, by_hand(path, both), atol=2e-3)
    assert np.abs(found - found_with(path, tiny(), box)).max() > 0.01


def test_a_photo_without_a_region_is_one_and_the_border_around_it_is_not(tmp_path):
    path = photo_at(tmp_path)
    np.testing.assert_allclose(found_with(path, tiny()), by_hand(path, np.ones((48, 64))), atol=1e-4)
    weights = WithRegion(Preprocessing((8, 8), crop_mode="border"))(Image.new("RGB", (40, 20)))[..., 3]
    assert weights.tolist() == [[0] * 8] * 2 + [[255] * 8] * 4 + [[0] * 8] * 2


@pytest.mark.parametrize("at", [(0, 0), (63, 47), (31, 20)])
def test_one_pixel_is_the_feature_of_its_cell(tmp_path, at):
    path, inside = photo_at(tmp_path), np.zeros((48, 64))
    x, y = at
    inside[y, x] = 1
    found = found_with(path, tiny(), Box(x, y, x + 1, y + 1))
    np.testing.assert_allclose(found, by_hand(path, inside), atol=1e-4)


def test_weights_are_shares_of_area():
    random = np.random.default_rng(1)
    region = (random.random((30, 50)) < 0.3) * 255
    found = weights_of(Image.fromarray(region.astype(np.uint8)), (6, 10), square=False)
    by_blocks = region.reshape(6, 5, 10, 5).mean((1, 3))
    np.testing.assert_allclose(found, by_blocks / by_blocks.max(), atol=1e-6)


def test_layers_are_averaged_in_the_region_and_normalised_each():
    network = Tiny().eval()
    photos = torch.rand(2, 3, 12, 16, generator=torch.Generator().manual_seed(3))
    weights = torch.zeros(2, 1, 12, 16)
    weights[0, :, :4, :4] = 255
    weights[1, :, 8:, 8:] = 3
    found = Layers(network, ["features.0", "features.1"])(photos, weights)
    plain = Tiny().eval()
    for layer, part in enumerate((plain.features[:1], plain.features)):
        cells = part(photos)
        first, second = cells[0, :, 0, 0], cells[1, :, 2, 2:].mean(1)
        for one, mean in zip(found[:, 5 * layer : 5 * layer + 5], (first, second), strict=True):
            torch.testing.assert_close(one, mean / mean.norm())


@pytest.mark.parametrize(
    ("name", "size", "layer"),
    [("resnet18", (64, 64), "layer4"), ("vit_tiny_patch16_224", (224, 224), "norm")],
)
def test_the_last_map_of_a_network_is_found(name, size, layer):
    import timm

    assert last_map(timm.create_model(name, num_classes=0), size, name) == layer


def test_tokens_of_patches_are_averaged_in_the_region():
    import timm

    network = timm.create_model("vit_tiny_patch16_224", num_classes=0, img_size=(64, 96)).eval()
    photos = torch.rand(1, 3, 64, 96, generator=torch.Generator().manual_seed(3))
    weights = torch.zeros(1, 1, 64, 96)
    weights[..., 16:32, 80:] = 1
    with torch.inference_mode():
        token = network.forward_features(photos)[0, 1 + 6 + 5]
        found = Layers(network, ["norm"])(photos, weights)[0]
    torch.testing.assert_close(found, token / token.norm())


def test_a_layer_without_positions_is_refused(tmp_path):
    with pytest.raises(EncoderError, match="gives no map of the photo"):
        found_with(photo_at(tmp_path), tiny("region=pool&layers=last"))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("timm:resnet18?region=mask", "region cannot be 'mask'"),
        ("timm:resnet18?region=pool&crop_mode=center", "cuts its edges off"),
        ("descriptor:color+hog?region=pool", "only color is one"),
        ("descriptor:color?size=3", "take no option 'size'"),
    ],
)
def test_regions_that_an_encoder_cannot_use_are_refused(tmp_path, spec, said):
    import timm

    if spec.startswith("timm"):
        save_file(timm.create_model("resnet18", num_classes=0).state_dict(), tmp_path / "w.safetensors")
        spec += f"&weights={tmp_path}/w.safetensors"
    with pytest.raises(EncoderError, match=said):
        open_encoder(parse(spec))


def test_a_network_that_crops_fits_the_whole_photo_for_a_region(tmp_path):
    import timm

    save_file(timm.create_model("resnet18", num_classes=0).state_dict(), tmp_path / "w.safetensors")
    spec = f"timm:resnet18?size=64&weights={tmp_path}/w.safetensors"
    plain, pool = (open_encoder(parse(one)) for one in (spec, f"{spec}&region=pool"))
    assert (plain.preprocessing.crop_mode, pool.preprocessing.crop_mode) == ("center", "border")
    border = open_encoder(parse(f"{spec}&crop_mode=border"))
    square = photo_at(tmp_path, 80, 80)
    mean = found_with(square, border)
    np.testing.assert_allclose(found_with(square, pool), mean / np.linalg.norm(mean), atol=1e-5)
    with pytest.raises(EncoderError, match="takes photos only"):
        onnx_bytes(pool)


def test_colours_are_those_of_the_region(tmp_path):
    photo = Image.new("RGB", (80, 80), "white")
    photo.paste("red", (0, 0, 20, 80))
    photo.save(tmp_path / "a.png")
    Image.new("RGB", (20, 20), "red").save(tmp_path / "red.png")
    pool, plain = (open_encoder(parse(f"descriptor:color{end}")) for end in ("?region=pool", ""))
    red = found_with(tmp_path / "red.png", plain)
    np.testing.assert_allclose(found_with(tmp_path / "a.png", pool, Box(0, 0, 20, 80)), red, atol=1e-6)
    assert np.abs(found_with(tmp_path / "a.png", plain) - red).max() > 0.1
    np.testing.assert_allclose(found_with(tmp_path / "a.png", pool), found_with(tmp_path / "a.png", plain))


def test_blends_use_one_kind_of_region(tmp_path):
    def blend(*specs):
        encoders = [
            {"encoder": spec, "weights": "", "precision": "", "weight": 1.0}
            | {"preprocessing": open_encoder(parse(spec)).origin.preprocessing}
            for spec in specs
        ]
        about = {"format": 5, "encoders": encoders, "learned": {}}
        folder = tmp_path / f"blend{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        (folder / "checkpoint.json").write_text(json.dumps(about))
        return open_encoder(parse(f"checkpoint:{folder}"))

    with pytest.raises(EncoderError, match="see different parts of a photo"):
        blend("descriptor:color?region=pool", "descriptor:hog")
    both = blend("descriptor:color?region=pool", "descriptor:color?region=pool")
    alone = open_encoder(parse("descriptor:color?region=pool"))
    path = photo_at(tmp_path)
    part = found_with(path, alone, Box(0, 0, 9, 9))
    np.testing.assert_allclose(
        found_with(path, both, Box(0, 0, 9, 9))[: len(part)], part / np.linalg.norm(part)
    )


def test_a_box_outside_the_photo_is_refused_for_pooling_too(tmp_path):
    with pytest.raises(CatalogError, match="leads out of the photo"):
        found_with(photo_at(tmp_path), tiny(), Box(0, 0, 65, 48))


def test_a_jpeg_decoded_smaller_has_the_same_region(tmp_path):
    smooth = Image.open(photo_at(tmp_path, 16, 12)).resize((1600, 1200), Image.Resampling.BICUBIC)
    smooth.save(tmp_path / "a.jpg", quality=95)
    mask = Image.new("L", smooth.size)
    mask.paste(255, (400, 400, 1200, 800))
    mask.save(tmp_path / "mask.png")
    encoder = tiny()
    small = load_photo(tmp_path / "a.jpg", encoder.prepare, 40, None, tmp_path / "mask.png")
    boxed = load_photo(tmp_path / "a.jpg", encoder.prepare, 40, Box(400, 400, 1200, 800))
    whole = load_photo(tmp_path / "a.jpg", encoder.prepare, 2000, None, tmp_path / "mask.png")
    assert small.width < whole.width == 1600
    np.testing.assert_array_equal(np.asarray(small)[..., 3], np.asarray(boxed)[..., 3])
    np.testing.assert_array_equal(encoder.prepare(small)[..., 3], encoder.prepare(whole)[..., 3])
