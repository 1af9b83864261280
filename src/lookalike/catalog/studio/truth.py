"""How alike two items are, and so the true label of every pair.

    similarity(a, b) = related(kind_a, kind_b) x product over g of (1 - importance_g x difference_g(a, b))

over the five respects g of `RESPECTS`, each difference in [0, 1]. One glaring difference is enough to make two
things unlike, and many small ones add up, as people judge. A pair is a positive if its similarity is at least
`THRESHOLD`.

| respect    | importance | difference                                                                           |
|------------|------------|--------------------------------------------------------------------------------------|
| silhouette | .80 | Euclidean distance of the silhouette numbers / .40                                          |
| proportion | .55 | Euclidean distance of the proportion numbers / .40                                          |
| material   | .65 | two materials: .8 if akin, else 1; one material: .5 of the distance of the texture numbers  |
| palette    | .75 | (.9 x distance of the body colours + .1 x distance of the frame colours) / .20              |
| ornament   | .55 | two ornaments: 1; one ornament: .5 of the distance of the carving numbers                   |

Each is cut at 1. The distance of colours is Euclidean over lightness, 1.3 x red-green and .8 x yellow-blue.

The label is a pure function of the attributes. Families keep to their own cells (`families`), and two cells of a
kind differ in some respect by so much that their items stay below the threshold:

| respect that differs | least difference between cells | similarity at most |
|----------------------|--------------------------------|--------------------|
| silhouette | (.6 - 4 x .08) / .40 = .70               | .44 |
| proportion | (.6 - 4 x .06) / .40 = .90               | .51 |
| material   | .80                                      | .48 |
| palette    | .9 x (.22 - 2 x .035) / .20 = .67        | .50 |
| ornament   | 1                                        | .45 |
| kind       |                                          | .40 |

So the positives of an item are all in its family, whose 8 to 15 items do not grow with the catalog: at every
size an item has the same number of positives.
"""

import numpy as np

from lookalike.catalog.studio.attributes import (
    CANE,
    KINDS,
    LACQUER,
    LEATHER,
    MATERIALS,
    METAL,
    STONE,
    VELVET,
    WEAVE,
    WOOD,
)
from lookalike.catalog.studio.items import Attributes, Studio

RESPECTS = ("silhouette", "proportion", "material", "palette", "ornament")
IMPORTANCE = np.array([0.80, 0.55, 0.65, 0.75, 0.55])
THRESHOLD = 0.55


def similarity(studio: Studio, a_items: np.ndarray, b_items: np.ndarray) -> np.ndarray:
    """Perceptual similarity in [0, 1] of item pairs; symmetric, 1 for an item with itself.

    >>> from lookalike.catalog.studio import studio
    >>> similarity(studio(200), np.array([3, 3, 3]), np.array([3, 1, 99])).round(2).tolist()
    [1.0, 0.7, 0.0]
    """
    return weighed(studio, a_items, b_items, IMPORTANCE)


def true_labels(studio: Studio, a_items: np.ndarray, b_items: np.ndarray) -> np.ndarray:
    """1 where two items are alike, 0 where not, as int8; an item with itself is 1."""
    return (similarity(studio, a_items, b_items) >= THRESHOLD).astype(np.int8)


def positives(studio: Studio, item: int) -> np.ndarray:
    """All items alike to this one, itself left out, in order. Looks at its family only.

    >>> from lookalike.catalog.studio import studio
    >>> len(positives(studio(200), 3)) in range(16)
    True
    """
    order, starts = studio.members
    family = studio.of.family[item]
    others = order[starts[family] : starts[family + 1]]
    others = others[others != item]
    return np.asarray(others[true_labels(studio, np.full(len(others), item), others) == 1])


def weighed(studio: Studio, a_items: np.ndarray, b_items: np.ndarray, importance: np.ndarray) -> np.ndarray:
    """The similarity of someone to whom the five respects matter this much."""
    of_a, of_b = (Attributes(*(column[items] for column in studio.of)) for items in (a_items, b_items))
    alike = _RELATED[of_a.kind, of_b.kind]
    for weight, difference in zip(importance, differences(of_a, of_b), strict=True):
        alike = alike * (1.0 - weight * difference)
    return np.asarray(alike)


def differences(of_a: Attributes, of_b: Attributes) -> tuple[np.ndarray, ...]:
    """The differences of pairs in the five respects, each (pairs,) in [0, 1]."""
    return (
        np.minimum(1.0, _distance(of_a.silhouette, of_b.silhouette) / 0.40),
        np.minimum(1.0, _distance(of_a.proportion, of_b.proportion) / 0.40),
        np.where(
            of_a.material == of_b.material,
            np.minimum(1.0, 0.5 * _distance(of_a.texture, of_b.texture)),
            _UNLIKE[of_a.material, of_b.material],
        ),
        np.minimum(
            1.0,
            (0.9 * colour_distance(of_a.body, of_b.body) + 0.1 * colour_distance(of_a.frame, of_b.frame))
            / 0.20,
        ),
        np.where(
            of_a.ornament == of_b.ornament, np.minimum(1.0, 0.5 * _distance(of_a.carving, of_b.carving)), 1.0
        ),
    )


def colour_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How far apart two colours look: (..., 3) display values each -> (...).

    >>> black, white = np.zeros((1, 3)), np.ones((1, 3))
    >>> colour_distance(black, white).round(6).tolist()
    [1.0]
    """
    return _distance(_opponent(a), _opponent(b))


def _opponent(colour: np.ndarray) -> np.ndarray:
    red, green, blue = (colour[..., channel].astype(np.float64) for channel in range(3))
    lightness = 0.30 * red + 0.59 * green + 0.11 * blue
    return np.stack([lightness, 1.3 * (red - green), 0.8 * (0.5 * (red + green) - blue)], axis=-1)


def _distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    total = np.zeros(a.shape[:-1])
    for column in range(a.shape[-1]):  # in a fixed order: a sum over an axis may go another way elsewhere
        apart = a[..., column].astype(np.float64) - b[..., column].astype(np.float64)
        total = total + apart * apart
    return np.asarray(np.sqrt(total))


def _table(
    count: int, usual: float, same: float, pairs: tuple[tuple[int, int], ...], between: float
) -> np.ndarray:
    table = np.full((count, count), usual)
    for a, b in pairs:
        table[a, b] = table[b, a] = between
    np.fill_diagonal(table, same)
    return table


_CHAIR, _SOFA, _STOOL, _TABLE, _SHELF, _CABINET = (
    KINDS.index(kind) for kind in ("chair", "sofa", "stool", "table", "shelf", "cabinet")
)
_RELATED = _table(
    len(KINDS), 0.10, 1.0, ((_CHAIR, _STOOL), (_CHAIR, _SOFA), (_STOOL, _TABLE), (_SHELF, _CABINET)), 0.40
)
_UNLIKE = _table(
    len(MATERIALS),
    1.0,
    0.0,
    (
        (WEAVE, VELVET),
        (VELVET, LEATHER),
        (WOOD, CANE),
        (LACQUER, METAL),
        (LACQUER, LEATHER),
        (LACQUER, STONE),
    ),
    0.8,
)
