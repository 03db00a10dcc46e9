"""Several processes and one folder: one of them writes, readers see a whole run, and other people's files stay."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.process import BaseProcess
from threading import Thread

import pytest
from campaigns._stops import read_tree

from forked import CONTEXT, started
from mamofair.cli._report import report
from mamofair.runs import _load, load_run, own_folder, require_place, save, save_alternatives, write_checkpoint
from run_fits import fitted, net, run_of


@pytest.fixture(scope="module")
def run():
    return run_of(fitted(net(epochs=1)))


@contextmanager
def process(code: str, **arguments: object) -> Iterator[BaseProcess]:
    """Start code beside these tests, and wait until it has said something."""
    ours, theirs = CONTEXT.Pipe(duplex=False)
    with started({1: theirs}, exec, code, arguments) as beside:
        theirs.close()
        try:
            with open(ours.fileno(), closefd=False) as said:
                assert said.readline() == "ready\n"
            yield beside
        finally:
            beside.kill()


HOLDS = """
import time
from mamofair.runs import own_folder
with own_folder(folder):
    print("ready", flush=True)
    time.sleep(600)
"""


def test_while_one_process_writes_others_are_refused_until_it_is_dead(run, loans, trained, fails, tmp_path):
    folder = tmp_path / "run"
    refused = f"another one is writing into {str(folder)!r}"
    columns = ("--target", "approved", "--favorable", "yes", "--sensitive", "gender")
    with process(HOLDS, folder=folder) as other:
        with pytest.raises(BlockingIOError, match="another one is writing"):
            save(run, folder)
        with pytest.raises(BlockingIOError, match="another one is writing"):
            write_checkpoint(net(), {}, folder)
        assert refused in fails("train", loans, *columns, "--force", "--out", folder)
        assert refused in fails("train", "--resume", folder)
        assert list(read_tree(folder)) == [".mamofair", ".mamofair/lock"]
        other.kill()
        other.join()
        assert list(read_tree(folder)) == [".mamofair", ".mamofair/lock"]  # it is there, and nobody holds it
    require_place(folder)
    save(run, folder)
    assert not (folder / ".mamofair").exists()


def test_a_thread_may_take_its_lock_again_and_another_thread_may_not(tmp_path):
    folder, refused = tmp_path / "run", []

    def other() -> None:
        try:
            with own_folder(folder):
                pass
        except BlockingIOError as error:
            refused.append(error)

    with own_folder(folder):
        with own_folder(tmp_path / "else" / ".." / "run"):
            pass
        assert (folder / ".mamofair" / "lock").exists()
        thread = Thread(target=other)
        thread.start()
        thread.join()
    assert len(refused) == 1
    assert not folder.exists()  # nothing was written


def test_an_empty_folder_of_ones_own_is_not_removed(tmp_path):
    (tmp_path / "mine").mkdir()
    for folder in (tmp_path / "mine", tmp_path / "a" / "b"):
        with own_folder(folder):
            pass
    assert list(read_tree(tmp_path)) == ["mine"]


SAVES = """
from itertools import cycle
from mamofair.runs import load_run, save
runs = [load_run(folder) for folder in folders]
print("ready", flush=True)
for run in cycle(runs):
    save(run, folder)
"""


def test_who_reads_while_others_write_sees_one_whole_run(run, tmp_path):
    other = run_of(fitted(net(epochs=2)))
    folders = [save(run, tmp_path / "one"), save(replace(other, limit=None), tmp_path / "two")]
    folder = save(run, tmp_path / "run")
    seen = set()
    with process(SAVES, folder=folder, folders=folders):
        for reads in range(5000):
            found = load_run(folder)
            seen.add((found.estimator.epochs, found.limit is None, found.settings["checksum"]))
            if reads >= 60 and len(seen) > 1:
                break
    assert {(epochs, bare) for epochs, bare, _ in seen} == {(1, False), (2, True)}
    assert len(seen) == 2


def test_a_run_that_is_replaced_between_its_list_and_its_files_is_read_again(run, tmp_path, monkeypatch):
    folder, other = save(run, tmp_path / "run"), run_of(fitted(net(epochs=2)))
    real, reads = _load.read_files, []

    def read_files(*arguments):
        reads.append(1)
        if len(reads) == 1:
            save(other, folder)  # a training ends right here
        return real(*arguments)

    monkeypatch.setattr(_load, "read_files", read_files)
    assert load_run(folder).estimator.epochs == 2
    assert len(reads) == 2


def test_a_report_that_is_made_while_the_run_is_replaced_is_the_new_runs(run, tmp_path, monkeypatch):
    folder = save(run, tmp_path / "run")
    assert save_alternatives({"sentences": ["None found."]}, folder).read_text().count("None found.") == 1
    other, pages = run_of(fitted(net(epochs=2))), []

    def write(found, path, alternatives, **options):
        if not pages:
            save(other, folder)  # meanwhile, a training ends
        pages.append((found.estimator.epochs, alternatives))
        path.write_text(str(found.estimator.epochs))

    monkeypatch.setattr("mamofair.report.write", write)
    report(folder, None, "html", 0, 0, False)
    assert pages == [(1, ["None found."]), (2, [])]
    assert (folder / "report.html").read_text() == "2"


def test_files_that_are_not_the_runs_stay_and_its_own_go(run, tmp_path):
    folder = save(run, tmp_path / "run", page=lambda _, path: path.write_text("page"))
    assert {"limit.csv", "report.html"} <= read_tree(folder).keys()
    others = {"notes.txt": "mine", "decided.csv": "a,b", "points/mine.txt": "mine", "deep/er/file": "mine"}
    for name, text in others.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    save(replace(run, limit=None), folder)
    assert {name: (folder / name).read_text() for name in others} == others
    assert not {"limit.csv", "report.html"} & read_tree(folder).keys()
    load_run(folder)


@pytest.mark.parametrize("name", ["limit.csv", "front.csv", "points", "checkpoint/run.json/mine", "report.html/mine"])
def test_a_file_of_ones_own_under_a_name_of_the_runs_is_not_replaced(name, run, tmp_path):
    folder = save(replace(run, limit=None), tmp_path / "run")
    path = folder / name
    if name in ("front.csv", "points"):  # the run's own, taken over by somebody
        path = folder / f"{name}.moved"
        (folder / name).rename(path)
        (folder / name).mkdir() if name == "front.csv" else (folder / name).write_text("mine")
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    before = read_tree(folder)
    with pytest.raises(FileExistsError, match="not the run's"):
        save(run, folder)
    assert read_tree(folder) == before


def test_a_list_of_files_that_leads_elsewhere_removes_nothing_there(run, tmp_path):
    folder = save(run, tmp_path / "run")
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "mine.txt").write_text("mine")
    (folder / "link").symlink_to(tmp_path / "far")
    head = (folder / "run.json").read_text()
    for name in ("../mine.txt", str(tmp_path / "mine.txt"), "link/mine.txt"):
        (folder / "run.json").write_text(head.replace('"files": {', '"files": {"' + name + '": "0",'))
        with pytest.raises(ValueError, match="files of its own folder"):
            load_run(folder)
        save(run, folder)
        load_run(folder)
    assert {"mine.txt", "far/mine.txt"} <= read_tree(tmp_path).keys()
