"""What commands print as JSON follows the schema that they publish."""

import json

import jsonschema_rs
import pytest

from lookalike.cli.commands import COMMANDS

COMMANDS_OF_A_WORKSPACE = [
    ("status",),
    ("status", "--duplicates"),
    ("doctor",),
    ("discover", "--random", "20", "--precision", "0.1"),
    ("discover", "--pairs", "pairs.csv", "--generators", "color,hog"),
    ("search", "bowl/000/1.png", "--encoder", "color", "-k", "3"),
    ("evaluate", "--replicates", "0"),
    ("evaluate", "--replicates", "100", "--per", "category", "--measures", "EHR@5,HR@5"),
    ("evaluate", "--level", "all", "--replicates", "100", "--measures", "EHR@5"),
    ("evaluate", "--task", "identification", "--replicates", "0"),
    ("embed", "descriptor:lbp"),
    ("embed", "--remove", "hog"),
    ("catalog", "refresh"),
    ("catalog", "left-out"),
    ("catalog", "remove", "bowl/000/1.png"),
    ("labels", "stats"),
    ("labels", "export", "labels.qrels"),
    ("labels", "export", "votes.csv", "--format", "votes"),
    ("labels", "import", "labels.csv"),
    ("users", "add", "Lea", "--role", "lead", "--invite"),
    ("users", "list"),
    ("positiveness", "--split", "all", "--output", "soft.csv"),
    ("backup", "kept.backup"),
    ("reproduce",),
    ("reproduce", "eds-table-2"),
    ("report",),
    ("compare", "color", "hog"),
    ("compare", "color", "hog", "-k", "8", "--labels", "50"),
    ("estimate", "color", "-k", "8", "--labels", "50"),
    ("audit", "--replicates", "100"),
    ("judge", "color", "--encoder", "hog"),
    ("labels", "agreement"),
]


def command_of(arguments: tuple[str, ...]) -> str:
    """The name of the command, with that of its group."""
    return next(
        name for name in (" ".join(arguments[:2]), arguments[0]) if name in COMMANDS and COMMANDS[name].target
    )


def schema(lookalike, command: str) -> dict:
    result = lookalike(*command.split(), "--json-schema")
    assert result.status == 0, result.err
    return json.loads(result.out)


@pytest.mark.parametrize("arguments", COMMANDS_OF_A_WORKSPACE, ids=" ".join)
def test_the_json_of_a_command_follows_its_schema(lookalike, labelled, arguments):
    result = lookalike(*arguments, "--json")
    assert result.status in (0, 1), result.err
    jsonschema_rs.validator_for(schema(lookalike, command_of(arguments))).validate(result.json)


def test_a_wrong_result_does_not_follow_the_schema(lookalike, labelled):
    found = lookalike("search", "bowl/000/1.png", "--encoder", "color", "--json").json
    checked = jsonschema_rs.validator_for(schema(lookalike, "search"))
    assert checked.is_valid(found)
    assert not checked.is_valid({**found, "results": "none"})
    assert not checked.is_valid({name: value for name, value in found.items() if name != "results"})


@pytest.mark.parametrize(("old", "value"), [("--margin", 0.5), ("--looks", 1)])
def test_former_names_are_not_shown_but_work(lookalike, labelled, old, value):
    assert old not in lookalike("compare", "--help").out
    assert lookalike("settle", "color", "hog", old, value, "--json").status == 0
