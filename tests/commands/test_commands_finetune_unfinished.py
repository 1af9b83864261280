"""An unfinished run: `status` says how to go on with it and how to be rid of it, others that it is unfinished."""

import shlex
import shutil

import pytest
from test_commands_finetune import ON, bare, flat, head_of, shop, stopped_after  # noqa: F401 - fixtures by name

from lookalike.encode.head import PROJECTION
from lookalike.learn.settings import Settings
from lookalike.positive.positiveness import Softness
from lookalike.recipes import finetune as recipe
from lookalike.recipes import finetune_command
from lookalike.recipes.training import Asked
from lookalike.store.workspace import Workspace

OTHER = Asked(
    Settings(
        loss="trpl", soft=Softness(0.5, 4), unjudged="ignore", margin=0.3, triplets="semihard", epochs=5, batch=16,
        rate=0.00123, measure="EHR@5", patience=4, seed=3,
    ),
    nodes="image",
    projection=9,
)  # fmt: skip


def stop_at_once(opened: Workspace, asked: Asked) -> None:
    """A run that Ctrl-C ends in its second epoch."""

    def stop(epoch):
        if epoch.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        recipe.finetune(opened, "base", "better", asked, watch=recipe.Watch(epoch=stop, every=0.0))


@pytest.mark.parametrize(
    "asked",
    [
        OTHER,
        Asked(Settings(soft=None, epochs=3, temperature=0.2, keep="last"), projection=8),
        Asked(Settings(soft=Softness(0.0), epochs=3), projection=8),
        Asked(Settings(epochs=3)),
    ],
)
def test_the_command_of_status_goes_on_with_the_run(lookalike, shop, asked):  # noqa: F811
    stop_at_once(Workspace(shop), asked)
    (command,) = lookalike("status", "--json").json["run_commands"]
    said = flat(lookalike("status").out)
    assert f"The training run better is unfinished. To go on where it stopped: {command}" in said
    assert "delete models/better to discard it" in said
    there = flat(lookalike("status", "--workspace", shop).out)
    assert f"{command} --workspace {shop}" in there
    ended = lookalike(*shlex.split(command)[1:])
    assert ended.status == 0, ended.err
    assert "An earlier command did 1 epoch;" in ended.out


def test_a_run_whose_file_is_damaged(lookalike, shop):  # noqa: F811
    with pytest.raises(KeyboardInterrupt):
        stopped_after(Workspace(shop), 2)
    (shop / "models/better/run.json").write_text('{"settings": 3')
    assert "better is unfinished and cannot be gone on from" in flat(lookalike("status").out)
    said = flat(lookalike(*ON).err)
    assert "The run 'better' is damaged: " in said
    assert "rate" not in said
    assert lookalike(*ON, "--replace").status == 0


def test_a_run_whose_encoder_is_gone(lookalike, shop):  # noqa: F811
    with pytest.raises(KeyboardInterrupt):
        stopped_after(Workspace(shop), 2)
    shutil.rmtree(shop / "embeddings/base")
    assert "cannot be gone on from: its run.json or its encoder is gone" in flat(lookalike("status").out)


def test_an_unfinished_run_is_no_encoder_yet(lookalike, shop):  # noqa: F811
    with pytest.raises(KeyboardInterrupt):
        stopped_after(Workspace(shop), 2)
    said = flat(lookalike("embed", "checkpoint:better", "--name", "early").err)
    assert "checkpoint:models/better: its training is unfinished" in said
    assert "FileNotFoundError" not in said


def test_the_default_projection_is_the_heads_own():
    assert finetune_command.PROJECTION == PROJECTION
