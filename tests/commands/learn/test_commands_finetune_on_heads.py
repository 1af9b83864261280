"""`lookalike finetune --replace` and heads on heads: no run replaces a head that another head depends on."""

import re

import pytest
from test_commands_finetune import ON, bare, flat, head_of, shop  # noqa: F401 - fixtures by their names

from lookalike.store.vectors import models
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn.requirements import heads_on

MORE = ("--epochs", "2", "--batch", "32", "--projection", "8")


@pytest.fixture
def tower(lookalike, shop):  # noqa: F811 - the fixture
    """`better` is a head on `base`, `second` on `better`, `third` on `second`."""
    assert lookalike(*ON).status == 0
    assert lookalike("finetune", "better", "--name", "second", *MORE).status == 0
    assert lookalike("finetune", "second", "--name", "third", *MORE).status == 0
    return shop


def test_a_head_is_not_put_in_the_place_of_what_is_beneath_it(lookalike, tower):
    assert lookalike("embed", "checkpoint:better", "--name", "alias").status == 0
    before = {name: head_of(tower, name) for name in ("better", "second", "third")}
    for encoder, name in (
        ("second", "better"),
        ("third", "better"),
        ("third", "second"),
        ("alias", "better"),
    ):
        result = lookalike("finetune", encoder, "--name", name, *MORE, "--replace")
        assert result.status == 1
        assert f"{name!r} is taken" in result.err
        assert f"part of {encoder}" in flat(result.err)
    assert {name: head_of(tower, name) for name in before} == before
    assert sorted(Workspace(tower).encoders) == ["alias", "base", "better", "second", "third"]
    assert models.trained(tower) == ["better", "second", "third"]


def test_a_head_that_others_are_on_is_not_replaced(lookalike, tower):
    before = head_of(tower)
    result = lookalike(*ON, "--replace", "--seed", 1)
    assert result.status == 1
    assert "'second' and 'third'" in result.err
    assert head_of(tower) == before
    one = lookalike("finetune", "better", "--name", "second", *MORE, "--replace")
    assert one.status == 1
    assert re.findall("'(.*?)'", one.err) == ["third"]
    assert heads_on(Workspace(tower), "third") == []
    assert lookalike("finetune", "second", "--name", "third", *MORE, "--replace").status == 0
