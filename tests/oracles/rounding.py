"""How far float32 results may be from exact ones on any machine, from error analysis. Nothing here comes from src.

A sum of n products in float32, in any order and with or without fused operations, is off by at most

    gamma_n |x| |y|,    gamma_n = n u / (1 - n u),    u = 2^-24

(Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, Equation 3.5).
"""

import numpy as np

U = 2.0**-24


def gamma(n: int) -> float:
    """Relative error of n roundings in a row."""
    return n * U / (1 - n * U)


def score_error(vectors: object, similarity: str) -> float:
    """Bound on the error of the score of any two rows: cosine, dot product, or minus half the squared distance.

    R is the largest length of a row and n the dimension.

    - Storing a vector as float32 is one rounding of each entry, dividing by its length three more (length, its
      reciprocal, the product): cosine gamma_(n + 8), with both vectors.
    - dot: gamma_(n + 2) R^2.
    - euclidean: a median c of coordinates is subtracted, and c_j^2 is at most twice the mean square of coordinate j,
      so |x - c| <= (1 + sqrt 2) R < 2.5 R. Rounding of x and of x - c, the squared lengths (4 roundings), n + 1
      products and the last difference: gamma_(n + 10) (2.5 R + 2.5 R)^2 / 2.
    """
    rows = np.asarray(vectors, np.float64)
    n, reach = rows.shape[1], float((rows**2).sum(axis=1).max())
    if similarity == "cosine":
        return gamma(n + 8)
    return gamma(n + 2) * reach if similarity == "dot" else gamma(n + 10) * 12.5 * reach


def shown_error(vectors: object, similarity: str) -> float:
    """Bound on the error of the score that people read, where a Euclidean distance is sqrt(-2 score).

    |sqrt a - sqrt b| <= sqrt |a - b|.
    """
    error = score_error(vectors, similarity)
    return float(np.sqrt(2 * error)) if similarity == "euclidean" else error


def exact_scores(vectors: object, similarity: str) -> np.ndarray:
    """Scores of all pairs of rows in float64."""
    rows = np.asarray(vectors, np.float64)
    product, square = rows @ rows.T, (rows**2).sum(axis=1)
    if similarity == "cosine":
        return product / np.sqrt(np.outer(square, square))
    return product if similarity == "dot" else product - (square[:, None] + square) / 2


def undecided(vectors: object, similarity: str, query: int, candidate: int) -> int:
    """How many rows score so near a candidate that rounding may decide whether they rank above it, tie or neither.

    Scores within the tie tolerance are equal: 1e-6 of cosine, for the others at most 1e-6 of the largest score.
    """
    reach = {"cosine": 1.0, "dot": 1.0, "euclidean": 12.5}[similarity]
    if similarity != "cosine":
        reach *= float((np.asarray(vectors, np.float64) ** 2).sum(axis=1).max())
    scores = exact_scores(vectors, similarity)[query]
    window = 1e-6 * reach + 2 * score_error(vectors, similarity)
    return int(np.sum(np.abs(scores - scores[candidate]) <= window)) - 1


def network_error(terms: int, expected: np.ndarray) -> float:
    """How far two float32 runs of one network may be apart: 8 u times the products in a chain, of the largest entry.

    By the probabilistic analysis of Higham and Mary (2019, SIAM J. Sci. Comput. 41, Theorem 2.4) a sum of n products is
    off by more than 8 sqrt(n) u sum |x y| with probability below 1e-13, and with weights of both signs sum |x y| is
    about sqrt(n) times the sum. `terms` adds up n over the layers.
    """
    return 8 * U * terms * float(np.abs(expected).max())


def terms_of(module: object) -> int:
    """Products in a chain through a torch module: the sum of the fan-ins of its layers."""
    return sum(value[0].numel() for value in module.parameters() if value.ndim > 1)
