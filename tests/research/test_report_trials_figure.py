"""The figures of trials: a mark where the value is, whiskers where the interval ends, and all of it in words."""

import math
import re
from xml.etree import ElementTree

from lookalike.evaluate.significance.repeated_splits import OverSplits
from lookalike.research.trials.figure import GroundMeans, Series, dots, series

NAN = float("nan")
SVG = "{http://www.w3.org/2000/svg}"


def numbers(element, *names: str) -> list[float]:
    return [float(element.get(name)) for name in names]


def test_dots_are_at_their_values_and_whiskers_reach_the_ends():
    means = {
        "pretrained": OverSplits(0.6, 0.6, 0.6, 50),
        "SupCon": OverSplits(0.8, 0.7, 0.9, 50),
        "SupCon SPA": OverSplits(NAN, NAN, NAN, 0),
    }
    root = ElementTree.fromstring(dots([GroundMeans("a <catalog>", means)], "AUC"))
    first, second = root.iter(f"{SVG}circle")
    scale = [(float(first.get("cx")), 0.6), (float(second.get("cx")), 0.8)]
    slope = (scale[1][0] - scale[0][0]) / 0.2
    whisker = [line for line in root.iter(f"{SVG}line") if line.get("class").startswith("whisker")][1]
    low, high = (scale[0][1] + (x - scale[0][0]) / slope for x in numbers(whisker, "x1", "x2"))
    assert math.isclose(low, 0.7, abs_tol=1e-3)
    assert math.isclose(high, 0.9, abs_tol=1e-3)
    words = "".join(root.itertext())
    assert "undefined" in words
    assert "a <catalog>, SupCon: 0.800" in words


def test_series_rise_as_their_values_do():
    points = tuple((share, OverSplits(0.9 - share, NAN, NAN, 1)) for share in (0.0, 0.05, 0.2))
    flat = tuple((share, OverSplits(0.8, 0.75, 0.85, 9)) for share in (0.0, 0.05, 0.2))
    text = series([Series("falls", points), Series("stays", flat)], "AUC", "share flipped")
    root = ElementTree.fromstring(text)
    falls, stays = (
        [tuple(map(float, pair.split(","))) for pair in line.get("points").split()]
        for line in root.iter(f"{SVG}polyline")
    )
    assert [y for _, y in falls] == sorted(y for _, y in falls)
    assert len({y for _, y in stays}) == 1
    assert falls[1][1] - falls[0][1] == (falls[2][1] - falls[0][1]) / 4
    assert len([line for line in root.iter(f"{SVG}line") if line.get("class").startswith("whisker")]) == 3
    assert re.search("falls at 20%: 0.700", text)
