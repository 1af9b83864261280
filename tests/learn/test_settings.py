"""Training settings: checked at once, and the same after JSON."""

import json
from typing import Literal, get_args, get_origin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.core.errors import ArgumentError, MeasureError
from lookalike.learn.request import TrainingRequest
from lookalike.learn.settings import TrainingSettings
from lookalike.positive.positiveness import Softness


@given(
    st.sampled_from(["labels", "soft", "full"]),
    st.sampled_from(["supcon", "con", "trpl"]),
    st.floats(1e-6, 10),
    st.one_of(st.none(), st.integers(1, 9)),
)
def test_settings_come_back_from_json(positives, loss, rate, patience):
    settings = TrainingRequest(positives=positives, loss=loss, rate=rate, patience=patience)
    assert TrainingRequest(**json.loads(json.dumps(settings.as_values()))) == settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("loss", "cosface"),
        ("positives", "some"),
        ("beta", -0.1),
        ("max_distance", 0),
        ("max_distance", 101),
        ("unjudged", "skip"),
        ("triplets", "easy"),
        ("nodes", "photo"),
        ("epochs", 0),
        ("epochs", 1.5),
        ("epochs", True),
        ("batch", 1),
        ("keep", "first"),
        ("patience", 0),
        ("patience", 1.5),
        ("temperature", 0.0),
        ("temperature", float("nan")),
        ("rate", -1.0),
        ("rate", float("inf")),
        ("rate", "fast"),
        ("measure", None),
        ("margin", -0.1),
        ("margin", float("nan")),
        ("seed", -1),
        ("seed", 2**63),
        ("views", 0),
        ("views", 101),
        ("head", "identity"),
        ("projection", 0),
        ("projection", 8.5),
        ("projection", 65_537),
    ],
)
def test_a_wrong_value_is_refused_with_its_name_and_an_example_that_works(name, value):
    with pytest.raises(ArgumentError) as error:
        TrainingRequest(**{name: value})
    assert name in error.value.problem
    assert repr(value)[:20] in error.value.problem
    field = TrainingRequest.model_fields[name]
    for one in (
        *(field.examples or ())[:1],
        *(get_args(field.annotation) if get_origin(field.annotation) is Literal else ()),
    ):
        assert str(one) in error.value.fix


def test_the_bounds_themselves_are_accepted():
    TrainingRequest(
        beta=0.0, max_distance=1, margin=0.0, batch=2, seed=2**63 - 1, views=100, projection=65_536
    )


def test_a_dimension_asks_for_a_projection_and_a_residual_head_has_none():
    assert TrainingRequest(projection=8).kind == "projection"
    assert TrainingRequest(head="projection").kind == "projection"
    assert TrainingRequest(head="residual").kind == "residual"
    with pytest.raises(ArgumentError, match="projection is 8"):
        TrainingRequest(head="residual", projection=8)


def test_patience_waits_for_a_best_epoch():
    with pytest.raises(ArgumentError, match="patience is 3"):
        TrainingRequest(keep="last", patience=3)


def test_an_unknown_setting_is_named_beside_the_known_ones():
    with pytest.raises(ArgumentError, match="softness, widht") as error:
        TrainingRequest(softness=1, widht=2)
    assert "temperature" in error.value.fix


@pytest.mark.parametrize("measure", ["coverage@5", "AUC_mac(negatives=random)"])
def test_a_measure_that_cannot_choose_an_epoch_is_refused(measure):
    with pytest.raises(MeasureError):
        TrainingRequest(measure=measure)


def test_numpy_scalars_are_numbers():
    assert TrainingRequest(epochs=np.int64(3), rate=np.float32(0.5)) == TrainingRequest(epochs=3, rate=0.5)


def test_a_copy_with_other_values_is_checked_again():
    assert TrainingSettings(rate=0.1).changed(epochs=3) == TrainingSettings(rate=0.1, epochs=3)
    with pytest.raises(ArgumentError, match=r"epochs.*0"):
        TrainingSettings().changed(epochs=0)


def test_kinds_of_positives():
    assert TrainingSettings(positives="labels").soft is None
    assert TrainingSettings(beta=0.5, max_distance=3).soft == Softness(beta=0.5, max_distance=3)
    assert TrainingSettings(positives="full", beta=0.5).soft == Softness(beta=0.0)


def test_a_loss_gets_its_own_options_only():
    assert TrainingSettings(loss="supcon", margin=0.3).objective == {
        "unjudged": "negative",
        "temperature": 0.1,
    }
    assert TrainingSettings(loss="con").objective == {"unjudged": "negative"}
    assert TrainingSettings(loss="con", margin=0.0).objective == {"unjudged": "negative", "margin": 0.0}
    assert TrainingSettings(seed=2**63 - 1).seed == 2**63 - 1
    assert TrainingSettings(loss="trpl", margin=0.3, triplets="hard", unjudged="ignore").objective == {
        "unjudged": "ignore",
        "triplets": "hard",
        "margin": 0.3,
    }
