"""Counting in finished rows by torch, on the device where they are: the same results as `kernels`, by its names.

`scores` is a tensor; everything else is a numpy array as it is there, so a caller need not know where it runs.
torch is imported where it is used: without a device nobody waits for it.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

SPARE = 32  # units looked at beyond the top K, in case of ties


def rank_block(
    scores: "torch.Tensor",
    classes: np.ndarray,
    hidden_start: np.ndarray,
    hidden: np.ndarray,
    judged_start: np.ndarray,
    target: np.ndarray,
    tolerance: np.ndarray,
    score: np.ndarray,
    above: np.ndarray,
    tied: np.ndarray,
) -> None:
    """Judged ranks of one block of finished rows (see `kernels.rank_block`).

    The labels of a row take one slot each; a slot of all rows is compared and summed at a time.
    """
    import torch

    values = best_of_units(hide(scores, hidden_start, hidden), classes)
    here = slice(int(judged_start[0]), int(judged_start[-1]))
    count = np.diff(judged_start)
    row = np.repeat(np.arange(len(count)), count)
    slot = np.arange(len(row)) - np.repeat(judged_start[:-1] - judged_start[0], count)
    place = put(row, scores), put(slot, scores)
    read = values[place[0], put(target[here], scores)]
    slack = put(tolerance, scores)[place[0]]
    # Slots without a label keep infinite thresholds, above which nothing counts.
    low = torch.full((len(count), int(count.max())), torch.inf, device=scores.device)
    high = low.clone()
    low[place], high[place] = read - slack, read + slack
    better, near = torch.zeros_like(low, dtype=torch.int64), torch.zeros_like(low, dtype=torch.int64)
    for s in range(low.shape[1]):
        better[:, s] = (values > high[:, s : s + 1]).sum(1)
        near[:, s] = (values >= low[:, s : s + 1]).sum(1)
    score[here] = read.cpu().numpy()
    above[here] = better[place].cpu().numpy()
    tied[here] = near[place].cpu().numpy() - above[here] - 1


def top_block(
    scores: "torch.Tensor",
    classes: np.ndarray,
    order: np.ndarray,
    hidden_start: np.ndarray,
    hidden: np.ndarray,
    tolerance: np.ndarray,
    top_values: np.ndarray,
    top_units: np.ndarray,
    top_columns: np.ndarray,
) -> None:
    """The K best units of each finished row, and the column of each (see `kernels.top_block`).

    The device finds the units that may be among them, and the compiled kernel orders ties.
    Rows with more ties than that leaves room for (a constant encoder) are ordered as a whole.
    """
    from lookalike.rank.engine import kernels

    values = best_of_units(hide(scores, hidden_start, hidden), classes)
    k = top_values.shape[1]
    found, unit = values.topk(min(k + SPARE, values.shape[1]), dim=1)
    may, units = found.cpu().numpy(), unit.cpu().numpy()
    least = may[:, k - 1] - tolerance  # -inf where fewer than K are left: then none is missing
    crowded = (may[:, -1] >= least) & (may[:, -1] > kernels.HIDDEN) & (may.shape[1] < values.shape[1])
    places = np.empty(values.shape[1], np.int64)
    for b in range(len(may)):
        if crowded[b]:
            whole = values[b].cpu().numpy()
            filled = kernels.best_k(whole, order, tolerance[b], places, top_values[b], top_units[b])
        else:
            names = units[b]
            filled = kernels.best_k(may[b], order[names], tolerance[b], places, top_values[b], top_units[b])
            top_units[b, :filled] = names[top_units[b, :filled]]
        top_units[b, filled:] = -1
    top_columns[:] = best_columns(scores, classes, top_units, tolerance)


def hide(scores: "torch.Tensor", hidden_start: np.ndarray, hidden: np.ndarray) -> "torch.Tensor":
    """The same rows, with minus infinity in the columns that are no candidates."""
    row = np.repeat(np.arange(len(hidden_start) - 1), np.diff(hidden_start))
    scores[put(row, scores), put(hidden, scores)] = float("-inf")
    return scores


def best_of_units(scores: "torch.Tensor", classes: np.ndarray) -> "torch.Tensor":
    """best[:, u] = the best score among the images of unit u; the rows themselves where each has one."""
    import torch

    if len(classes) == 1 and classes[0, 0] == 1:
        return scores
    best = torch.empty((len(scores), int(classes[:, 1].sum())), device=scores.device)
    for size, units, column, unit in classes.tolist():
        images = scores[:, column : column + size * units].view(len(scores), size, units)
        torch.amax(images, dim=1, out=best[:, unit : unit + units])
    return best


def best_columns(
    scores: "torch.Tensor", classes: np.ndarray, units: np.ndarray, tolerance: np.ndarray
) -> np.ndarray:
    """The column of the best image of each unit, the first of those within the tolerance of it; -1 of unit -1."""
    at = np.maximum(np.searchsorted(classes[:, 3], units, side="right") - 1, 0)
    size, wide, column, first = (classes[at, part][..., None] for part in range(4))
    turn = np.arange(classes[:, 0].max())
    # A unit with fewer images than the largest shows its first one again, which changes no best and no first.
    of_unit = column + np.where(turn < size, turn, 0) * wide + np.maximum(units, 0)[..., None] - first
    rows = put(np.arange(len(units)), scores)[:, None, None]
    seen = scores[rows, put(of_unit, scores)].cpu().numpy()
    good = seen >= seen.max(axis=-1, keepdims=True) - tolerance[:, None, None]
    chosen = np.take_along_axis(of_unit, good.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    return np.where(units >= 0, chosen, -1)


def put(array: np.ndarray, beside: "torch.Tensor") -> "torch.Tensor":
    """An array as a tensor on the device of another."""
    import torch

    return torch.from_numpy(np.ascontiguousarray(array)).to(beside.device)
