"""A table of applicants, a run trained on it, and the command line in this process."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from loans import ASKED, applicants
from typer.testing import CliRunner

from mamofair.cli import app, main


@pytest.fixture(scope="session")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "loans.csv"
    applicants(600).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def trained(loans: Path) -> Path:
    """A run on the loans."""
    folder = loans.parent / "runs" / "loans"
    done = CliRunner().invoke(app, ["train", str(loans), *ASKED, "--epochs", "3", "--out", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return what runs a command that must fail: one line on stderr, nothing on stdout, exit code 2."""

    def run(*arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["mamofair", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert ended.value.code == 2, said.err
        assert not said.out
        [line] = said.err.splitlines()
        return line

    return run
