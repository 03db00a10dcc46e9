"""Kills at any moment: a run is there as it was or as it will be, and training ends as if nothing had happened."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mamofair.estimators._state import continued
from mamofair.runs import _folders, checkpointed, load_run, read_checkpoint, save, write_checkpoint
from run_fits import GROUP, X, Y, assert_same, fitted, net, run_of

TESTS = str(Path(__file__).parents[1])


@pytest.fixture(scope="module")
def runs():
    return run_of(fitted(net(epochs=1))), run_of(fitted(net(epochs=2)))


def epochs_of(folder: Path) -> int:
    return load_run(folder).estimator.epochs


STEPS = (
    (os, "fsync", 3),  # while files are written
    (Path, "rename", 1),  # before the old one is moved away
    (Path, "rename", 2),  # between the two
    (_folders, "_flush", 3),  # after both
)


@pytest.mark.parametrize(("owner", "name", "call"), STEPS, ids=lambda part: getattr(part, "__name__", str(part)))
def test_an_error_while_saving_leaves_the_old_run_or_the_new_one(owner, name, call, runs, tmp_path, monkeypatch):
    old, new = runs
    folder = save(old, tmp_path / "run")
    real, calls = getattr(owner, name), []

    def failing(*arguments):
        calls.append(1)
        if len(calls) == call:
            raise OSError("pulled the plug")
        return real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, failing)
        with pytest.raises(OSError, match="pulled the plug"):
            save(new, folder)
    found = epochs_of(folder)
    assert found == (1 if (owner, name, call) in STEPS[:2] else 2)
    assert epochs_of(save(new, folder)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def in_a_process(code: str) -> subprocess.CompletedProcess[str]:
    """Run code beside these tests, in a process that kills itself."""
    paths = os.pathsep.join([TESTS, *sys.path])
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


KILLED_WHILE_SAVING = """
import os, pathlib, signal, sys
from mamofair.runs import load_run, save
run = load_run({new!r})
real, calls = pathlib.Path.rename, []
def rename(self, target):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, target)
pathlib.Path.rename = rename
save(run, {folder!r})
"""


def test_a_kill_between_the_renames_leaves_the_new_run(runs, tmp_path):
    folder, new = save(runs[0], tmp_path / "run"), save(runs[1], tmp_path / "new")
    killed = in_a_process(KILLED_WHILE_SAVING.format(new=str(new), folder=str(folder)))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not folder.exists()
    assert epochs_of(folder) == 2


KILLED_WHILE_TRAINING = """
import os, signal
from pathlib import Path
from run_fits import GROUP, X, Y, net
from mamofair.runs import _folders, checkpointed
fitting = net(epochs=6).fitting(X, Y, sensitive_features=GROUP)
for done, _ in enumerate(checkpointed(fitting, {{"seed": 0}}, Path({folder!r}), seconds=0), start=1):
    if done == 3:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_training_that_was_killed_ends_with_the_same_front_bit_for_bit(tmp_path):
    killed = in_a_process(KILLED_WHILE_TRAINING.format(folder=str(tmp_path)))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    estimator, settings = read_checkpoint(tmp_path)
    assert settings["seed"] == 0
    assert 1 <= estimator._epoch < 6
    for _ in continued(estimator, X, Y, sensitive_features=GROUP):
        assert estimator.epochs == 6
    assert_same(estimator, fitted(net(epochs=6)))
    assert estimator.get_params() == net(epochs=6).get_params()


@pytest.mark.parametrize("options", [{"patience": 2}, {"epochs": 1}, {"members": 2, "network": net().network}])
def test_training_that_stops_after_any_epoch_goes_on_from_its_checkpoint(options, tmp_path):
    whole = fitted(net(**{"epochs": 5} | options))
    estimator = net(**{"epochs": 5} | options)
    write_checkpoint(estimator, {}, tmp_path)
    ends = False
    while not ends:  # one epoch at a time, each from the last one's checkpoint
        estimator, _ = read_checkpoint(tmp_path)
        going = checkpointed(continued(estimator, X, Y, sensitive_features=GROUP), {}, tmp_path, seconds=0)
        ends = next(going, None) is None
    assert_same(estimator, whole)


def test_a_finished_run_has_nothing_to_resume(runs, tmp_path):
    with pytest.raises(ValueError, match="nothing to resume"):
        read_checkpoint(save(runs[0], tmp_path / "run"))
    with pytest.raises(FileNotFoundError, match="no run"):
        read_checkpoint(tmp_path / "nowhere")


def test_a_checkpoint_is_no_run_and_leaves_the_old_run_as_it_was(runs, tmp_path):
    write_checkpoint(net(), {}, tmp_path / "new")
    with pytest.raises(ValueError, match="mamofair train --resume"):
        load_run(tmp_path / "new")
    folder = save(runs[0], tmp_path / "run")
    write_checkpoint(net(epochs=9), {}, folder)
    assert epochs_of(folder) == 1
    assert (save(runs[1], folder, resumable=True) / "checkpoint").is_dir()
    assert not (save(runs[1], folder) / "checkpoint").exists()
    shutil.rmtree(folder)
