"""How far two signatures are apart: as they are, and laid on each other as a crop lies on its photo.

A distance is a share of the photos' own contrast, so that brightness and contrast drop out of it.
"""

import numpy as np

from lookalike.catalog.duplicates.signature import CELLS, COARSE, LIGHT

LEAST_CONTRAST = 8.0  # tones; what varies less is told apart as if it varied so much
COLOUR = 2.0  # the weight of a byte of colour, which stands for four cells, beside a byte of light
STEPS = 3
LEAST_GAIN = 0.3
HOPEFUL = 0.2
MOST_SHIFT, MOST_ZOOM = 1.0, 0.12  # of a cell, of the whole: a crop of 5 % is 0.8 of a cell
_BLOCK = 2_000
_BLUR = {cells: np.zeros((cells, cells), np.float32) for cells in (CELLS, COARSE)}
for _cells, _matrix in _BLUR.items():  # 1/4, 1/2, 1/4; a border cell stands in for its missing neighbour
    for _at in range(_cells):
        for _other, _weight in ((_at, 0.5), (max(_at - 1, 0), 0.25), (min(_at + 1, _cells - 1), 0.25)):
            _matrix[_at, _other] += _weight


def tones(signatures: np.ndarray) -> np.ndarray:
    """Signatures (n x 384 bytes) as numbers: light less its mean, colour around 0 (n x 384, float32)."""
    vectors = signatures.astype(np.float32)
    vectors[:, :LIGHT] -= vectors[:, :LIGHT].mean(axis=1, keepdims=True)
    vectors[:, LIGHT:] = COLOUR * (vectors[:, LIGHT:] - 128)
    return vectors


def contrast(vectors: np.ndarray) -> np.ndarray:
    """The length of tones, never less than that of a photo which varies by 8 tones."""
    return np.maximum(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)), LEAST_CONTRAST * CELLS)


def direct(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Distances of rows of tones, each divided by its contrast: sqrt(2 - 2 correlation), 0 to 2."""
    return np.linalg.norm(a / contrast(a)[:, None] - b / contrast(b)[:, None], axis=1)


def aligned(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Distances of rows of tones, blurred and the one laid on the other as well as a small crop allows.

    min over p, g, o of |a - g b(p) - o| / min contrast, where b(p) is b shifted by up to a cell and zoomed
    by up to 12 % in either direction, found by three Gauss-Newton steps from p = 0, or the same with
    a and b exchanged if that is less. The blur (1/4, 1/2, 1/4) takes away what resampling does to fine detail.
    Where a first step from both sides leaves more than 0.2, no other is taken and that is the distance.
    """
    found = np.empty(len(a), np.float32)
    for start in range(0, len(a), _BLOCK):
        part = slice(start, start + _BLOCK)
        found[part] = _first_step(_blurred(a[part]), _blurred(b[part]))
        near = start + np.flatnonzero(found[part] <= HOPEFUL)
        if len(near):
            found[near] = np.minimum(_laid(a[near], b[near]), _laid(b[near], a[near]))
    return found


def _planes(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Light (n x 16 x 16) and colour (n x 2 x 8 x 8)."""
    count = len(vectors)
    return (
        vectors[:, :LIGHT].reshape(count, CELLS, CELLS),
        vectors[:, LIGHT:].reshape(count, 2, COARSE, COARSE),
    )


def _blurred(vectors: np.ndarray) -> np.ndarray:
    light, colour = _planes(vectors)
    fine, coarse = _BLUR[CELLS], _BLUR[COARSE]
    planes = (fine @ light @ fine.T, coarse @ colour @ coarse.T)
    return np.concatenate([plane.reshape(len(vectors), -1) for plane in planes], axis=1)


def _first_step(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What shift, zoom, gain and brightness of the mean of a and b leave of a - b; the same for b and a."""
    middle, apart = (a + b) / 2, a - b
    basis = np.stack([*_slopes(middle), middle, _flat(middle)], axis=2)
    left = apart - (basis @ _fitted(apart, basis)[..., None])[..., 0]
    return np.linalg.norm(left, axis=1) / np.minimum(contrast(a), contrast(b))


def _laid(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What is left of a when the best b(p) is taken from it, as a share of the lesser contrast."""
    place = np.zeros((len(a), 4), np.float32)  # shift and zoom across, shift and zoom down
    most = np.array([MOST_SHIFT, MOST_ZOOM] * 2, np.float32)
    wanted, laid = _blurred(a), _blurred(b)
    flat = _flat(a)
    for _ in range(STEPS):
        slopes = _slopes((wanted + laid) / 2)
        fit = _fitted(wanted, np.stack([*slopes, laid, flat], axis=2))
        place = (place + fit[:, :4] / np.maximum(fit[:, 4:5], LEAST_GAIN)).clip(-most, most)
        laid = _blurred(_moved(b, place))  # blurred after: what lies beyond the border is then alike in both
    basis = np.stack([laid, flat], axis=2)
    left = wanted - (basis @ _fitted(wanted, basis)[..., None])[..., 0]
    return np.linalg.norm(left, axis=1) / np.minimum(contrast(wanted), contrast(laid))


def _flat(vectors: np.ndarray) -> np.ndarray:
    """The vector of a change in brightness."""
    flat = np.zeros_like(vectors)
    flat[:, :LIGHT] = 1
    return flat


def _fitted(wanted: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Least-squares coefficients; a trifle is added to the diagonal, for photos without any contrast."""
    turned = basis.swapaxes(1, 2)
    normal = (turned @ basis).astype(np.float64)
    normal[:, range(basis.shape[2]), range(basis.shape[2])] += 1e-3
    aimed = (turned @ wanted[..., None]).astype(np.float64)
    return np.linalg.solve(normal, aimed)[..., 0].astype(np.float32)


def _slopes(vectors: np.ndarray) -> list[np.ndarray]:
    """How each cell changes with a shift (per cell of light) and a zoom (about the middle), across and down."""
    made: list[list[np.ndarray]] = [[], [], [], []]
    for plane in _planes(vectors):
        cells = plane.shape[-1]
        off = ((np.arange(cells) + 0.5) * CELLS / cells - CELLS / 2).astype(np.float32)
        across, down = (np.gradient(plane, axis=axis) * np.float32(cells / CELLS) for axis in (-1, -2))
        for slope, parts in zip((across, across * off, down, down * off[:, None]), made, strict=True):
            parts.append(slope.reshape(len(vectors), -1))
    return [np.concatenate(parts, axis=1) for parts in made]


def _moved(vectors: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Signatures shifted and zoomed, by linear interpolation; beyond the border lies the border."""
    moved = []
    for plane in _planes(vectors):
        across, down = (_sampling(plane.shape[-1], place[:, at], place[:, at + 1]) for at in (0, 2))
        if plane.ndim == 4:
            across, down = across[:, None], down[:, None]
        moved.append((down @ plane @ across.swapaxes(-1, -2)).reshape(len(vectors), -1))
    return np.concatenate(moved, axis=1)


def _sampling(cells: int, shift: np.ndarray, zoom: np.ndarray) -> np.ndarray:
    """Matrices (pairs x cells x cells) that read a line of cells at shifted and zoomed places."""
    off = np.arange(cells, dtype=np.float32) + np.float32(0.5 - cells / 2)
    at = (cells - 1) / 2 + (1 + zoom)[:, None] * off + shift[:, None] * np.float32(cells / CELLS)
    at = at.clip(0, cells - 1)
    before = np.minimum(at.astype(np.int64), cells - 2)
    part = (at - before).astype(np.float32)
    matrices = np.zeros((len(shift), cells, cells), np.float32)
    pair, line = np.arange(len(shift))[:, None], np.arange(cells)
    matrices[pair, line, before] = 1 - part
    matrices[pair, line, before + 1] = part
    return matrices
