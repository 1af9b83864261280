"""The figures as SVG, and the colours they and the page use."""

import math
import re
from importlib.resources import files
from xml.etree import ElementTree

import numpy as np
import pytest
from report_sample import NASTY

from lookalike.core.errors import ArgumentError
from lookalike.report.figures.measures import HEAT_STEPS, Mark, dot_plot, heat_map

OVERLAP = np.array([[np.nan, 12.34, 0.0], [12.34, np.nan, 100.0], [0.0, 100.0, np.nan]])
READABLE = 4.5  # WCAG 2.2, contrast (minimum)


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter("text")]


def test_the_heat_map_prints_every_value_and_leaves_the_diagonal_empty():
    svg = heat_map(("a", "b", "c"), OVERLAP, "Overlap")
    text = texts(svg)
    for value in ("12.3", "0.0", "100.0"):
        assert text.count(value) == 2
    assert svg.count('class="heat-none"') == 3
    assert "nan" not in svg


def test_the_heat_map_has_a_text_alternative():
    root = ElementTree.fromstring(heat_map(("a", "b", "c"), OVERLAP, "Overlap"))
    assert root.get("role") == "img"
    assert root.findtext("title") == "Overlap"
    assert "b and a: 12.3%" in root.findtext("desc")


def test_the_heat_map_stays_within_its_frame_with_long_names():
    names = tuple(f"timm:vit_base_patch{i}_dinov2" for i in range(4))
    root = ElementTree.fromstring(heat_map(names, np.full((4, 4), 5.0), "Overlap"))
    width = float(root.get("width"))
    assert all(0 <= float(rect.get("x")) <= width - float(rect.get("width")) for rect in root.iter("rect"))


def test_an_overlap_of_another_shape_is_refused():
    with pytest.raises(ArgumentError, match="2 generators"):
        heat_map(("a", "b"), OVERLAP, "Overlap")


def test_a_heat_map_of_one_value_or_only_nan_is_shown():
    ElementTree.fromstring(heat_map(("a",), np.array([[np.nan]]), "Overlap"))


def test_generators_and_others_differ_in_shape_and_word():
    svg = dot_plot([Mark("g", True, 0.5), Mark("o", False, 0.7)], "AUC_mac")
    root = ElementTree.fromstring(svg)
    assert len(list(root.iter("circle"))) == len(list(root.iter("polygon"))) == 2  # the mark and its legend
    assert texts(svg).count("generator") == texts(svg).count("not a generator") == 2


def test_the_dot_plot_orders_by_value_and_puts_undefined_last():
    marks = [Mark("low", True, 0.1), Mark("none", False, math.nan), Mark("high", True, 0.9)]
    svg = dot_plot(marks, "AUC_mac")
    assert [text for text in texts(svg) if text in ("low", "none", "high")] == ["high", "low", "none"]
    assert "undefined" in texts(svg)
    assert "nan" not in svg
    assert len(list(ElementTree.fromstring(svg).iter("polygon"))) == 1  # the legend's alone


def test_the_truth_is_a_bar_with_its_word():
    svg = dot_plot([Mark("a", True, 0.5, 0.4)], "EHR@5")
    assert svg.count('class="truth"') == 2
    assert "truth 0.400" in texts(svg)
    assert "ground truth 0.400" in ElementTree.fromstring(svg).findtext("desc")
    assert "truth" not in dot_plot([Mark("a", True, 0.5)], "EHR@5")


def test_values_outside_zero_and_one_stay_inside_the_plot():
    root = ElementTree.fromstring(dot_plot([Mark("a", True, -3.2), Mark("b", True, 7.9)], "x"))
    assert all(0 < float(dot.get("cx")) < 340 for dot in root.iter("circle"))


def test_rows_with_an_address_are_links_and_the_others_are_not():
    marks = [Mark("a", True, 0.5, low=0.4, high=0.6), Mark("b", False, 0.2)]
    root = ElementTree.fromstring(dot_plot(marks, "x", {"a": "/q?m=1&e=a"}))
    (link,) = root.iter("a")
    assert link.get("href") == "/q?m=1&e=a"
    assert "a (generator): 0.500, interval [0.400, 0.600]" in link.get("aria-label")
    assert [text.text for text in link.iter("text")][:2] == ["a", "0.500"]
    assert root.get("role") == "group"  # a picture would hide its links from screen readers
    assert ElementTree.fromstring(dot_plot(marks, "x")).get("role") == "img"


def test_differences_have_a_line_at_zero():
    root = ElementTree.fromstring(
        dot_plot([Mark("a", True, 0.31), Mark("b", True, 0.44)], "x", differences=True)
    )
    (line,) = [one for one in root.iter("line") if one.get("class") == "zero"]
    ticks = {t.text: float(t.get("x")) for t in root.iter("text") if t.get("text-anchor") == "middle"}
    assert float(line.get("x1")) == float(line.get("x2")) == ticks["0.00"]


@pytest.mark.parametrize("name", [NASTY, "a" * 200, "\x00\udcff", ""])
def test_any_name_gives_well_formed_svg(name):
    ElementTree.fromstring(dot_plot([Mark(name, True, 0.5, 0.4)], name))
    ElementTree.fromstring(heat_map((name, "b"), np.full((2, 2), 1.0), name))


def schemes() -> dict[str, dict[str, str]]:
    css = files("lookalike.report").joinpath("templates/figures.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]
    return {
        name: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        for name, block in {"light": light, "dark": dark}.items()
    }


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_on_its_ground(scheme):
    colours = schemes()[scheme]
    pairs = [(ink, ground) for ink in ("ink", "soft", "accent") for ground in ("paper", "raised", "well")]
    pairs += [(word, ground) for word in ("similar", "dissimilar") for ground in ("paper", "raised")]
    pairs += [("warn-ink", "warn"), ("on-sign", "similar"), ("on-sign", "dissimilar")]
    pairs += [(f"heat-text-{step}", f"heat-{step}") for step in range(HEAT_STEPS)]
    weak = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in pairs}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < READABLE} == {}
