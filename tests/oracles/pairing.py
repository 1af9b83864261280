"""Asymmetric recall and the loss of the adaptation head, written slowly from ADAPT."""

import math
from itertools import permutations

import numpy as np


def recall(table, k, tie=1e-6):
    """Every tie order of both lists of every pair, one by one."""
    shares = []
    for pair in range(len(table)):
        left = _found(list(table[pair]), pair, k, tie)
        right = _found([row[pair] for row in table], pair, k, tie)
        both = [one or other for one in left for other in right]
        shares.append(sum(both) / len(both))
    return sum(shares) / len(shares)


def _found(scores, wanted, k, tie):
    """Whether the wanted place is in the top k, for every order of what ties with it."""
    above = [at for at, one in enumerate(scores) if one > scores[wanted] + tie]
    equal = [at for at, one in enumerate(scores) if abs(one - scores[wanted]) <= tie]
    return [wanted in [*above, *order][:k] for order in permutations(equal)]


def loss(left, right, sigma, apart=None):
    """Eq. 1: the mean of two cross-entropies with the identity matrix; `apart` entries are in no softmax."""
    cosine = [[_cosine(a, b) for b in right] for a in left]
    taking_part = [[apart is None or not apart[i][j] for j in range(len(right))] for i in range(len(left))]
    return (_entropy(cosine, taking_part, sigma) + _entropy(_turned(cosine), _turned(taking_part), sigma)) / 2


def _entropy(cosine, taking_part, sigma):
    each = []
    for i, row in enumerate(cosine):
        powers = [math.exp(sigma * one) for one, part in zip(row, taking_part[i], strict=True) if part]
        each.append(-math.log(math.exp(sigma * row[i]) / sum(powers)))
    return sum(each) / len(each)


def _turned(table):
    return [list(column) for column in zip(*table, strict=True)]


def _cosine(a, b):
    sizes = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / sizes if sizes else 0.0


def tables(seeds, pairs=7):
    """Small tables with and without ties."""
    for seed in seeds:
        random = np.random.default_rng(seed)
        yield (
            random.uniform(-1, 1, (pairs, pairs)) if seed % 2 else random.integers(-2, 3, (pairs, pairs)) / 4
        )
