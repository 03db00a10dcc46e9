"""What many tests share: a table of eight people computed by hand, a run, and hypothesis settings."""

import functools
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer.main
from hypothesis import HealthCheck, settings

settings.register_profile(
    "offline", deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("offline")

# Some virtual machines announce AMX and trap its instructions: oneDNN's half precision would end the process there.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

# LightGBM's threads wait for each other in a loop; where every core runs tests, a fit of 0.7 CPU seconds takes 8 so.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Many tests start a process: without compiled modules, each would compile the whole package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Shells start background jobs with Ctrl-C ignored; tests raise it themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)

if os.name != "posix":  # they limit and measure processes with the module `resource`
    collect_ignore = ["campaigns", "test_tracking.py", "runs/test_crafted_boosters.py"]

# Typer builds every command anew for each call of the app: with hundreds of calls, that takes longer than many of them.
typer.main.get_command = functools.cache(typer.main.get_command)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def eight_people() -> pd.DataFrame:
    """Women: TP, FN, FP, TN; men: TP, TP, FP, TN. So, women and men:

    P(ŷ=1) 2/4, 3/4 · P(ŷ=1|y=1) 1/2, 2/2 · P(ŷ=1|y=0) 1/2, 1/2 · P(ŷ=y) 2/4, 3/4 · P(y=1|ŷ=1) 1/2, 2/3 ·
    P(y=1|ŷ=0) 1/2, 0/1.
    """
    return pd.DataFrame(
        {
            "sex": ["F", "F", "F", "F", "M", "M", "M", "M"],
            "y": [1, 1, 0, 0, 1, 1, 0, 0],
            "predicted": [1, 0, 1, 0, 1, 1, 1, 0],
        }
    )


@pytest.fixture(scope="session")
def loans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of applicants."""
    from loan_table import applicants

    path = tmp_path_factory.mktemp("tables") / "loans.csv"
    applicants(600).to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def trained(loans: Path) -> Path:
    """A run on the loans."""
    from typer.testing import CliRunner

    from loan_table import ASKED
    from mamofair.cli import app

    folder = loans.parent / "runs" / "loans"
    done = CliRunner().invoke(app, ["train", str(loans), *ASKED, "--epochs", "3", "--out", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return what runs a command that must fail: one line on stderr, nothing on stdout, exit code 2."""

    from mamofair.cli import main

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
