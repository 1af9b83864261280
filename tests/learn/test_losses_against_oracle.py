"""The losses equal explicit loops, and their slopes equal differences."""

import pytest
from batches_at_random import Kind, batch, each_kind, each_rule, value_and_gradient

from lookalike.learn.losses.pairs import pairs, roots, squared_distances

torch = pytest.importorskip("torch")


def oracle_of(kind: Kind, sampled, unjudged: str):
    return kind.oracle(*(part.tolist() for part in sampled), unjudged)


@each_kind
@each_rule
@pytest.mark.parametrize("views", [1, 2])
@pytest.mark.parametrize("hard", [False, True])
def test_value_and_counts_equal_the_loops(kind: Kind, unjudged: str, views: int, hard: bool):
    for seed in range(8):
        sample = batch(seed, views=views, hard=hard)
        found, expected = kind.loss(*sample, unjudged=unjudged), oracle_of(kind, sample, unjudged)
        assert found.value.item() == pytest.approx(expected.value, rel=1e-9, abs=1e-12)
        assert tuple(map(int, found[1:4])) == expected[1:]


@each_kind
def test_the_worlds_have_something_to_learn_from(kind: Kind):
    outcomes = [oracle_of(kind, batch(seed), rule) for seed in range(8) for rule in ("negative", "ignore")]
    assert sum(outcome.value > 0 for outcome in outcomes) >= 12
    assert kind.name.startswith("con") or any(outcome.skipped > 0 for outcome in outcomes)


@each_kind
@each_rule
def test_the_gradient_equals_differences(kind: Kind, unjudged: str):
    for seed in range(3):
        sample = batch(seed, n=8, views=2)
        vectors = sample.vectors.requires_grad_()
        assert torch.autograd.gradcheck(
            lambda v, sample=sample: kind.loss(v, *sample[1:], unjudged=unjudged).value, (vectors,)
        )


@each_kind
def test_float32_is_near_the_loops(kind: Kind):
    """A cosine of n numbers is off by at most (2 n + 8) u: n u of the product, and as much of the two lengths.

    SupCon divides by its temperature, and both its terms change by no more than their largest logit. A distance above
    0.2 is off by at most 8 (n + 6) u / 0.2, and a triplet has two of them.
    """
    n, u = 64, 2.0**-24
    most = {"supcon": 2 * (2 * n + 8) * u / 0.1, "supcon cold": 2 * (2 * n + 8) * u / 0.01}
    for seed in range(4):
        sample = batch(seed, n=40, dimension=n)
        single = kind.loss(sample.vectors.float(), *sample[1:])
        assert single.value.dtype == torch.float32
        assert single.value.item() == pytest.approx(
            oracle_of(kind, sample, "negative").value,
            rel=0,
            abs=most.get(kind.name, 2 * 8 * (n + 6) * u / 0.2),
        )


@each_kind
@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float16])
def test_half_precision_is_counted_in_single(kind: Kind, precision):
    sample = batch(3, n=40, dimension=64)
    rough = sample.vectors.to(precision)
    exact, slope = value_and_gradient(kind, rough.float(), *sample[1:])
    found, rough_slope = value_and_gradient(kind, rough, *sample[1:])
    assert (found.value.dtype, rough_slope.dtype) == (torch.float32, precision)
    assert found.value.item() == exact.value.item()
    # rounded once: 2^-9 of a bfloat16; float16 has 2^-11, and steps of 2^-24 below 2^-14
    torch.testing.assert_close(rough_slope.float(), slope, rtol=2.0**-8, atol=2.0**-24)


@each_kind
def test_autocast_changes_nothing(kind: Kind):
    sample = batch(3, n=40, dimension=64)
    single = sample.vectors.float()
    plain, slope = value_and_gradient(kind, single, *sample[1:])
    with torch.autocast("cpu", torch.bfloat16):
        assert (single @ single.T).dtype == torch.bfloat16
        found, found_slope = value_and_gradient(kind, single, *sample[1:])
    assert found.value.item() == plain.value.item()
    assert torch.equal(found_slope, slope)


@pytest.mark.parametrize("gap", [0.0, 1e-4, 1e-2, 0.1, 1.0])
def test_distances_in_float32_are_within_the_bound_of_rounding(gap: float):
    """The bound holds for any order of summation and any fused operation, so on any machine.

    With u = 2^-24 and n numbers: fl(x.y) is off by at most n u |x||y| (Higham 2002, Eq. 3.5), four times in d^2, with
    three more roundings of numbers up to 4. A length is off by (n / 2 + 2) u and each number of a unit vector by u, so
    that d is off by (n + 6) u and d^2, d being at most 2, by 4 (n + 6) u. Together below 8 (n + 6) u.
    Rounding errors have no common sign: their root mean square is of the order sqrt(n) u.
    """
    random = torch.Generator().manual_seed(1)
    n, u = 512, 2.0**-24
    first, step = torch.randn(2, 60, n, generator=random).unbind()
    vectors = torch.cat([first, first + gap * step])
    cosine = pairs(vectors, torch.zeros(120, 120), torch.zeros(120, 120, dtype=torch.bool), "negative").cosine
    squared, unit = squared_distances(cosine), torch.nn.functional.normalize(vectors.double())
    true = (unit.unsqueeze(1) - unit).square().sum(dim=2)
    most = 8 * (n + 6) * u
    assert (squared - true).abs().max() < most
    assert (squared - true).square().mean().sqrt() < 4 * n**0.5 * u
    near, wanted = roots(squared).diagonal(60), true.sqrt().diagonal(60)
    assert ((near - wanted).abs() <= (most / wanted).clamp(max=most**0.5)).all()
