"""SupCon, Con and TRPL (Khosla Eq. 2; Hadsell; Weinberger; VSD 6.1), a loop per sum. Nothing from src.

Vectors are lists of numbers, W a list of lists, judged a list of lists of truths. Cost: n^3 for TRPL.
"""

from collections.abc import Sequence
from math import exp, fsum, log, sqrt
from typing import NamedTuple

Vectors = Sequence[Sequence[float]]
Weights = Sequence[Sequence[float]]
Judged = Sequence[Sequence[bool]]


class Outcome(NamedTuple):
    """The value, and what it was made of."""

    value: float
    kept: int
    skipped: int
    negatives: int


def unit(vector: Sequence[float]) -> list[float]:
    """The vector on the unit sphere; a zero vector stays."""
    length = sqrt(fsum(x * x for x in vector))
    return [x / length if length else 0.0 for x in vector]


def distance(a: Sequence[float], b: Sequence[float]) -> float:
    """Euclidean, from the differences."""
    return sqrt(fsum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """The product of unit vectors."""
    return fsum(x * y for x, y in zip(a, b, strict=True))


def positives(W: Weights, i: int) -> list[int]:
    """Who is positive to i: never i itself."""
    return [p for p in range(len(W)) if p != i and W[i][p] > 0]


def negatives(W: Weights, judged: Judged, unjudged: str, i: int) -> list[int]:
    """Who is negative to i: P is 0, and a person said so or nobody need have."""
    return [n for n in range(len(W)) if n != i and W[i][n] == 0 and (judged[i][n] or unjudged == "negative")]


def number_of_negatives(W: Weights, judged: Judged, unjudged: str) -> int:
    """Ordered pairs."""
    return sum(len(negatives(W, judged, unjudged, i)) for i in range(len(W)))


def supcon(vectors: Vectors, W: Weights, judged: Judged, unjudged: str, temperature: float) -> Outcome:
    """Mean over anchors with a positive of -sum_p W_ip log softmax / sum_p W_ip."""
    z = [unit(v) for v in vectors]
    losses = []
    for i in range(len(z)):
        P, N = positives(W, i), negatives(W, judged, unjudged, i)
        if not P:
            continue
        top = max(cosine(z[i], z[a]) for a in P + N) / temperature
        below = log(fsum(exp(cosine(z[i], z[a]) / temperature - top) for a in P + N)) + top
        logs = [W[i][p] * (cosine(z[i], z[p]) / temperature - below) for p in P]
        losses.append(-fsum(logs) / fsum(W[i][p] for p in P))
    mean = fsum(losses) / len(losses) if losses else 0.0
    return Outcome(mean, len(losses), len(z) - len(losses), number_of_negatives(W, judged, unjudged))


def contrastive(vectors: Vectors, W: Weights, judged: Judged, unjudged: str, margin: float) -> Outcome:
    """Weighted mean of d^2 over positives plus mean of max(0, m - d)^2 over negatives."""
    z = [unit(v) for v in vectors]
    pull, weights, push = [], [], []
    for i in range(len(z)):
        for p in positives(W, i):
            pull.append(W[i][p] * distance(z[i], z[p]) ** 2)
            weights.append(W[i][p])
        for n in negatives(W, judged, unjudged, i):
            push.append(max(0.0, margin - distance(z[i], z[n])) ** 2)
    value = (fsum(pull) / fsum(weights) if weights else 0.0) + (fsum(push) / len(push) if push else 0.0)
    return Outcome(value, len(pull), 0, len(push))


def triplet(
    vectors: Vectors, W: Weights, judged: Judged, unjudged: str, margin: float, triplets: str
) -> Outcome:
    """Weighted mean of max(0, d_ip - d_in + m) over the chosen triplets."""
    z = [unit(v) for v in vectors]
    costs, weights, anchors = [], [], set()
    for i in range(len(z)):
        for p in positives(W, i):
            for n in negatives(W, judged, unjudged, i):
                near, far = distance(z[i], z[p]), distance(z[i], z[n])
                chosen = {"all": True, "hard": far < near, "semihard": near < far < near + margin}
                if chosen[triplets]:
                    costs.append(W[i][p] * max(0.0, near - far + margin))
                    weights.append(W[i][p])
                    anchors.add(i)
    value = fsum(costs) / fsum(weights) if weights else 0.0
    return Outcome(value, len(anchors), len(z) - len(anchors), number_of_negatives(W, judged, unjudged))
