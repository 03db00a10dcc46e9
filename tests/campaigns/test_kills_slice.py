"""A slice of the campaign of kills, in a process that nothing but it has threads in: it forks."""

import json
from pathlib import Path

import pytest
from campaigns._scenes import Scene

import forked

_CASES = """
import json
from dataclasses import asdict
from campaigns.kills import case
import rich.progress, typer._adapters, mamofair.cli._predict  # once, not in every process that is killed
import mamofair.report
mamofair.report.write = lambda run, path, *rest, **options: path.touch()  # saving and predicting do without pages
print(json.dumps([asdict(case(seed)) for seed in seeds]))
"""
_BOOSTING = 200 + 5  # the first case of stops at every disk operation of a boosting model
_SEEDS = (4, _BOOSTING + 3, _BOOSTING + 4)  # all of one scene: making another takes seconds


@pytest.fixture(scope="module")
def cases() -> list[dict[str, str]]:
    done = forked.run(exec, _CASES, {"seeds": _SEEDS})
    assert done.returncode == 0, done.stderr
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
