"""What kills are tried on: commands with a beginning, and the only things that may be left of them."""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from campaigns._children import command, start, stopped_after, wait
from campaigns._stops import read_tree
from mamofair.runs import holds_run, is_resumable, load_run, own_folder, save
from mamofair.runs._load import read_list

MODELS = {"net": ("--epochs", "3"), "boosting": ("--epochs", "5"), "plugin": (), "auto": ("--effort", "fast")}
ACTIONS = ("train", "train --force", "train --resume", "predict -o", "save")
_LEFT = {  # what a kill may leave
    "train": {"nothing yet", "resumed", "new"},
    "train --force": {"old", "resumed", "new"},
    "train --resume": {"resumed", "new"},
    "predict -o": {"old", "new"},
    "save": {"old", "new"},
}
_NOTES = "Kept by hand."


@dataclass(frozen=True)
class Scene:
    """A model with an old run, the run that replaces it, a training that was stopped, and decisions of the new run."""

    model: str
    home: Path

    @property
    def options(self) -> tuple[object, ...]:
        """What to train, and how."""
        columns = ("--target", "approved", "--favorable", "yes", "--sensitive", "gender", "--no-limit")
        return (self.home / "table.csv", *columns, "--model", self.model, *MODELS[self.model])

    def begin(self, action: str, place: Path) -> Path:
        """Make a folder with what there is before a command; return it."""
        place.mkdir()
        if action == "predict -o":
            (place / "decided.csv").write_text("old")
        elif action != "train":
            shutil.copytree(self.home / ("half" if action == "train --resume" else "old"), place / "run")
            (place / "run" / "notes.txt").write_text(_NOTES)
        return place

    def arguments(self, action: str, place: Path) -> tuple[object, ...]:
        """Return the words of a command."""
        if action == "predict -o":
            return ("predict", self.home / "new", self.home / "table.csv", "-o", place / "decided.csv")
        if action == "train --resume":
            return ("train", "--resume", place / "run")
        force = ("--force",) if action == "train --force" else ()
        return ("train", *self.options, "--out", place / "run", *force)

    def work(self, action: str, place: Path) -> Callable[[], object]:
        """Return what does as a command does."""
        if action == "save":
            return lambda: save(load_run(self.home / "new"), place / "run")
        return command(*self.arguments(action, place))

    def left(self, action: str, place: Path) -> str:
        """Return what a kill has left: old, new, resumed (something that can be) or nothing yet."""
        if action == "predict -o":
            content = (place / "decided.csv").read_bytes()
            known = {b"old": "old", (self.home / "decided.csv").read_bytes(): "new"}
            found = known.get(content, f"{len(content)} bytes of something else")
        else:
            found = self._run(place / "run")
        if found not in _LEFT[action]:
            raise ValueError(f"left behind: {found}")
        return found

    def _run(self, folder: Path) -> str:
        found = self._loaded(folder)
        if not folder.exists():
            return found
        with own_folder(folder):  # as the next start does
            resumable = is_resumable(folder)
        if folder.exists() and self._loaded(folder) != found:
            raise ValueError(f"the next start made {self._loaded(folder)} of {found}")
        return "resumed" if resumable and found != "new" else found

    def _loaded(self, folder: Path) -> str:
        if not holds_run(folder):
            return "nothing yet"
        files = _read_results(folder)
        return next((name for name in ("old", "new") if files == _read_results(self.home / name)), "another run")

    def finish(self, action: str, found: str, place: Path) -> None:
        """Do what a person would do next, and see that it ends like a command that was never stopped."""
        again = "train --resume" if found == "resumed" else action
        if found != "new":
            code = wait(start(self.work(again, place), place.with_suffix(".log")))
            if code:
                raise ValueError(f"{again} ends with {code}: {place.with_suffix('.log').read_text()[-300:]}")
        if action == "predict -o" and found == "new":  # the next one removes what was left
            wait(start(self.work(action, place), place.with_suffix(".log")))
        if (now := self.left(action, place)) != "new":
            raise ValueError(f"{again} has made {now}")
        if hidden := [name for name in read_tree(place) if Path(name).name.startswith(".")]:
            raise ValueError(f"{hidden[0]} was left")
        if action not in ("train", "predict -o") and (place / "run" / "notes.txt").read_text() != _NOTES:
            raise ValueError("notes.txt was changed")


_results: dict[str, dict[str, bytes]] = {}  # under the checksum of a run's files


def _read_results(folder: Path) -> dict[str, bytes]:
    """Load a run, and return its files; of those in skops' format, which hold times and addresses, what they decide."""
    head, files = read_list(folder)
    if head["checksum"] not in _results:
        model = load_run(folder).estimator
        scores = [
            model.at(i).decision_function(_table()) for i in range(0, len(model.front_), 1 + len(model.front_) // 8)
        ]
        plain = {name: content for name, content in files.items() if not name.endswith(".skops")}
        _results[head["checksum"]] = plain | {"scores": np.stack(scores).tobytes()}
    return _results[head["checksum"]]


@cache
def scene(model: str) -> Scene:
    """Train what a scene needs."""
    home = Path(tempfile.mkdtemp(prefix="mamofair-kills-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    made = Scene(model, home)
    _table().to_csv(home / "table.csv", index=False)
    train = ("train", *made.options)
    works = {
        "new": command(*train, "--out", home / "new"),
        "old": command(*train, "--out", home / "old", "--seed", 1),
        "half": stopped_after(2, *train, "--out", home / "half"),
        "decided": command("predict", home / "new", home / "table.csv", "-o", home / "decided.csv"),
    }
    for name, work in works.items():
        code = wait(start(work, home / f"{name}.log"))
        if code != (9 if name == "half" else 0):
            raise RuntimeError(f"{name} of {model} must be made: {(home / f'{name}.log').read_text()[-300:]}")
    return made


def _table(rows: int = 160) -> pd.DataFrame:
    """Return applicants, of whom men with an income are approved more often."""
    rng = np.random.default_rng(0)
    gender = rng.choice(["f", "m"], rows)
    income = rng.normal(3 + (gender == "m"), 1, rows).round(2)
    approved = np.where(income + rng.normal(0, 0.7, rows) > 3.5, "yes", "no")
    job = rng.choice(["clerk", "nurse", "-"], rows)
    return pd.DataFrame({"income": income, "job": job, "gender": gender, "approved": approved})
