"""Folders that someone has tampered with: refused with a sentence, and nothing in them is ever executed."""

import hashlib
import json
import os
import pickle
from pathlib import Path

import pytest
import skops.io
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import FunctionTransformer

from mamofair.runs import load_run, own_folder, save
from run_fits import fitted, net, run_of

EXECUTED = []


class Evil:
    def __reduce__(self):
        return EXECUTED.append, (1,)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    return save(run_of(fitted(net(epochs=1))), tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def folder(saved, tmp_path) -> Path:
    for path in saved.rglob("*.*"):
        target = tmp_path / path.relative_to(saved)
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(path.read_bytes())
    return tmp_path


def plant(folder: Path, name: str, content: bytes) -> None:
    """Replace a file, and its checksum with it."""
    (folder / name).write_bytes(content)
    head = json.loads((folder / "run.json").read_bytes())
    head["files"][name] = hashlib.sha256(content).hexdigest()
    (folder / "run.json").write_text(json.dumps(head))


def edit(folder: Path, **changes) -> None:
    head = json.loads((folder / "run.json").read_bytes())
    (folder / "run.json").write_text(json.dumps(head | changes))


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.*") if path.name != "run.json")


def test_every_file_is_covered_by_a_checksum(folder):
    for name in names(folder):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        with pytest.raises(ValueError, match=f"content of {name}.*altered or cut short"):
            load_run(folder)
        (folder / name).unlink()
        with pytest.raises(FileNotFoundError, match=f"{name}: it is missing"):
            load_run(folder)
        (folder / name).write_bytes(content)
    load_run(folder)


def test_a_link_to_itself_is_refused_in_one_sentence(folder):
    for name in ("front.csv", "estimator.json"):
        content = (folder / name).read_bytes()
        (folder / name).unlink()
        (folder / name).symlink_to(name)
        with pytest.raises(ValueError, match=f"must name files of its own folder: found '{name}'"):
            load_run(folder)
        (folder / name).unlink()
        (folder / name).write_bytes(content)
    load_run(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_in_the_place_of_any_file_is_refused_at_once(folder):
    for name in (*names(folder), "run.json"):
        content = (folder / name).read_bytes()
        (folder / name).unlink()
        os.mkfifo(folder / name)  # whoever opened it would wait until somebody writes into it
        with pytest.raises(ValueError, match="must have regular files: found"):
            load_run(folder)
        (folder / name).unlink()
        (folder / name).write_bytes(content)
    load_run(folder)
    os.mkfifo(folder / ".report.html.abc.part")
    with own_folder(folder):  # looks for files that killed processes left behind
        pass


def test_a_pickle_in_the_place_of_any_file_is_never_executed(folder):
    for name in [*names(folder), "encoder.skops", "points/model_000.skops"]:
        if name in ("front.csv", "limit.csv", "history.csv"):
            continue  # tables, of which nothing is taken but text and numbers
        before = {p: p.read_bytes() for p in (folder / name, folder / "run.json") if p.exists()}
        plant(folder, name, pickle.dumps(Evil()))
        if name.startswith("points/model"):
            document = json.loads((folder / "estimator.json").read_bytes())
            document["learned"]["dict"]["extra"] = {"model": "model_000.skops"}
            plant(folder, "estimator.json", json.dumps(document).encode())
        with pytest.raises(Exception):  # noqa: B017, PT011  # whatever the format's own reader says
            load_run(folder)
        for path, content in before.items():
            path.write_bytes(content)
    assert not EXECUTED


def test_types_outside_the_list_are_refused_by_name(folder):
    foreign = skops.io.dumps(ColumnTransformer([("f", FunctionTransformer(names), ["a"])]))
    plant(folder, "encoder.skops", foreign)
    with pytest.raises(ValueError, match=r"test_untrusted_folders\.names"):
        load_run(folder)
    head = json.loads((folder / "run.json").read_bytes())
    del head["files"]["encoder.skops"]
    (folder / "run.json").write_text(json.dumps(head))
    document = json.loads((folder / "estimator.json").read_bytes())
    for planted, message in (
        ({"is": "Popen", "of": {"args": "true"}}, "found Popen"),
        ({"call": "os.system"}, "does not write"),
    ):
        plant(folder, "estimator.json", json.dumps(document | {"parameters": {"selection": planted}}).encode())
        with pytest.raises(ValueError, match=message):
            load_run(folder)
    plant(folder, "estimator.json", json.dumps(document | {"class": "annotations"}).encode())
    with pytest.raises(ValueError, match="one of mamofair's estimators: found 'annotations'"):
        load_run(folder)


def test_no_file_outside_the_folder_is_read(folder):
    edit(folder, files={"../secret": "0"})
    with pytest.raises(ValueError, match=r"files of its own folder: found '\.\./secret'"):
        load_run(folder)


def test_a_newer_format_is_told(folder):
    edit(folder, format=99)
    with pytest.raises(ValueError, match=r"newer mamofair \(format 99; .* up to 1\): pip install -U mamofair\.$"):
        load_run(folder)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"format": "x"}'])
def test_a_broken_list_is_told(folder, content):
    (folder / "run.json").write_bytes(content)
    with pytest.raises(ValueError, match="must be a run's: found something else"):
        load_run(folder)


def test_what_is_no_run_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no run"):
        load_run(tmp_path / "nowhere")
    with pytest.raises(ValueError, match=r"found no run\.json"):
        load_run(tmp_path)
