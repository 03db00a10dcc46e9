"""`mamofair reproduce`, in this process: another one would import the baselines and their libraries again."""

import json

from typer.testing import CliRunner

from forked import command, run
from mamofair.cli import app

RUNNER = CliRunner()


def test_names_are_listed():
    found = RUNNER.invoke(app, ["reproduce", "list"])
    assert found.exit_code == 0
    assert {"table-adult", "figure-descent"} <= {line.split()[0] for line in found.stdout.splitlines()}


def test_an_unknown_name_is_one_line_and_exit_code_2(fails, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = fails("reproduce", "table-adlut")
    assert "There is no experiment 'table-adlut': choose from table-adult" in said
    assert not list(tmp_path.iterdir())


def test_debug_shows_the_traceback():
    """In a process of its own, whose interpreter prints it; of a command whose modules it has from the start."""
    done = run(command, "--debug", "train", "--resume", "nothing")
    assert "Traceback" in done.stderr
    assert "FileNotFoundError: There is no run 'nothing' to resume" in done.stderr
    assert done.returncode == 1


def test_a_figure_is_drawn_the_page_shows_it_and_json_is_one_document(tmp_path, capfd):
    found = RUNNER.invoke(app, ["reproduce", "figure-descent", "--quick", "--json", "--out", str(tmp_path)])
    assert found.exit_code == 0, found.output
    assert (tmp_path / "paper" / "figure-descent.png").exists()
    assert "paper/figure-descent.png" in (tmp_path / "paper.md").read_text()
    assert capfd.readouterr().out == ""  # nor does a library print past Python
    [experiment] = json.loads(found.stdout)["experiments"]
    assert experiment["name"] == "figure-descent"
    assert len(experiment["files"]) == 2


def test_the_version_is_told():
    assert RUNNER.invoke(app, ["--version"]).stdout.startswith("mamofair ")
