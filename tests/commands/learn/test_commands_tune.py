"""`lookalike tune`: what it tries, what it prints and keeps, and what it refuses."""

import json
import shlex
import sys

import jsonschema_rs
import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from test_commands_finetune import bare, flat, label, shop, workspace_of  # noqa: F401 - fixtures by name

from lookalike.store.vectors import models
from lookalike.store.workspace import Workspace

ON = ("tune", "base", "--epochs", 3, "--projection", 8, "--trials", 4)


def studies(folder) -> list[optuna.Study]:
    """The studies of the encoder `base`, as Optuna itself reads them."""
    storage = JournalStorage(JournalFileBackend(str(folder / "tuning/base.journal")))
    return [
        optuna.load_study(study_name=name, storage=storage)
        for name in optuna.get_all_study_names(storage=storage)
    ]


def comparable(result: dict) -> dict:
    """A result without what depends on the folder or on earlier commands."""
    return {name: value for name, value in result.items() if name not in ("storage", "resumed")}


def test_the_best_settings_are_printed_with_the_command_that_trains_with_them(lookalike, shop):  # noqa: F811
    result = lookalike(*ON)
    assert result.status == 0, result.err
    words = flat(result.out)
    assert "Tuning rate 1e-05 to 0.009, batch 32 to 512, temperature 0.01 to 1." in words
    assert "Trial 0 (rate 0.0003, batch 256, temperature 0.1): 0." in words
    assert "4 trials." in words
    found = lookalike(*ON, "--json").json
    trials = found["trials"]
    assert [one["number"] for one in trials] == [0, 1, 2, 3]
    assert {one["state"] for one in trials} == {"complete"}
    assert [one["epochs"] for one in trials] == [3] * 4
    assert trials[0]["settings"] == {"rate": 3e-4, "batch": 256, "temperature": 0.1}
    assert trials[0]["value"] == found["default"]
    assert found["value"] == max(one["value"] for one in trials) == trials[found["best"]]["value"]
    assert found["settings"] == trials[found["best"]]["settings"]
    assert len({json.dumps(one["settings"]) for one in trials}) == 4
    assert (found["resumed"], found["changed"]) == (4, [])
    assert models.trained(shop) == []
    assert Workspace(shop).encoders == ["base"]
    assert flat(found["command"]) in words.replace(sys.argv[0], "lookalike")

    trained = lookalike(*shlex.split(found["command"])[1:], "--json").json
    assert (trained["value"], trained["before"]) == (found["value"], found["before"])
    assert trained["encoder"] == "base-tuned"


def test_its_json_follows_the_schema(lookalike, shop):  # noqa: F811
    schema = json.loads(lookalike("tune", "--json-schema").out)
    found = lookalike(*ON, "--json")
    jsonschema_rs.validator_for(schema).validate(found.json)
    assert found.err == ""


def test_one_seed_repeats_and_another_does_not(lookalike, shop):  # noqa: F811
    first = lookalike(*ON, "--json").json
    (shop / "tuning/base.journal").unlink()
    assert comparable(lookalike(*ON, "--json").json) == comparable(first)
    other = lookalike(*ON, "--seed", 1, "--json").json
    assert other["trials"][0]["settings"] == first["trials"][0]["settings"]
    assert other["trials"][1]["settings"] != first["trials"][1]["settings"]
    assert len(studies(shop)) == 2


def test_the_same_command_goes_on_to_the_number_of_trials(lookalike, shop):  # noqa: F811
    whole = lookalike(*ON, "--json").json
    (shop / "tuning/base.journal").unlink()
    begun = lookalike(*ON[:-1], 2, "--json").json
    assert (len(begun["trials"]), begun["resumed"]) == (2, 0)
    result = lookalike(*ON)
    assert "2 trials of earlier commands count." in flat(result.out)
    again = lookalike(*ON, "--json").json
    assert again["resumed"] == 4
    assert comparable(again) == comparable(whole)
    fewer = lookalike(*ON[:-1], 2, "--json").json
    assert len(fewer["trials"]) == 4


def test_settings_that_are_given_are_not_tuned(lookalike, shop):  # noqa: F811
    found = lookalike(*ON, "--rate", 0.002, "--temperature", 0.1, "--json").json
    assert all(set(one["settings"]) == {"batch"} for one in found["trials"])
    assert [one["name"] for one in found["ranges"]] == ["batch"]
    assert "--rate 0.002" in found["command"]
    result = lookalike(*ON, "--rate", 0.002, "--temperature", 0.1, "--batch", 64)
    assert result.status == 1
    assert "because rate, batch, temperature are given" in flat(result.err)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--loss", "trpl"), {"rate", "batch", "margin"}),
        (("--loss", "con", "--keep", "last"), {"rate", "batch", "margin"}),
        (("--loss", "symmetric", "--resamples", 2), {"rate", "sigma"}),
    ],
)
def test_each_loss_has_settings_of_its_own(lookalike, shop, options, names):  # noqa: F811
    found = lookalike(*ON[:-1], 2, *options, "--json").json
    assert [set(one["settings"]) for one in found["trials"]] == [names] * 2
    trained = lookalike(*shlex.split(found["command"])[1:], "--json").json
    assert trained["value"] == found["value"]


@pytest.mark.parametrize("measure", ["AUC_mac", "EHR@5", "DCS(alpha=10)"])
def test_any_measure_of_labels_chooses(lookalike, shop, measure):  # noqa: F811
    found = lookalike(*ON[:-1], 2, "--measure", measure, "--json").json
    assert found["measure"] == measure
    assert found["command"].count("--measure") == 1
    trained = lookalike(*shlex.split(found["command"])[1:], "--json").json
    assert (trained["measure"], trained["value"]) == (measure, found["value"])


def test_changed_labels_begin_another_study(lookalike, shop):  # noqa: F811
    first = lookalike(*ON, "--json").json
    (shop / "more.csv").write_text("query,candidate,label\ni0-0,i1-0,1\n")
    assert lookalike("labels", "import", "more.csv", "--replace").status == 0
    result = lookalike(*ON)
    assert "A new study begins, because since the last one the labels have changed" in flat(result.out)
    second = lookalike(*ON, "--json").json
    assert second["study"] != first["study"]
    assert len(studies(shop)) == 2
    other = lookalike(*ON, "--beta", 0.5, "--json").json  # another question, of which there is no news
    assert other["changed"] == []


def test_labels_of_the_test_split_change_nothing(lookalike, shop):  # noqa: F811
    first = lookalike(*ON, "--json").json
    (shop / "more.csv").write_text("query,candidate,label\ni4-0,i14-0,1\ni4-0,i19-0,0\n")
    assert lookalike("labels", "import", "more.csv", "--replace").status == 0
    again = lookalike(*ON, "--json").json
    assert (again["resumed"], comparable(again)) == (4, comparable(first))


def test_hopeless_trials_are_stopped_early(lookalike, shop):  # noqa: F811
    found = lookalike("tune", "base", "--epochs", 9, "--projection", 8, "--trials", 12, "--json").json
    pruned = [one for one in found["trials"] if one["state"] == "pruned"]
    assert pruned
    assert all(3 <= one["epochs"] < 9 for one in pruned)
    assert all(one["value"] < found["value"] for one in pruned)
    assert [one["state"] for one in found["trials"][:5]] == ["complete"] * 5
    result = flat(lookalike("tune", "base", "--epochs", 9, "--projection", 8, "--trials", 12).out)
    assert f"12 trials, {len(pruned)} of them stopped early or without a value." in result


def test_a_trial_that_diverges_does_not_end_the_study(lookalike, shop):  # noqa: F811
    result = lookalike(*ON, "--rate", 1e38)
    assert result.status == 1
    assert "No trial has a value: " in flat(result.err)
    (study,) = studies(shop)
    assert [trial.state.name for trial in study.trials] == ["PRUNED"] * 4
    assert all(
        "finite" in trial.user_attrs["reason"] or "loss" in trial.user_attrs["reason"]
        for trial in study.trials
    )


@pytest.mark.slow
def test_several_processes_share_a_study(lookalike, shop, completed):  # noqa: F811
    found = json.loads(completed(*ON, "--jobs", 2, "--json", cwd=shop))
    assert [one["state"] for one in found["trials"]] == ["complete"] * 4
    assert len({json.dumps(one["settings"]) for one in found["trials"]}) == 4
    (study,) = studies(shop)
    assert len({tuple(trial.user_attrs["worker"]) for trial in study.trials}) == 2
    again = lookalike(*ON, "--json").json
    assert comparable(again) == comparable(found)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["supcon", "simclr"])
def test_a_network_is_tuned(lookalike, network_shop, loss):
    on = (
        "tune",
        "base",
        "--part",
        "network",
        "--loss",
        loss,
        "--epochs",
        1,
        "--trials",
        2,
        "--device",
        "cpu",
    )
    undefined = lookalike(*on)
    assert undefined.status == 1
    assert "DCS(half=7) is undefined on the validation split" in flat(undefined.err)
    on = (*on, "--measure", "EHR@5")
    found = lookalike(*on, "--json")
    assert found.status == 0, found.err
    assert [set(one["settings"]) for one in found.json["trials"]] == [{"rate", "batch", "temperature"}] * 2
    assert found.json["trials"][0]["settings"]["rate"] == 1e-4
    assert "--part network" in found.json["command"]
    assert models.trained(network_shop) == []


# Bad input


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--trials", 0), "--trials"),
        (("--jobs", 0), "--jobs"),
        (("--rate", -1), "--rate"),
        (("--measure", "coverage@5"), "cannot choose"),
        (("--measure", "HR@5x"), "got @5x"),
        (("--storage", "sqlite:///here.db"), "not an address of PostgreSQL"),
        (("--part", "network"), "needs photos"),
        (("--loss", "dino"), "needs photos"),
    ],
)
def test_wrong_values(lookalike, shop, options, words):  # noqa: F811
    result = lookalike(*ON, *options)
    assert result.status in (1, 2)
    assert words in flat(result.err)
    assert "Traceback" not in result.err


def test_an_unknown_encoder_and_labels_that_cannot_choose(lookalike, bare, tmp_path):  # noqa: F811
    assert "Unknown encoder 'other'" in lookalike("tune", "other").err
    assert "no labels" in lookalike(*ON).err
    label(lookalike, tmp_path, bare, lambda split, same: split == "train")
    result = lookalike(*ON)
    assert result.status == 1
    assert "is undefined on the validation split, which has 0 labelled pairs" in flat(result.err)
    assert not (tmp_path / "tuning").exists()


def test_without_optuna(lookalike, shop, monkeypatch):  # noqa: F811
    monkeypatch.setitem(sys.modules, "optuna", None)
    result = lookalike(*ON)
    assert result.status == 1
    assert "optuna, which is not installed" in flat(result.err)
    assert ".[learn]" in result.err


def test_a_damaged_journal(lookalike, shop):  # noqa: F811
    assert lookalike(*ON).status == 0
    journal = shop / "tuning/base.journal"
    kept = journal.read_bytes()
    journal.write_bytes(b"{}\n" + kept)
    result = lookalike(*ON)
    assert result.status == 1
    assert f"{journal} is damaged" in flat(result.err)
    journal.write_bytes(kept + b'{"op_code": 4, "wor')
    assert lookalike(*ON, "--json").json["resumed"] == 4


def test_status_doctor_and_a_new_workspace_know_the_folder(lookalike, shop):  # noqa: F811
    assert lookalike(*ON).status == 0
    assert lookalike("status").status == 0
    assert lookalike("status", "--json").json["unfinished_runs"] == []
    (shop / "tuning").chmod(0o755)
    assert "tuning" in lookalike("doctor").out
    assert any("tuning/" in one for one in lookalike("backup", "kept.backup", "--json").json["not_in_it"])
    workspace_of(shop, replace=True)
    assert not (shop / "tuning").exists()
