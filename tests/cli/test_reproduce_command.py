"""`mamofair reproduce`, in a process of its own where that matters."""

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
    assert "table-adult" in fails("reproduce", "table-adlut")
    assert not list(tmp_path.iterdir())


def test_debug_shows_the_traceback():
    done = run(command, "--debug", "reproduce", "nothing")
    assert "Traceback" in done.stderr
    assert "ValueError: There is no experiment 'nothing'" in done.stderr
    assert done.returncode == 1


def test_a_figure_is_drawn_and_the_page_shows_it(tmp_path):
    found = RUNNER.invoke(app, ["reproduce", "figure-descent", "--quick", "--out", str(tmp_path)])
    assert found.exit_code == 0, found.output
    assert (tmp_path / "paper" / "figure-descent.png").exists()
    assert "paper/figure-descent.png" in (tmp_path / "paper.md").read_text()


def test_json_is_one_document_and_nothing_else(tmp_path):
    found = run(command, "reproduce", "figure-descent", "--json", "--out", str(tmp_path))
    [experiment] = json.loads(found.stdout)["experiments"]
    assert experiment["name"] == "figure-descent"
    assert len(experiment["files"]) == 2


def test_the_version_is_told():
    assert RUNNER.invoke(app, ["--version"]).stdout.startswith("mamofair ")
