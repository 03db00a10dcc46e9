"""Commands are killed (SIGKILL), and what they leave behind must be intact.

Fresh trainings, trainings over an old run (`--force`), resumed trainings, `predict -o` and `save`, of all four kinds of
models, are killed at a random moment. One in eight is a complete `python -m mamofair`; the others are processes that
have already imported everything, and write a checkpoint at every step. In addition, each command is stopped at every
single disk operation, for each kind of model, including in the middle of a write: dozens of stops make one case.

*Right*: the folder loads as the old run or as the new one, byte for byte, or it can be resumed and ends with exactly
the files of an uninterrupted training; models in skops' format, which contain times and addresses, are compared by
their decisions. If nothing was saved yet, the same command must be able to start again. Other files in the folder must
still be there, and no hidden files may be left after the next command.
"""

import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

from campaigns._children import KILLED, kill_after, start, stops_of, wait
from campaigns._harness import Result
from campaigns._scenes import ACTIONS, MODELS, Scene, scene
from campaigns._stops import write_tree

KILLS = 200
CASES = KILLS + len(ACTIONS) * len(MODELS)
ALARMS = ("wrong",)


def case(seed: int) -> Result:
    """Kill one command at a random moment, or stop it at every disk operation."""
    rng, action = random.Random(seed), ACTIONS[seed % len(ACTIONS)]
    if seed < KILLS:
        model = rng.choice(list(MODELS))
        return _result(f"kill during {action}", model, lambda: _kill(scene(model), action, rng, seed))
    model = list(MODELS)[(seed - KILLS) // len(ACTIONS)]
    return _result(f"every disk operation of {action}", model, lambda: _stop(scene(model), action))


def _result(kind: str, model: str, attempt: Callable[[], tuple[str, str]]) -> Result:
    try:
        outcome, detail = attempt()
    except Exception as error:  # whatever it is, a kill must not lead to it
        return Result(kind, "wrong", f"{model}: {type(error).__name__}: {' '.join(str(error).split())[-300:]}")
    return Result(kind, outcome, f"{model}: {detail}")


def _kill(on: Scene, action: str, rng: random.Random, seed: int) -> tuple[str, str]:
    """Kill a command, judge what is left, go on from there, and judge the end."""
    place = on.begin(action, on.home / f"kill {seed}")
    delay = rng.uniform(0, 0.9 * _seconds(on, action))
    if action != "save" and rng.random() < 1 / 8:
        code = _kill_command(on, action, place, delay)
    else:
        code = kill_after(start(on.work(action, place), place.with_suffix(".log")), delay)
    if code not in (0, KILLED):
        raise RuntimeError(place.with_suffix(".log").read_text())
    found = on.left(action, place)
    on.finish(action, found, place)
    shutil.rmtree(place)
    return found, f"after {delay:.3f} s" if code else "had ended"


def _kill_command(on: Scene, action: str, place: Path, delay: float) -> int:
    """Kill a real command some time after it has begun to write: most of its time goes into imports."""
    words = [sys.executable, "-m", "mamofair", *map(str, on.arguments(action, place))]
    with place.with_suffix(".log").open("w") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log, env=os.environ | {"PYTHONPATH": _PATHS})
    while process.poll() is None and not any(path.name.startswith(".") for path in place.rglob("*")):
        time.sleep(0.001)
    time.sleep(delay)
    process.kill()
    return process.wait()


_PATHS = os.pathsep.join(sys.path)


@cache
def _seconds(on: Scene, action: str) -> float:
    """Return how long a command takes if nobody kills it."""
    place = on.begin(action, on.home / f"whole {action}")
    begun = time.monotonic()
    if code := wait(start(on.work(action, place), place.with_suffix(".log"))):
        raise RuntimeError(f"{action} ends with {code}: {place.with_suffix('.log').read_text()[-300:]}")
    seconds = time.monotonic() - begun
    if on.left(action, place) != "new":
        raise RuntimeError(f"{action} must give the same again")
    return seconds


def _stop(on: Scene, action: str) -> tuple[str, str]:
    """Stop a command at every disk operation; of states that the next start makes alike, one is gone on from."""
    place = on.begin(action, on.home / f"stops {action}")
    trees = stops_of(on.work(action, place), place, on.home / f"{action}.log")
    counts, finished = Counter[str](), set[object]()
    for i, tree in enumerate(trees):
        copy = write_tree(tree, on.home / f"stop {action} {i}")
        try:
            found = on.left(action, copy)
            state = (found, *((p.relative_to(copy), p.read_bytes()) for p in sorted(copy.rglob("*")) if p.is_file()))
            if state not in finished:
                on.finish(action, found, copy)
                finished.add(state)
        except Exception as error:
            raise RuntimeError(f"stop {i} of {len(trees)}: {type(error).__name__}: {error}") from error
        counts[found] += 1
        shutil.rmtree(copy)
    return "right", f"{len(trees)} stops: {', '.join(f'{count} {name}' for name, count in counts.items())}"
