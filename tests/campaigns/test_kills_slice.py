"""A slice of the campaign of kills, in a process that nothing but it has threads in: it forks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from campaigns._scenes import Scene

_CASES = """
import json, sys
from dataclasses import asdict
from campaigns.kills import case
print(json.dumps([asdict(case(int(seed))) for seed in sys.argv[1:]]))
"""
_BOOSTING = 200 + 5  # the first case of stops at every disk operation of a boosting model
_SEEDS = (4, _BOOSTING + 3, _BOOSTING + 4)  # all of one scene: making another takes seconds


@pytest.fixture(scope="module")
def cases() -> list[dict[str, str]]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _CASES, *map(str, _SEEDS)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=240)
    found: list[dict[str, str]] = json.loads(done.stdout)
    return found


def test_nothing_that_a_kill_leaves_is_wrong(cases):
    assert not [case for case in cases if case["outcome"] == "wrong"]


def test_kills_leave_old_runs_and_new_ones(cases):
    saved = next(case for case in cases if case["kind"] == "every disk operation of save")
    counts = dict(reversed(part.split(" ", 1)) for part in saved["detail"].partition("stops: ")[2].split(", "))
    assert int(counts["old"]) > 10
    assert int(counts["new"]) > 10


def test_half_a_file_of_decisions_would_be_noticed(tmp_path: Path):
    made, place = Scene("net", tmp_path), tmp_path / "place"
    (tmp_path / "decided.csv").write_text("all of it")
    made.begin("predict -o", place)
    assert made.left("predict -o", place) == "old"
    (place / "decided.csv").write_text("all of")
    with pytest.raises(ValueError, match="left behind: 6 bytes of something else"):
        made.left("predict -o", place)
