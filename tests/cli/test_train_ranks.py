"""`torchrun … -m mamofair train`: several real processes, of which one speaks and writes, and any may be killed."""

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
import torch
from torch.distributed import HashStore
from typer.testing import CliRunner

import forked
from loan_table import ASKED, applicants
from mamofair import __main__ as mamofair_main
from mamofair._descent.ranks import Ranks
from mamofair.cli import _distributed, app
from mamofair.runs import load_run, read_checkpoint
from started_ranks import commanded, commanded_until, said
from stopped_runs import results

pytestmark = pytest.mark.usefixtures("loopback")

LONG = (*ASKED, "--epochs", "4")


@pytest.fixture(scope="module")
def whole(loans, tmp_path_factory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A training by torchrun that nobody stops."""
    out = tmp_path_factory.mktemp("whole") / "run"
    # Forked from a process that has imported torch: three interpreters that start would take ten seconds.
    launch = ["--standalone", "--nproc-per-node", "2", "--start-method", "fork", "--run-path", mamofair_main.__file__]
    return out, forked.run(torchrun, [*launch, "train", str(loans), *LONG, "--json", "--out", str(out)])


def torchrun(arguments: list[str]) -> None:
    """Be `torchrun …`, with one thread for each rank, as `commanded` has."""
    from torch.distributed import run

    torch.set_num_threads(1)
    run.main(arguments)


@pytest.fixture(scope="module")
def killed(loans, tmp_path_factory) -> tuple[Path, list[int | None], list[str]]:
    """A training of which rank 1 was killed; what each rank ended with and said."""
    folder = tmp_path_factory.mktemp("killed")
    out = folder / "run"
    codes = commanded_until(folder, out, {1: signal.SIGKILL}, "train", loans, *LONG, "--out", out)
    return out, codes, said(folder)


def test_torchrun_trains_with_all_ranks_and_one_of_them_speaks(whole, loans):
    out, done = whole
    assert done.returncode == 0, done.stderr
    found, run = json.loads(done.stdout), load_run(out)
    assert found["chosen"]["point"] == run.estimator.selected_
    assert run.settings["ranks"] == 2
    assert run.estimator.predict(applicants(20)).shape == (20,)
    assert len([line for line in done.stderr.splitlines() if line.startswith("Step 1 of 4:")]) == 1
    assert (out / "report.html").exists()
    assert not (out / "checkpoint").exists()


def test_a_rank_that_is_killed_ends_the_job_with_one_line(killed):
    out, codes, lines = killed
    assert codes == [2, -signal.SIGKILL]
    [line] = [line for line in lines[0].splitlines() if line.startswith("mamofair:")]
    assert line.startswith("mamofair: A rank was lost (")
    assert line.endswith(f"To continue, with any number of ranks: mamofair train --resume {out}")
    assert not lines[1]
    assert read_checkpoint(out)[0].search_.learner.training.epoch == 1


def test_as_many_ranks_go_on_and_end_with_the_same_front_bit_for_bit(killed, whole, tmp_path):
    out = shutil.copytree(killed[0], tmp_path / "run")
    assert commanded(tmp_path, "train", "--resume", out) == [0, 0], said(tmp_path)
    assert results(out) == results(whole[0])
    assert not (out / "checkpoint").exists()


def test_another_number_of_ranks_goes_on_as_well(killed, whole, tmp_path):
    out = shutil.copytree(killed[0], tmp_path / "run")
    done = CliRunner().invoke(app, ["train", "--resume", str(out)])
    assert done.exit_code == 0, done.output
    run = load_run(out)
    assert run.settings["ranks"] == 1
    assert len(run.test) == len(run.estimator.front_) >= 2
    assert not run.estimator.front_.is_constant.all()
    before = read_checkpoint(killed[0])[0].history_
    history = run.estimator.history_
    assert history["epoch"].max() > before["epoch"].max()
    assert history["cross_entropy"][: len(before)].tolist() == before["cross_entropy"].tolist()
    assert results(out) != results(whole[0])  # each rank drops units of its own


@pytest.mark.parametrize("asked", [(0, 1), (1,)], ids=["all", "one"])
def test_ctrl_c_keeps_the_front_found_so_far(asked, loans, tmp_path):
    out = tmp_path / "run"
    sent = dict.fromkeys(asked, signal.SIGINT)
    codes = commanded_until(tmp_path, out, sent, "train", loans, *LONG, "--out", out)
    lines = said(tmp_path)
    assert codes == [0, 0], lines
    assert "mamofair: Interrupted: the run contains the models found so far" in lines[0]
    assert not lines[1]
    run = load_run(out)
    assert run.settings["interrupted"]
    assert len(run.test) == len(run.estimator.front_) >= 1
    assert read_checkpoint(out)[0].search_.learner.training.epoch < 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "aproved", "--sensitive", "gender"], "no column 'aproved' in loans.csv. Did you mean 'approved'"),
        ([*ASKED, "--calibration-fraction", "2"], "`calibration_fraction` must be"),
        ([*ASKED, "--model", "boosting"], "`--model boosting` trains in one process: drop torchrun"),
    ],
)
def test_what_is_wrong_is_told_once(arguments, message, loans, tmp_path):
    assert commanded(tmp_path, "train", loans, *arguments, "--out", tmp_path / "run") == [2, 2]
    [line] = "".join(said(tmp_path)).splitlines()
    assert message in line
    assert "".join(said(tmp_path, name="out")) == ""


def test_a_job_of_one_needs_no_group(loans, tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "1")
    done = CliRunner().invoke(app, ["train", str(loans), *ASKED, "--epochs", "1", "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert load_run(tmp_path / "run").settings["ranks"] == 1


def test_an_error_after_the_others_have_left_is_told_as_it_is(monkeypatch):
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(_distributed, "_connect", lambda: _distributed.Job(Ranks(0, 2), HashStore()))

    def saved() -> None:
        with _distributed.join_ranks() as job:
            job.leave()
            raise OSError("The disk is full.")

    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(OSError, match="disk is full"):
            saved()
    finally:
        signal.signal(signal.SIGTERM, before)
