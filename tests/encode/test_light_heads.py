"""The heads of ADAPT and the principal components beneath one of them."""

import numpy as np
import pytest

from lookalike.core.errors import ArgumentError, EmbeddingsError

torch = pytest.importorskip("torch")

from lookalike.core.types import Origin  # noqa: E402
from lookalike.encode.heads.adaptation import AdaptationHead, DiagonalHead  # noqa: E402
from lookalike.encode.heads.head import apply_head  # noqa: E402
from lookalike.encode.sources.checkpoint import head_files, read_head  # noqa: E402
from lookalike.learn.components import fit_components  # noqa: E402

VECTORS = (np.random.default_rng(0).normal(size=(40, 12)) * np.arange(1, 13)).astype(np.float32)


@pytest.mark.parametrize(("rows", "most", "count"), [(40, 5, 5), (40, 256, 12), (7, 256, 6), (9, 4, 4)])
def test_components_are_those_of_the_singular_value_decomposition(rows: int, most: int, count: int):
    given = VECTORS[:rows]
    fitted = fit_components(given, np.arange(len(given)), most)
    centred = given - given.mean(0, dtype=np.float64)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    assert fitted.head.projection == count
    found = apply_head(fitted.head, given)
    expected = centred @ axes[:count].T
    signs = np.sign((found * expected).sum(0))
    assert found == pytest.approx(expected * signs, abs=1e-3)
    assert fitted.share == pytest.approx(float((sizes[:count] ** 2).sum() / (sizes**2).sum()))


def test_the_sign_of_a_component_is_fixed():
    components = fit_components(VECTORS, np.arange(40), 6).head.components
    assert (components.gather(0, components.abs().argmax(0, keepdim=True)) > 0).all()


@pytest.mark.parametrize("given", [np.ones((5, 3), np.float32), np.ones((1, 3), np.float32)])
def test_equal_vectors_have_no_components(given):
    with pytest.raises(EmbeddingsError, match="no principal components"):
        fit_components(given, np.arange(len(given)), 2)


def test_an_adaptation_head_is_its_formula():
    head = AdaptationHead.seeded(fit_components(VECTORS, np.arange(40), 6).head, 9, seed=1)
    mean, components = head.pca.mean.double().numpy(), head.pca.components.double().numpy()
    matrix = head.adapter.matrix.weight.detach().double().numpy()
    expected = np.maximum((VECTORS - mean) @ components @ matrix.T, 0)
    assert apply_head(head.requires_grad_(False), VECTORS) == pytest.approx(expected, abs=1e-4)
    assert not [name for name, _ in head.named_parameters() if "matrix.weight" not in name]


def test_an_adaptation_head_is_seeded_apart_from_other_generators():
    pca = fit_components(VECTORS, np.arange(40), 6).head
    torch.manual_seed(0)
    before = torch.get_rng_state()
    one, same, other = (AdaptationHead.seeded(pca, 9, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.equal(one.adapter.matrix.weight, same.adapter.matrix.weight)
    assert not torch.equal(one.adapter.matrix.weight, other.adapter.matrix.weight)
    assert one.adapter.matrix.weight.abs().max() <= 6**-0.5


def test_a_diagonal_head_weighs_numbers_and_never_negatively():
    head = DiagonalHead(3, 3)
    with torch.no_grad():
        head.weight.copy_(torch.tensor([2.0, -1.0, 0.5]))
    assert head(torch.tensor([[1.0, 1.0, 4.0]])).tolist() == [[2.0, 0.0, 2.0]]
    with pytest.raises(ArgumentError, match="diagonal head on 3"):
        DiagonalHead(3, 4)


@pytest.mark.parametrize("kind", ["adaptation", "diagonal"])
def test_a_checkpoint_gives_the_same_vectors(kind, tmp_path):
    head = (
        DiagonalHead(12, 12)
        if kind == "diagonal"
        else AdaptationHead.seeded(fit_components(VECTORS, np.arange(40), 6).head, 9, seed=1)
    )
    for name, content in head_files(Origin("precomputed:a.npy", ""), head, {}).items():
        (tmp_path / name).write_bytes(content)
    read = read_head(tmp_path).head
    assert read.kind == kind
    assert (apply_head(read, VECTORS) == apply_head(head.requires_grad_(False), VECTORS)).all()
