"""docs/research/studio.md shows the pictures and figures of this version."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.studio import studio, truth_claims
from lookalike.studio.claims import expert_claims

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "research" / "studio.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pictures():
    return runpy.run_path(str(ROOT / "examples" / "studio_sheets.py"))["pictures"]()


@pytest.mark.parametrize("name", ["studio.png", "likeness.png"])
def test_the_pictures_are_those_of_this_version(pictures, name):
    assert f"images/{name}" in PAGE
    shown = np.asarray(Image.open(ROOT / "docs" / "images" / name))
    assert np.array_equal(shown, np.asarray(pictures[name]))


def test_the_claims_on_the_page_are_those_that_are_counted():
    generated = studio(2_000)
    truth, people = truth_claims(generated), expert_claims(generated)
    for text in (
        f"{truth.queries:,} queries",
        f"{100 * truth.positive_share:.4f}%",
        " ".join(f"{each:.0f}" for each in truth.positives),
        f"{100 * people.agreement:.1f}%",
        f"{people.kappa:.2f}",
        f"{100 * people.self_consistency:.1f}%",
        f"{100 * people.wrong:.1f}%",
    ):
        assert text in PAGE, text
