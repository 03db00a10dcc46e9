"""Kills at any moment: a run is there as it was or as it will be, and training ends as if nothing had happened."""

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
from campaigns._stops import Tree, read_tree, stops, write_tree

import forked
from mamofair.runs import (
    checkpoint_files,
    checkpointed,
    load_run,
    own_folder,
    read_checkpoint,
    require_place,
    restore_checkpoint,
    save,
    write_checkpoint,
)
from mamofair.runs._folders import write_file
from mamofair.runs._locks import replaced_file
from run_fits import FACTORIES, GROUP, X, Y, assert_same, fitted, net, run_of


@pytest.fixture(scope="module")
def runs():
    return run_of(fitted(net(epochs=1))), run_of(fitted(net(epochs=2)))


def epochs_of(folder: Path, *, measured: bool = True) -> int:
    return load_run(folder, measured=measured).estimator.epochs


STEPS = (
    (os, "fsync", 3, 1),  # while files are written
    (Path, "rename", 1, 1),  # before the step that decides
    (Path, "replace", 2, 2),  # while files move to their places
    (Path, "unlink", 1, 2),  # before the plan of the moves is removed
)


@pytest.mark.parametrize(("owner", "name", "call", "epochs"), STEPS, ids=lambda part: getattr(part, "__name__", part))
def test_an_error_while_saving_leaves_the_old_run_or_the_new_one(
    owner, name, call, epochs, runs, tmp_path, monkeypatch
):
    folder = save(runs[0], tmp_path / "run")
    real, calls = getattr(owner, name), []

    def failing(*arguments, **options):
        calls.append(1)
        if len(calls) == call:
            raise OSError("pulled the plug")
        return real(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, failing)
        with pytest.raises(OSError, match="pulled the plug"):
            save(runs[1], folder)
    assert epochs_of(folder) == epochs
    assert epochs_of(save(runs[1], folder)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert not (folder / ".mamofair").exists()


def after_each_stop(root: Path, work: Callable[[], object], places: Path) -> Iterator[Path]:
    """Do the work, and yield copies of what a kill at each of its disk operations leaves."""
    trees = stops(root, work)
    assert len(trees) > 10
    for i, tree in enumerate(trees):
        yield write_tree(tree, places / str(i)) / "run"


def mended(folder: Path) -> Tree:
    """What is in a folder once the next start has looked at it; nothing hidden may be left anywhere."""
    with own_folder(folder):
        pass
    assert not [path for path in folder.parent.rglob("*") if path.name.startswith(".")]
    return read_tree(folder) if folder.exists() else {}


def test_a_stop_at_any_disk_operation_of_saving_leaves_the_old_run_or_the_new_one(runs, tmp_path):
    root, new = tmp_path / "root", run_of(fitted(FACTORIES["boosting"]()))
    folder = save(runs[0], root / "run")
    write_checkpoint(net(), {}, folder)  # of the training that ends here
    (folder / "notes.txt").write_text("mine")
    (folder / "points" / "map.txt").write_text("mine as well")
    old, seen = read_tree(folder), []
    for copy in after_each_stop(root, lambda: save(replace(new, limit=None), folder), tmp_path):
        loaded = type(load_run(copy).estimator).__name__  # before anyone has mended it
        tree = mended(copy)
        assert tree == (old if loaded == "FairNetClassifier" else read_tree(folder))
        seen.append(loaded)
    assert [len([*same]) > 3 for _, same in groupby(seen)] == [True, True]  # first the old one, then the new one
    assert {"notes.txt", "points/map.txt"} <= read_tree(folder).keys()
    assert not {"limit.csv", "checkpoint"} & read_tree(folder).keys()


def test_a_stop_at_any_disk_operation_of_the_first_checkpoint_leaves_nothing_or_something_to_resume(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    seen = []
    for copy in after_each_stop(root, lambda: write_checkpoint(net(), {"seed": 7}, root / "run"), tmp_path):
        tree = mended(copy)
        assert tree in ({}, read_tree(root / "run"))
        seen.append(bool(tree))
        if tree:
            assert read_checkpoint(copy)[1]["seed"] == 7
        elif copy.exists():
            require_place(copy)
    assert [flag for flag, _ in groupby(seen)] == [False, True]


@pytest.mark.parametrize("begin", [write_checkpoint, lambda *_: None], ids=["over another", "on its own"])
def test_a_stop_at_any_disk_operation_of_a_later_checkpoint_leaves_one_of_the_two(begin, runs, tmp_path):
    root = tmp_path / "root"
    folder = save(runs[0], root / "run")
    begin(net(), {"seed": 1}, folder)
    before = checkpoint_files(folder)
    seen = []
    for copy in after_each_stop(root, lambda: write_checkpoint(runs[1].estimator, {"seed": 2}, folder), tmp_path):
        assert epochs_of(copy, measured=False) == 1
        mended(copy)
        found = checkpoint_files(copy)
        assert found in (before, checkpoint_files(folder))
        seen.append(found == before)
    assert [flag for flag, _ in groupby(seen)] == [True, False]
    for copy in after_each_stop(root, lambda: restore_checkpoint(folder, before), tmp_path / "back"):
        assert epochs_of(copy, measured=False) == 1
        mended(copy)
        assert checkpoint_files(copy) in (before, checkpoint_files(tmp_path / str(len(seen) - 1) / "run"))
    assert checkpoint_files(folder) == before


def test_a_stop_at_any_disk_operation_of_a_file_leaves_the_old_file_or_the_new_one(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    path = root / "run"
    path.write_bytes(b"old")

    def write() -> None:
        with replaced_file(path) as file:
            file.write(b"new content")

    trees = stops(root, write)
    assert {tree["run"] for tree in trees} == {b"old", b"new content"}
    for i, tree in enumerate(trees):
        copy = write_tree(tree, tmp_path / str(i))
        with replaced_file(copy / "run") as file:  # whoever writes it next removes what was left
            file.write(b"again")
        assert read_tree(copy) == {"run": b"again"}


def test_writing_a_file_makes_all_folders_above_it(tmp_path):
    path = tmp_path / "checkpoint" / "points" / "0.safetensors"
    write_file(path, b"as it was")
    write_file(path, b"as it is")
    assert path.read_bytes() == b"as it is"


def test_a_file_that_is_being_written_is_no_leftover(tmp_path):
    path = tmp_path / "decided.csv"
    with replaced_file(path) as first:
        with replaced_file(path) as second:
            second.write(b"2")
        first.write(b"1")
    assert read_tree(tmp_path) == {"decided.csv": b"1"}


KILLED_WHILE_SAVING = """
import os, pathlib, signal, sys
from mamofair.runs import load_run, save
run = load_run({new!r})
real, calls = pathlib.Path.replace, []
def replace(self, target):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, target)
pathlib.Path.replace = replace
save(run, {folder!r})
"""


def test_a_kill_between_two_moves_leaves_the_new_run(runs, tmp_path):
    folder, new = save(runs[0], tmp_path / "run"), save(runs[1], tmp_path / "new")
    killed = forked.run(exec, KILLED_WHILE_SAVING.format(new=str(new), folder=str(folder)), {})
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert json.loads((folder / "run.json").read_bytes()) != json.loads((new / "run.json").read_bytes())  # not yet
    assert epochs_of(folder) == 2
    assert mended(folder) == read_tree(new)


KILLED_WHILE_TRAINING = """
import os, signal
from pathlib import Path
from run_fits import GROUP, X, Y, net
from mamofair.runs import checkpointed
fitting = net(epochs=6).fitting(X, Y, sensitive_features=GROUP)
for done, _ in enumerate(checkpointed(fitting, {{"seed": 0}}, Path({folder!r}), seconds=0), start=1):
    if done == 3:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_training_that_was_killed_ends_with_the_same_front_bit_for_bit(tmp_path):
    killed = forked.run(exec, KILLED_WHILE_TRAINING.format(folder=str(tmp_path)), {})
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    estimator, settings = read_checkpoint(tmp_path)
    assert settings["seed"] == 0
    assert 1 <= estimator.search_.learner.training.epoch < 6
    for _ in estimator.resume(X, Y, sensitive_features=GROUP):
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
        going = checkpointed(estimator.resume(X, Y, sensitive_features=GROUP), {}, tmp_path, seconds=0)
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
