"""The similarity of two items, and so the true label of every pair.

    similarity(a, b) = related(kind_a, kind_b) x product over g of (1 - importance_g x difference_g(a, b))

over the five respects g of `RESPECTS`, each difference in [0, 1]. One glaring difference is enough to make two
things unlike, and many small ones add up, as people judge. Small steps hardly show and large ones all look large, so
a difference is the square of a distance over the distance at which it is glaring, cut at 1. A pair is a positive if
its similarity is at least `THRESHOLD`.

| respect    | importance | what lies apart, and when it is glaring                                                  |
|------------|------------|------------------------------------------------------------------------------------------|
| silhouette | .85 | silhouette numbers, each times how much it shows (`attributes.SHOWS`): .35                      |
| proportion | .80 | proportion numbers: .36                                                                         |
| material   | .75 | two materials: 1 if one is in `attributes.OBVIOUS`, else .5; one: texture numbers, 1.4          |
| palette    | .75 | body colours: .16; and .4 of the difference of the frame colours: .8                            |
| ornament   | .75 | two ornaments: 1; one ornament: carving numbers, 1.2                                            |

Distances are Euclidean; of colours, see `attributes.colour_distance`. The numbers were set by looking: at pairs just
above and below the threshold, of every kind, and at the most similar pairs of two families, until none was left
that a careful person would answer otherwise by VSD's guideline (B.1): similar in style and design, suitable as an
alternative recommendation. One number of the outline that shows in part (a rounded back, a lower shelf), other legs, a
size between: similar. Two such at once: where people begin to differ. Another colour, pattern or outline: dissimilar.

The label is a pure function of the attributes. `families` sees to it that two families differ glaringly in some
respect, by so much that their items stay below the threshold wherever they are in their families:

| respect that differs | least difference between families                     | similarity at most |
|----------------------|-------------------------------------------------------|--------------------|
| silhouette | one number that shows: ((.6 - 2 x .14) / .35)^2 = .84           | .29 |
| proportion | one number: ((.6 - 2 x .13) / .36)^2 = .89                      | .29 |
| material   | an obvious one: 1                                               | .25 |
| palette    | in one material ((.22 - 2 x .028) / .16)^2 > 1                  | .25 |
|            | in two that are not obvious ((.20 - 2 x .028) / .16)^2 = .81    | .25 |
| ornament   | 1                                                               | .25 |
| kind       |                                                                 | .25 |

So the positives of an item are all in its family, whose 10 to 16 items do not grow with the catalog: at every
size an item has the same number of positives.
"""

import numpy as np

from lookalike.studio.attributes import (
    KINDS,
    MATERIALS,
    OBVIOUS,
    SHOWS,
    Attributes,
    colour_distance,
    distance,
)
from lookalike.studio.items import Studio

RESPECTS = ("silhouette", "proportion", "material", "palette", "ornament")
IMPORTANCE = np.array([0.85, 0.80, 0.75, 0.75, 0.75])
THRESHOLD = 0.40


def similarity(studio: Studio, a_items: np.ndarray, b_items: np.ndarray) -> np.ndarray:
    """Perceptual similarity in [0, 1] of item pairs; symmetric, 1 for an item with itself.

    >>> from lookalike.studio import studio
    >>> similarity(studio(200), np.array([3, 3, 3]), np.array([3, 1, 99])).round(2).tolist()
    [1.0, 0.91, 0.0]
    """
    return weighed(studio, a_items, b_items, IMPORTANCE)


def true_labels(studio: Studio, a_items: np.ndarray, b_items: np.ndarray) -> np.ndarray:
    """1 where two items are alike, 0 where not, as int8; an item with itself is 1."""
    return (similarity(studio, a_items, b_items) >= THRESHOLD).astype(np.int8)


def positives(studio: Studio, item: int) -> np.ndarray:
    """All items alike to this one, itself left out, in order. Looks at its family only.

    >>> from lookalike.studio import studio
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
        _seen(distance(of_a.silhouette * SHOWS[of_a.kind], of_b.silhouette * SHOWS[of_b.kind]) / 0.35),
        _seen(distance(of_a.proportion, of_b.proportion) / 0.36),
        np.where(
            of_a.material == of_b.material,
            _seen(distance(of_a.texture, of_b.texture) / 1.4),
            _UNLIKE[of_a.material, of_b.material],
        ),
        np.minimum(
            1.0,
            _seen(colour_distance(of_a.body, of_b.body) / 0.16)
            + 0.4 * _seen(colour_distance(of_a.frame, of_b.frame) / 0.8),
        ),
        np.where(of_a.ornament == of_b.ornament, _seen(distance(of_a.carving, of_b.carving) / 1.2), 1.0),
    )


def _seen(apart: np.ndarray) -> np.ndarray:
    """Small steps hardly show, large ones all look large: the square, cut at 1."""
    return np.minimum(1.0, apart * apart)


def _related() -> np.ndarray:
    table = np.full((len(KINDS), len(KINDS)), 0.10)
    for pair in (("chair", "stool"), ("chair", "sofa"), ("stool", "table"), ("shelf", "cabinet")):
        one, other = (KINDS.index(kind) for kind in pair)
        table[one, other] = table[other, one] = 0.25
    np.fill_diagonal(table, 1.0)
    return table


_RELATED = _related()
_OBVIOUS = np.isin(np.arange(len(MATERIALS)), OBVIOUS)
_UNLIKE = np.where(_OBVIOUS[:, None] | _OBVIOUS, 1.0, 0.5) * (1.0 - np.eye(len(MATERIALS)))
