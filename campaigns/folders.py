"""Run folders that somebody has tampered with.

Good runs of all four kinds of models (one also with an encoder of tables) are mutated: bits flipped, files cut, swapped
or replaced, links planted, values in JSON, tables and tensors replaced by nonsense, models of scikit-learn and trees of
boosters crafted. In most cases the checksums are rewritten, as a forger would do. A child process with limits of 2 GB
and 60 seconds then loads the folder and predicts for a few rows with every point.

Two outcomes are right: "same", the same predictions as before, and "refused", one sentence that says what must hold.
Where checksums were rewritten, "another model" is right, too: finite scores from valid but different values, such as
other weights. Everything else is wrong: a crash, a hang, any other error, an output that is not finite, a file that
appears outside the folder, or other predictions under the old checksums.
"""

import json
import os
import resource
import shutil
import signal
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from campaigns._harness import Result
from campaigns._tampering import MUTATIONS, write_sums

CASES = 1000
ALARMS = ("wrong",)
_MEMORY, _SECONDS = 2 * 2**30, 60
_SENTENCES = (ValueError, OSError, ImportError)


@cache
def good_runs() -> tuple[Path, dict[str, object]]:
    """Return a folder with good runs, and the rows that each is asked about; built once a process."""
    from campaigns._good_runs import build

    place = Path(tempfile.mkdtemp(prefix="folders-"))
    with threadpool_limits(1):
        return place, build(place)


@cache
def expected(kind: str) -> list[list[float]]:
    place, rows = good_runs()
    return predict(place / kind, rows[kind])


def predict(folder: Path, rows: object) -> list[list[float]]:
    """Return the scores of every point, and of the chosen one, of the model in a folder."""
    import mamofair

    model = mamofair.load(folder)
    every = [model.at(i).decision_function(rows).tolist() for i in range(len(model.front_))]
    return [*every, model.decision_function(rows).tolist()]


def case(seed: int) -> Result:
    rng = np.random.default_rng(seed)
    place, rows = good_runs()
    kind = sorted(rows)[int(rng.integers(len(rows)))]
    name = sorted(MUTATIONS)[int(rng.integers(len(MUTATIONS)))]
    before = expected(kind)
    with tempfile.TemporaryDirectory(prefix="tampered-") as parent:
        folder = Path(parent) / "run"
        shutil.copytree(place / kind, folder)
        forged = MUTATIONS[name](folder, rng)
        if forged:
            write_sums(folder)
        there = sorted(os.listdir(parent))
        outcome, detail = _judge(*ask_child(folder, rows[kind]), before, forged)
        if sorted(os.listdir(parent)) != there:
            outcome, detail = "wrong", f"files appeared: {sorted(os.listdir(parent))}"
    return Result(name, outcome, f"{kind}: {detail}"[:300])


def _judge(status: str, answer: object, before: list[list[float]], forged: bool) -> tuple[str, str]:
    """Return the outcome, and what somebody needs to look into it."""
    if status == "error":
        kind, text, ours = answer  # type: ignore[misc]
        sentence = ours and text.endswith(".") and "\n" not in text and len(text) <= 500
        return ("refused" if sentence else "wrong"), f"{kind}: {text}"
    if status != "scores":
        return "wrong", f"{status} {answer}"
    if answer == before:
        return "same", ""
    if not forged:
        return "wrong", "other predictions under the old checksums"
    return ("another model", "") if _are_scores(answer) else ("wrong", "no finite score for every row")


def _are_scores(answer: object) -> bool:
    """Whether there is a finite number for each of a few rows, from each point."""
    try:
        scores = np.asarray(answer, dtype=float)
    except (TypeError, ValueError):
        return False
    return scores.ndim == 2 and bool(np.isfinite(scores).all())


def ask_child(folder: Path, rows: object) -> tuple[str, object]:
    """Load and predict in a child with limits; return what it says, or how it ended."""
    reader, writer = os.pipe()
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):  # of forking with threads
        child = os.fork()
    if not child:
        os.close(reader)
        _answer(writer, folder, rows)
    os.close(writer)
    status = _wait(child)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    if status is None:
        return "hang", f"after {_SECONDS} s"
    if status or not said:
        return "crash", f"status {status}"
    answer = json.loads(said)
    return answer[0], answer[1]


def _answer(writer: int, folder: Path, rows: object) -> None:
    """Say what came of it, and end the child without anything that the parent has at its end."""
    _limit()
    try:
        with threadpool_limits(1):  # OpenMP's threads do not survive a fork
            said: tuple[str, object] = ("scores", predict(folder, rows))
    except Exception as error:
        said = ("error", [type(error).__name__, str(error), isinstance(error, _SENTENCES)])
    with open("/dev/null", "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    os.write(writer, json.dumps(said).encode())  # a few hundred numbers: less than a pipe holds
    os._exit(0)


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _wait(child: int) -> int | None:
    """Return how a child ended; None if it had to be ended."""
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None
