"""Which settings are tuned for which training, that a command names them, and errors that workers send."""

import pickle
import shlex

import pytest
from pydantic import TypeAdapter

from lookalike.core.errors import ArgumentError, LearningError
from lookalike.learn.request import TrainingRequest
from lookalike.learn.tuning import tuned_ranges
from lookalike.workflows.learn.resume_command import option_words

REQUESTS = [
    ({}, {"rate", "batch", "temperature"}),
    ({"loss": "con"}, {"rate", "batch", "margin"}),
    ({"loss": "trpl"}, {"rate", "batch", "margin"}),
    ({"head": "adaptation"}, {"rate", "sigma"}),
    ({"head": "diagonal"}, {"rate", "sigma"}),
    ({"head": "diagonal", "loss": "supcon"}, {"rate", "batch", "temperature"}),
    ({"part": "network"}, {"rate", "batch", "temperature"}),
    ({"part": "blocks", "loss": "simclr", "blocks": 1}, {"rate", "batch", "temperature"}),
    ({"part": "network", "loss": "dino"}, {"rate", "batch"}),
    ({"part": "adapters", "loss": "item+category"}, {"rate", "batch"}),
]


@pytest.mark.parametrize(("given", "names"), REQUESTS)
def test_the_default_of_each_range_is_that_of_the_training(given, names):
    request = TrainingRequest(**given)
    ranges = tuned_ranges(request)
    assert {one.name for one in ranges} == names
    for one in ranges:
        assert one.low < one.default < one.high
        assert one.rounded(one.default) == one.default
        if one.name != "margin":  # None: the loss has its own
            assert one.default == getattr(request, one.name)
        assert getattr(request.changed(**{one.name: one.default}), one.name) == one.default
        assert one not in tuned_ranges(request, [one.name])
    with pytest.raises(ArgumentError, match="Nothing is left to tune"):
        tuned_ranges(request, names)


@pytest.mark.parametrize(("given", "names"), REQUESTS)
@pytest.mark.parametrize(
    "more", [{}, {"epochs": 100}, {"rate": 3e-4}, {"epochs": 30, "rate": 1e-4, "seed": 5}]
)
def test_the_options_of_a_request_make_it_again(given, names, more):
    request = TrainingRequest(**given, **more)
    words = option_words(request.as_values(), names)
    assert {f"--{name}" for name in names if getattr(request, name) is not None} <= set(words)
    values = dict(zip(words[::2], words[1::2], strict=True))
    read = {
        name: TypeAdapter(field.annotation).validate_python(values[option])
        for name, field in TrainingRequest.model_fields.items()
        if values.get(option := f"--{name.replace('_', '-')}", "None") != "None"
    }
    again = TrainingRequest(**read)
    assert again == request
    assert shlex.split(shlex.join(words)) == words


def test_an_error_of_a_worker_arrives_as_it_was():
    sent = LearningError("It is wrong.", fix="Do it again.", code="wrong")
    found = pickle.loads(pickle.dumps(sent))
    assert type(found) is LearningError
    assert (found.problem, found.fix, found.code, str(found)) == (sent.problem, sent.fix, "wrong", str(sent))
