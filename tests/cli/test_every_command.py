"""What every command has: a help with an example, a seed, and an answer for machines."""

import json
import re
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from loan_table import COLUMNS
from mamofair.cli import _app, app, main

COMMANDS = get_command(app).commands
RUNNER = CliRunner()


def test_the_commands_are_those_of_the_contract():
    deciding = {"check", "plan", "ask", "watch", "alternatives"}
    names = {"train", "predict", "audit", "compare", "reproduce", "report", "export", "datasets"}
    assert set(COMMANDS) == names | deciding


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_an_example_a_seed_and_json(name):
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert {"--seed", "--json"} <= options
    [example] = re.findall(r"Example: mamofair (.*)", " ".join(COMMANDS[name].help.split()))
    assert example.split()[0] == name
    given = {word for word in example.split() if word.startswith("-")}
    assert given <= options


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_the_example_whole(name):
    said = RUNNER.invoke(app, [name, "--help"], env={"COLUMNS": "80", "TERM": "dumb"})
    assert said.exit_code == 0
    assert f"Example: mamofair {name} " in said.stdout


def test_the_list_of_commands_shows_summaries_whole():
    said = " ".join(RUNNER.invoke(app, ["--help"], env={"COLUMNS": "80"}).stdout.split())
    for name, command in COMMANDS.items():
        assert f"{name} {' '.join(command.help.split(chr(10) * 2)[0].split())}" in said


def test_where_nothing_is_random_a_seed_is_accepted_and_changes_nothing(trained, loans, tmp_path):
    decided, page, onnx = (tmp_path / name for name in ("decided.csv", "page.html", "model.onnx"))
    for asked in (
        ["datasets"],
        ["predict", trained, loans, "--out", decided],
        ["audit", decided, *COLUMNS, "--prediction", "prediction"],
        ["report", trained, "--out", page],
        ["export", trained, "--onnx", onnx],
    ):
        plain, seeded = (RUNNER.invoke(app, [*map(str, asked), *more]) for more in ([], ["--seed", "7"]))
        assert plain.exit_code == seeded.exit_code == 0, (plain.output, seeded.output)
        assert plain.stdout == seeded.stdout


def test_the_list_of_experiments_and_data_sets_is_for_machines_too():
    assert "table-adult" in json.loads(RUNNER.invoke(app, ["reproduce", "list", "--json"]).stdout)
    assert "adult" in json.loads(RUNNER.invoke(app, ["datasets", "--json"]).stdout)


def failing(monkeypatch, *arguments):
    """Run the command line with an error in it that nobody foresaw."""

    def broken():
        raise KeyError("weight")

    monkeypatch.setattr(_app, "app", broken)
    monkeypatch.setattr(sys, "argv", ["mamofair", *arguments])
    main()


def test_an_error_nobody_foresaw_is_one_line_too(monkeypatch, capsys):
    with pytest.raises(SystemExit) as end:
        failing(monkeypatch, "datasets")
    [line] = capsys.readouterr().err.splitlines()
    assert end.value.code == 1
    assert "KeyError: 'weight'" in line
    assert "--debug" in line


def test_debug_shows_where_it_happened(monkeypatch):
    with pytest.raises(KeyError):
        failing(monkeypatch, "--debug", "datasets")
