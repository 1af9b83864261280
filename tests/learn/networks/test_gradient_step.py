"""The gradient of a batch: the same in pieces, in several processes, and after memory ran out."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.multiprocessing import spawn

from lookalike.learn.examples import Batch
from lookalike.learn.losses.weighted import LOSSES
from lookalike.learn.networks.photo_batches import PhotoBatch
from lookalike.learn.networks.processes import ALONE, launched
from lookalike.learn.networks.step import GradientStep
from lookalike.learn.objectives.objective import PairObjective
from lookalike.learn.settings import TrainingSettings

pytestmark = pytest.mark.card

IMAGES, WIDE = 7, 5
CLOSE = {torch.float64: 1e-9, torch.float32: 1e-5}


def model_of(dtype=torch.float64, dropout=0.0):
    torch.manual_seed(0)
    layers = nn.Linear(WIDE, 8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 3)
    return nn.Sequential(*layers).to(dtype)


def batch_of(dtype=torch.float64, processes=ALONE):
    """Two views of seven images, some of them similar; of several processes the inputs of this one."""
    draw = torch.Generator().manual_seed(1)
    views = torch.randn(2, IMAGES, WIDE, generator=draw, dtype=torch.float64).to(dtype)
    same = torch.arange(IMAGES) % 3
    weight = (same[:, None] == same[None]).float()
    shares = [processes.share(np.arange(IMAGES), rank) for rank in range(processes.count)]
    order = torch.from_numpy(np.concatenate([np.tile(part, 2) for part in shares]))
    inputs = views[:, torch.from_numpy(shares[processes.rank])].flatten(0, 1)
    return Batch(np.arange(IMAGES), inputs, weight[order][:, order], weight[order][:, order] > 0)


def gradient(model, batch, loss="supcon", **options):
    model.train()
    found = GradientStep(**options)(model, PairObjective(TrainingSettings(loss=loss)), batch, seed=3)
    return torch.cat([one.grad.flatten() for one in model.parameters()]), found


@pytest.mark.parametrize("loss", ["supcon", "con", "trpl"])
@pytest.mark.parametrize("micro", [1, 4, 13])
def test_in_pieces_it_is_the_gradient_of_the_whole_batch(loss, micro):
    whole, its = gradient(model_of(), batch_of(), loss)
    pieces, their = gradient(model_of(), batch_of(), loss, micro=micro)
    assert float(whole.norm()) > 0.01
    torch.testing.assert_close(pieces, whole, rtol=1e-9, atol=1e-12)
    assert their.value.item() == pytest.approx(its.value.item(), rel=1e-12)


def test_it_is_the_slope_of_the_loss():
    """By differences, from the definition."""
    model, batch = model_of(), batch_of()
    slope, _ = gradient(model, batch, micro=4)
    value, objective = model[0].bias, PairObjective(TrainingSettings(loss="supcon"))
    for place in range(3):
        ends = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                value[place] += step
                ends.append(float(objective(model(batch.inputs), batch).value))
                value[place] -= step
        assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(float(slope[8 * WIDE + place]), rel=1e-5, abs=1e-8)


def test_a_piece_draws_the_same_both_times():
    """With other dropout in its second pass the gradient would be that of no loss."""
    masks = []

    class Recorded(nn.Dropout):
        def forward(self, given):
            found = super().forward(given)
            masks.append(found.detach() != 0)
            return found

    model = model_of(dropout=0.5)
    model[2] = Recorded(0.5)
    gradient(model, batch_of(), micro=5)
    first, second = masks[:3], masks[3:]
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert not torch.equal(first[0], first[1])


def test_where_memory_runs_out_pieces_become_smaller_and_the_gradient_stays():
    class Cramped(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = model_of()

        def forward(self, given):
            if len(given) > 4:
                raise torch.OutOfMemoryError("CUDA out of memory")
            return self.inner(given)

    told, model = [], Cramped().train()
    step = GradientStep(told=told.append)
    step(model, PairObjective(TrainingSettings(loss="supcon")), batch_of(), seed=3)
    assert (told, step.micro) == ([7, 3], 3)
    whole, _ = gradient(model_of(), batch_of())
    torch.testing.assert_close(
        torch.cat([p.grad.flatten() for p in model.parameters()]), whole, rtol=1e-9, atol=1e-12
    )


def test_a_loss_that_is_not_finite_leaves_no_gradient():
    model = model_of()

    def infinite(vectors, batch):
        return LOSSES["supcon"](vectors, *batch.relation)._replace(value=vectors.sum() * torch.inf)

    for micro in (None, 4):
        GradientStep(micro)(model, infinite, batch_of(), seed=0)
        assert all(one.grad is None or not one.grad.any() for one in model.parameters())


def in_one_of_two(rank, folder, name):
    import os

    dtype = getattr(torch, name)
    os.environ |= {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
    os.environ["MASTER_PORT"] = (folder / "port").read_text()
    with launched(torch.device("cpu")) as processes:
        for micro in (None, 3):
            found, loss = gradient(
                model_of(dtype), batch_of(dtype, processes), micro=micro, processes=processes
            )
            np.save(folder / f"{rank}-{micro}.npy", np.append(found.numpy(), loss.value.item()))


@pytest.mark.parametrize("dtype", CLOSE)
def test_two_processes_have_the_gradient_of_one(tmp_path, dtype):
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        (tmp_path / "port").write_text(str(free.getsockname()[1]))
    spawn(in_one_of_two, (tmp_path, str(dtype).removeprefix("torch.")), nprocs=2)
    whole, loss = gradient(model_of(dtype), batch_of(dtype))
    wanted = np.append(whole.numpy(), loss.value.item())
    for micro in (None, 3):
        one, other = (np.load(tmp_path / f"{rank}-{micro}.npy") for rank in range(2))
        assert np.array_equal(one, other)
        assert np.linalg.norm(one - wanted) <= CLOSE[dtype] * np.linalg.norm(wanted)


def test_vectors_of_several_processes_are_put_in_the_order_of_views():
    vectors = torch.tensor(
        [[0.0], [1], [10], [11], [2], [12]]
    )  # process 1: images 0 and 1; process 2: image 2
    batch = PhotoBatch(np.arange(3), vectors, (2, 1))
    assert batch.by_view(vectors).flatten().tolist() == [0, 1, 2, 10, 11, 12]
