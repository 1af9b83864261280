"""What `docs/research/bias.md` says of people's complete judgments comes out of the command."""

import json
import os
import runpy
from pathlib import Path

import pytest

from lookalike.cli.app import run

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LOOKALIKE_DATA", ROOT.parent / "shared" / "data"))
pytestmark = [
    pytest.mark.real,
    pytest.mark.slow,
    pytest.mark.skipif(
        not (DATA / "objects92").is_dir(), reason="the data pack is not here (set LOOKALIKE_DATA)"
    ),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> dict:
    """60 pools of 13 encoders, prepared as the page says."""
    import contextlib
    import io

    folder = tmp_path_factory.mktemp("objects92") / "workspace"
    example = runpy.run_path(str(ROOT / "examples" / "complete_judgments.py"))
    example["prepare"](DATA, folder)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(["bias", "-w", str(folder), "--pools", "60", "--json"]) == 0
    return json.loads(out.getvalue())


def figure(results: dict, measure: str, name: str, where: str) -> float:
    return next(
        one["value"]
        for one in results["figures"]
        if (one["measure"], one["figure"], one["where"]) == (measure, name, where)
    )


def test_thirteen_encoders_have_a_true_hit_rate(results):
    assert len(results["true_hr5"]) == 13
    assert results["true_hr5"]["mobilenetv2_100"] == pytest.approx(0.633, abs=0.001)


def test_ehr_is_above_the_true_value_for_encoders_outside_the_pool_and_hr_below(results):
    assert figure(results, "EHR@5", "bias", "outside") > 0.06
    assert figure(results, "HR@5", "bias", "outside") < -0.06


def test_the_correction_takes_nearly_all_of_the_bias_and_orders_better_than_every_measure(results):
    assert abs(figure(results, "HR@5 corrected", "bias", "outside")) < 0.015
    mine = figure(results, "HR@5 corrected", "ordered right", "one outside")
    for measure in ("DCS(alpha=10)", "HR@5", "EHR@5", "AUC_mac", "BPREF"):
        assert mine > figure(results, measure, "ordered right", "one outside")


def test_dcs_places_encoders_outside_the_pool_too_well(results):
    assert figure(results, "DCS(alpha=10)", "places gained", "outside") > 0.03
    assert figure(results, "DCS(alpha=10)", "Spearman", "all encoders") < figure(
        results, "AUC_mic", "Spearman", "all encoders"
    )
