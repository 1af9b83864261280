"""What a run is told: checked at once, and the same after JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.core.errors import ArgumentError
from lookalike.learn.settings import Settings
from lookalike.positive.positiveness import Softness


@given(
    st.sampled_from([None, Softness(0.0, 3), Softness(1.5, 2)]),
    st.sampled_from(["supcon", "con", "trpl"]),
    st.floats(1e-6, 10),
    st.one_of(st.none(), st.integers(1, 9)),
)
def test_settings_come_back_from_json(soft, loss, rate, patience):
    settings = Settings(soft=soft, loss=loss, rate=rate, patience=patience)
    assert Settings.of_values(json.loads(json.dumps(settings.as_values()))) == settings


@pytest.mark.parametrize(
    ("given_settings", "said"),
    [
        ({"loss": "cosface"}, "loss is 'cosface', which is not known"),
        ({"unjudged": "skip"}, "unjudged is 'skip', which is not known"),
        ({"triplets": "easy"}, "triplets is 'easy', which is not known"),
        ({"epochs": 0}, "epochs is 0; it must be 1 or more"),
        ({"batch": 1}, "batch is 1; it must be 2 or more"),
        ({"keep": "first"}, "keep is 'first', which is not known"),
        ({"keep": "last", "patience": 3}, "patience is 3, but the last epoch is to be kept"),
        ({"patience": 0}, "patience is 0; it must be 1 or more"),
        ({"temperature": 0.0}, "temperature is 0.0; it must be above 0"),
        ({"temperature": float("nan")}, "temperature is nan; it must be above 0"),
        ({"rate": -1.0}, "rate is -1.0; it must be above 0"),
        ({"rate": float("inf")}, "rate is inf; it must be above 0"),
        ({"margin": -0.1}, "margin is -0.1; it must be 0 or more"),
        ({"margin": float("nan")}, "margin is nan; it must be 0 or more"),
        ({"seed": -1}, "seed is -1; it must be from 0 to 9223372036854775807"),
        ({"seed": 2**63}, "seed is 9223372036854775808; it must be from 0 to"),
    ],
)
def test_what_is_wrong_is_said_by_name(given_settings, said):
    with pytest.raises(ArgumentError) as error:
        Settings(**given_settings)
    assert error.value.problem.startswith(said)
    assert error.value.fix


def test_a_loss_is_told_its_own_options_alone():
    assert Settings(loss="supcon", margin=0.3).objective == {"unjudged": "negative", "temperature": 0.1}
    assert Settings(loss="con").objective == {"unjudged": "negative"}
    assert Settings(loss="con", margin=0.0).objective == {"unjudged": "negative", "margin": 0.0}
    assert Settings(seed=2**63 - 1).seed == 2**63 - 1
    assert Settings(loss="trpl", margin=0.3, triplets="hard", unjudged="ignore").objective == {
        "unjudged": "ignore",
        "triplets": "hard",
        "margin": 0.3,
    }
