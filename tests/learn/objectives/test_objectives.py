"""The losses of self-supervised training and of classification, against what the papers say."""

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn

from lookalike.catalog.read import catalog_from
from lookalike.core.errors import LabelsError
from lookalike.learn.losses.weighted import supcon
from lookalike.learn.networks.photo_batches import PhotoBatch, shuffled
from lookalike.learn.objectives.classes import ClassObjective, classes_of, classifier
from lookalike.learn.objectives.dino import DinoObjective, PrototypeHead
from lookalike.learn.objectives.simclr import SimclrObjective


def batch(inputs, images):
    return PhotoBatch(np.arange(images), inputs)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def nt_xent(vectors, temperature):
    """Chen et al. 2020, Eq. 1, by a double loop."""
    n, total = len(vectors) // 2, 0.0
    z = [[float(x) for x in v / v.norm()] for v in vectors]
    cosine = [[sum(a * b for a, b in zip(one, other, strict=True)) for other in z] for one in z]
    for i in range(2 * n):
        others = sum(math.exp(cosine[i][a] / temperature) for a in range(2 * n) if a != i)
        total -= math.log(math.exp(cosine[i][(i + n) % (2 * n)] / temperature) / others)
    return total / (2 * n)


@pytest.mark.parametrize("temperature", [0.1, 0.5])
def test_simclr_is_nt_xent_and_supcon_of_the_other_view(temperature):
    vectors = drawn(10, 4)
    found = SimclrObjective(temperature)(vectors, batch(vectors, 5))
    assert found.value.item() == pytest.approx(nt_xent(vectors, temperature), rel=1e-6)
    other = torch.eye(5).tile(2, 2)
    same = supcon(vectors, other, other > 0, temperature=temperature)
    assert found.value.item() == pytest.approx(same.value.item(), rel=1e-6)
    assert (int(found.kept), int(found.negatives)) == (10, int(same.negatives))


def dino_by_hand(student, teacher, center, images, student_temp=0.1, teacher_temp=0.04):
    """Caron et al. 2021, Eq. 3 with the centre of Eq. 4: the mean over pairs of different views and over photos."""
    views, total, terms = len(student) // images, 0.0, 0
    for t in range(2):
        for s in range(views):
            if s == t:
                continue
            terms += 1
            for i in range(images):
                p = np.exp((teacher[t * images + i] - center) / teacher_temp)
                q = np.exp(student[s * images + i] / student_temp)
                total -= float((p / p.sum()) @ np.log(q / q.sum()))
    return total / (terms * images)


def test_dino_is_the_cross_entropy_of_views_with_a_centre_that_follows():
    torch.manual_seed(0)
    student = nn.Linear(4, 6, dtype=torch.float64)
    objective = DinoObjective(student, 6).double()
    teacher, center = copy.deepcopy(student), np.zeros(6)
    for step in range(3):
        views = (*(drawn(3, 4, seed=10 * step + one) for one in range(2)), drawn(6, 4, seed=99 + step))
        vectors = torch.cat([student(view) for view in views])
        found = objective(vectors, batch(views, 3))
        told = torch.cat([teacher(view) for view in views[:2]]).detach().numpy()
        wanted = dino_by_hand(vectors.detach().numpy(), told, center, 3)
        assert found.value.item() == pytest.approx(wanted, rel=1e-5)
        center = 0.9 * center + 0.1 * told.mean(0)
        with torch.no_grad():
            student.weight += 0.01 * torch.sign(torch.autograd.grad(found.value, student.weight)[0])
        share = (step + 1) / 3
        objective.follow(student, share)
        momentum = 1 - 0.004 * (math.cos(math.pi * share) + 1) / 2
        with torch.no_grad():
            teacher.weight.copy_(momentum * teacher.weight + (1 - momentum) * student.weight)
        torch.testing.assert_close(objective.teacher.weight, teacher.weight, rtol=1e-12, atol=0)


def test_the_state_of_dino_goes_on_where_it_was():
    torch.manual_seed(0)
    student = nn.Linear(4, 6)
    views = (drawn(3, 4).float(), drawn(3, 4, seed=1).float())
    one, other = DinoObjective(student, 6), DinoObjective(nn.Linear(4, 6), 6)
    vectors = torch.cat([student(view) for view in views])
    one(vectors, batch(views, 3))
    other.load_state_dict(one.state_dict())
    again = (each(vectors, batch(views, 3)).value.item() for each in (one, other))
    assert next(again) == next(again)


class Said(nn.Module):
    """A network whose outputs are its inputs."""

    def forward(self, given):
        return given


@pytest.mark.parametrize(
    ("outputs", "word"),
    [
        (torch.zeros(4, 8), "all prototypes alike"),
        (torch.eye(8)[[3, 3, 3, 3]] * 5, "one prototype"),
        (torch.eye(8)[:4], ""),
    ],
)
def test_a_collapse_of_dino_is_seen(outputs, word):
    objective = DinoObjective(Said(), 8)
    objective(torch.cat([outputs, outputs]), batch((outputs, outputs), 4))
    assert (word in objective.remark()) if word else not objective.remark()


def test_prototypes_are_compared_by_their_direction():
    head = PrototypeHead(5, 7, seed=0)
    given = drawn(3, 5).float()
    before = head(given)
    with torch.no_grad():
        head.prototypes *= 3
    torch.testing.assert_close(head(given), before)
    assert before.abs().max().item() <= 1 + 1e-6
    torch.testing.assert_close(PrototypeHead(5, 7, seed=0)(given), before)


def catalog(items, categories):
    names = [f"i{row}" for row in range(len(items))]
    return catalog_from(
        {"image": names, "item": items, "category": categories, "split": ["train"] * len(items)}
    ).catalog


def test_classification_is_the_sum_of_the_cross_entropies():
    made = catalog(["a", "a", "b", "c", "c", "c"], ["x", "x", "y", "y", "y", "y"])
    rows = np.array([0, 2, 3, 5])
    classes = classes_of(made, rows, "item+category")
    assert [one.count for one in classes] == [3, 2]
    scores = drawn(4, 5)
    found = ClassObjective(classes)(scores, PhotoBatch(rows, scores))
    wanted = 0.0
    for part, codes in ((scores[:, :3], [0, 1, 2, 2]), (scores[:, 3:], [0, 1, 1, 1])):
        for line, code in zip(part.tolist(), codes, strict=True):
            wanted -= math.log(math.exp(line[code]) / sum(map(math.exp, line))) / 4
    assert found.value.item() == pytest.approx(wanted, rel=1e-12)
    assert classifier(8, classes, seed=1).weight.shape == (5, 8)


@pytest.mark.parametrize(
    ("loss", "items", "categories", "problem"),
    [
        ("category", ["a", "a", "b"], ["x", "x", "x"], "same category"),
        ("item", ["a", "b", "c"], ["x", "y", "x"], "two photos"),
        ("item", ["a", "a", "a"], ["x", "y", "x"], "same item"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(loss, items, categories, problem):
    with pytest.raises(LabelsError, match=problem):
        classes_of(catalog(items, categories), np.arange(3), loss)


def test_batches_without_labels_hold_every_photo_once():
    rows = np.arange(100, 165)
    first, again, other = (shuffled(rows, 32, seed=0, epoch=epoch) for epoch in (0, 0, 1))
    assert sorted(np.concatenate(first)) == rows.tolist()
    assert [len(one) for one in first] == [22, 22, 21]
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])
