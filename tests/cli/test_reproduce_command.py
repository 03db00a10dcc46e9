"""`mamofair reproduce`, in a process of its own where that matters."""

import json
import subprocess
import sys

from typer.testing import CliRunner

from mamofair.cli import app

RUNNER = CliRunner()


def mamofair(*arguments, **options):
    command = [sys.executable, "-m", "mamofair", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_names_are_listed():
    found = RUNNER.invoke(app, ["reproduce", "list"])
    assert found.exit_code == 0
    assert {"table-adult", "figure-descent"} <= {line.split()[0] for line in found.stdout.splitlines()}


def test_an_unknown_name_is_one_line_and_exit_code_2(tmp_path):
    found = mamofair("reproduce", "table-adlut", cwd=tmp_path)
    assert found.returncode == 2
    assert len(found.stderr.splitlines()) == 1
    assert "table-adult" in found.stderr
    assert not list(tmp_path.iterdir())


def test_debug_shows_the_traceback(tmp_path):
    assert "Traceback" in mamofair("--debug", "reproduce", "nothing", cwd=tmp_path).stderr


def test_a_figure_is_drawn_and_the_page_shows_it(tmp_path):
    found = RUNNER.invoke(app, ["reproduce", "figure-descent", "--quick", "--out", str(tmp_path)])
    assert found.exit_code == 0, found.output
    assert (tmp_path / "paper" / "figure-descent.png").exists()
    assert "paper/figure-descent.png" in (tmp_path / "paper.md").read_text()


def test_json_is_one_document_and_nothing_else(tmp_path):
    found = mamofair("reproduce", "figure-descent", "--json", "--out", str(tmp_path))
    [experiment] = json.loads(found.stdout)["experiments"]
    assert experiment["name"] == "figure-descent"
    assert len(experiment["files"]) == 2


def test_the_version_is_told():
    assert RUNNER.invoke(app, ["--version"]).stdout.startswith("mamofair ")
