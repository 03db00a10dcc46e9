"""`mamofair report`: the page of a run folder, made again."""

import json

import pytest
from typer.testing import CliRunner

from mamofair import FairNetClassifier
from mamofair._rows.groups import read_groups
from mamofair.cli import app
from mamofair.datasets import make_toy
from mamofair.report import summarize
from mamofair.runs import Run, load_run, save

pytestmark = pytest.mark.usefixtures("pages")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    toy = make_toy()
    model = FairNetClassifier(epochs=2, members=3, random_state=0)
    model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    groups = read_groups(toy.sensitive)
    names = {name: tuple(map(str, values)) for name, values in zip(groups.names, groups.values, strict=True)}
    return save(Run(model, {"within": 0.1}, names), tmp_path_factory.mktemp("run") / "toy")


def test_the_page_is_written_into_the_run(folder):
    found = CliRunner().invoke(app, ["report", str(folder)])
    assert found.exit_code == 0, found.output
    assert found.stdout == f"Report: {folder / 'report.html'}\n"
    assert (folder / "report.html").read_text().startswith("<!doctype html>")


def test_json_is_one_document_with_every_number(folder, tmp_path):
    found = CliRunner().invoke(app, ["report", str(folder), "--out", str(tmp_path / "page.html"), "--json"])
    document = json.loads(found.stdout)
    assert document["report"] == str(tmp_path / "page.html")
    assert document["summary"] == summarize(load_run(folder))
    assert document["summary"]["within"] == [None, 0.1]
    assert (tmp_path / "page.html").exists()


def test_what_is_no_run_is_refused(tmp_path):
    found = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert isinstance(found.exception, ValueError | OSError)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("file_format", ["md", "json"])
def test_a_run_is_also_written_as_a_card_and_as_numbers(file_format, folder):
    found = CliRunner().invoke(app, ["report", str(folder), "--format", file_format])
    assert found.exit_code == 0, found.output
    text = (folder / f"report.{file_format}").read_text()
    assert text.startswith("# Model card") if file_format == "md" else json.loads(text) == summarize(load_run(folder))


def test_other_formats_are_refused(folder):
    found = CliRunner().invoke(app, ["report", str(folder), "--format", "pdf"])
    assert "`--format` must be one of html, md, json: found 'pdf'." in str(found.exception)
