"""The figure of `lookalike bias`: every estimate and measure is there, and undefined bands leave no mark."""

import csv
import math
import xml.etree.ElementTree as ET
from pathlib import Path

from lookalike.audit.trust import KINDS
from lookalike.research.bias.encoder_pairs import band_name
from lookalike.research.bias.figure import bias_figure
from lookalike.research.bias.simulate import MEASURES
from lookalike.research.bias.statistics import BiasFigure, PooledMean

DOCS = Path(__file__).parents[2] / "docs"
SVG = "{http://www.w3.org/2000/svg}"


def cells(coverage_known: int) -> list[BiasFigure]:
    """EHR@5 with a bias in some bands, and two measures with their orders."""
    none = PooledMean(math.nan, math.nan, math.nan, 0, 0)
    return [
        BiasFigure("EHR@5", "bias", f"outside, {band_name(b)}", *PooledMean(0.1, 0.05, 0.2, 9, 3))
        if b < coverage_known
        else BiasFigure("EHR@5", "bias", f"outside, {band_name(b)}", *none)
        for b in range(5)
    ] + [
        BiasFigure(name, "ordered right", kind, *PooledMean(0.8, 0.75, 0.85, 500, 9))
        for name in ("EHR@5", "A<B")
        for kind in KINDS
    ]


def test_it_parses_and_names_every_measure_safely():
    root = ET.fromstring(bias_figure(cells(5), "a & b"))
    assert root.find(f"{SVG}title").text == "a & b"
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert {"EHR@5", "A<B", *KINDS} <= set(words)
    assert "A<B: 0.80 (one outside)" in root.find(f"{SVG}desc").text


def test_a_band_without_encoders_outside_has_no_point():
    def points(known: int) -> int:
        root = ET.fromstring(bias_figure(cells(known), "t"))
        return sum(len(line.get("points", "").split()) for line in root.iter(f"{SVG}polyline"))

    assert points(5) == 5
    assert points(2) == 2
    assert "nan" not in bias_figure(cells(0), "t")


def test_the_picture_of_the_documentation_is_drawn_from_the_kept_figures():
    with (DOCS / "research/results/bias.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    kept = [BiasFigure(*row[:3], *map(float, row[3:6]), *map(int, row[6:])) for row in rows]
    shown = (DOCS / "images/bias.svg").read_text(encoding="utf-8")
    title = ET.fromstring(shown).find(f"{SVG}title").text
    assert bias_figure(kept, title) == shown
    assert "DCS(half=7): 0.97 (both generators)" in shown
    assert set(MEASURES) <= {one.measure for one in kept if one.figure == "ordered right"}
