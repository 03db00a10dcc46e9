"""Odd values on the command line: one line that helps, and an exit code that scripts know."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import forked
from forked import CONTEXT, started
from loan_table import ASKED, COLUMNS, applicants
from mamofair.cli import _app, app, main
from mamofair.cli._checks import require_writable

COMMANDS = get_command(app).commands


@pytest.mark.parametrize("command", ["predict", "export"])
@pytest.mark.parametrize(
    ("bound", "words"), [("5", "5 % is 0.05"), ("inf", "found inf"), ("-1", "found -1"), ("nan", "nan")]
)
def test_a_bound_that_is_no_gap_is_refused_before_the_run_is_read(command, bound, words, fails, tmp_path):
    more = ["new.csv"] if command == "predict" else ["--onnx", tmp_path / "x.onnx"]
    said = fails(command, "nowhere", *more, "--within", bound)
    assert "`--within` must be a number in [0, 1], as gaps are" in said
    assert words in said


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("seed", ["-1", str(2**70), "1.5"])
def test_a_seed_that_no_generator_takes_is_refused_by_every_command(command, seed):
    needed = [word for option in COMMANDS[command].params if option.required for word in _given(option)]
    said = CliRunner().invoke(app, [command, *needed, "--seed", seed])
    assert said.exit_code == 2
    assert "--seed" in said.output


def _given(option) -> list[str]:
    return [option.opts[0], "x"] if option.opts[0].startswith("-") else ["x"]


@pytest.mark.parametrize("out", ["/", "//", "/.."])
def test_the_root_is_no_run(out, fails, loans):
    assert "`--out` must be a folder of its own" in fails("train", loans, *ASKED, "--out", out)
    assert "`--out` must be a folder of its own" in fails("train", loans, *ASKED, "--out", out, "--force")


def test_a_name_that_no_text_can_hold_is_refused_before_anything_is_trained(fails, loans, tmp_path):
    said = fails("train", loans, *ASKED, "--out", tmp_path / "runs" / "\udcff")
    assert "`--out` must be a name in UTF-8: found" in said
    assert "`--out` must be a name in UTF-8" in fails("report", "nowhere", "--out", "\udcff.html")
    if sys.platform == "linux":  # others have no such file
        other = tmp_path / "loans\udcff.csv"
        other.write_bytes(loans.read_bytes())
        assert "`DATA` must be a name in UTF-8: found" in fails("train", other, *ASKED, "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_needs_a_place_where_a_folder_can_be(fails, loans, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    assert "is a file" in fails("train", loans, *ASKED, "--out", tmp_path / "file", "--force")
    assert "is a file" in fails("train", loans, *ASKED, "--out", tmp_path / "file" / "run")
    assert (tmp_path / "file").read_text() == "mine"
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)  # root may write anywhere
    with pytest.raises(PermissionError, match="you may not write to"):
        require_writable(tmp_path / "new" / "run")


def test_a_folder_is_no_file_to_write(fails, trained, loans, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    for asked in (
        ["predict", trained, loans, "-o", tmp_path / "folder.csv"],
        ["report", trained, "--out", tmp_path / "folder.csv"],
        ["export", trained, "--onnx", tmp_path / "folder.csv"],
    ):
        assert "is a folder" in fails(*asked)


def test_a_file_is_no_folder_to_write_into(fails, loans):
    for asked in (
        ["predict", "nowhere", loans, "-o", loans / "x.csv"],
        ["report", "nowhere", "--out", loans / "x.html"],
        ["export", "nowhere", "--onnx", loans / "x.onnx"],
        ["compare", loans, *COLUMNS, "--out", loans],
        ["reproduce", "figure-toy", "--out", loans],
    ):
        assert "is a file" in fails(*asked)


@pytest.mark.parametrize("confidence", ["95", "nan", "0"])
def test_a_confidence_that_is_no_share_is_refused(confidence, fails, loans, tmp_path):
    calibrated = ["--within", 0.1, "--calibration-fraction", 0.2, "--out", tmp_path / "run"]
    said = fails("train", loans, *ASKED, *calibrated, "--confidence", confidence)
    assert "`confidence` must be between 0 and 1" in said
    assert ("95 % is 0.95" in said) == (confidence == "95")


@pytest.mark.parametrize(
    ("command", "streams"),
    [("datasets", "output"), ("datasets", "output and errors"), ("audit", "output"), ("predict", "output")],
)
def test_a_reader_that_leaves_ends_the_command_as_it_ends_other_tools(command, streams, trained, loans, tmp_path):
    """As in `mamofair … | head -1`: no traceback, and 141, which is what a shell reports of `yes | head -1`."""
    table = tmp_path / "decided.csv"
    applicants(100).assign(decided=lambda people: people["approved"]).to_csv(table, index=False)
    asked = {"predict": [trained, table], "audit": [table, *COLUMNS, "--prediction", "decided"]}
    reader, writer = CONTEXT.Pipe(duplex=False)
    reader.close()
    errors = tmp_path / "errors" if streams == "output" else writer
    with started({1: writer, 2: errors}, forked.command, command, *map(str, asked.get(command, []))) as process:
        writer.close()
    assert process.exitcode == 141
    assert streams != "output" or errors.read_text() == ""


def test_an_interpreter_whose_reader_leaves_has_nothing_to_add():
    """What is left in its streams when it ends would be complained about, and change the exit code."""
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "mamofair", "datasets"]
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, timeout=120, check=False)
    os.close(writer)
    assert done.returncode == 141
    assert not done.stderr


def test_what_a_command_has_not_flushed_is_discarded_if_its_reader_leaves():
    """The interpreter would complain about it at its end, unless its streams have no buffer."""
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    program = "from mamofair.cli import _app; _app.app = lambda: print('a line'); _app.main()"
    reader, writer = os.pipe()
    os.close(reader)
    words, given = [sys.executable, "-c", program], {"timeout": 120, "check": False, "env": buffered}
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, **given)
    os.close(writer)
    assert done.returncode == 141
    assert not done.stderr


def test_a_message_that_nobody_cut_is_cut(monkeypatch, capsys):
    def broken():
        raise ValueError("word " * 100_000)

    monkeypatch.setattr(_app, "app", broken)
    monkeypatch.setattr(sys, "argv", ["mamofair", "datasets"])
    with pytest.raises(SystemExit):
        main()
    [line] = capsys.readouterr().err.splitlines()
    assert len(line) <= 520


def test_an_attribute_with_two_kinds_of_bins_is_refused(fails, loans, tmp_path):
    asked = ["--target", "approved", "--favorable", "yes", "--sensitive", "age:25", "--sensitive", "age:60"]
    assert "'age'" in fails("train", loans, *asked, "--out", tmp_path / "run")
