"""The page of what campaigns found, written where some of them have no records."""

import json
import multiprocessing.dummy
from dataclasses import asdict

import pytest
from campaigns._harness import Record, Result

from campaigns import __main__ as command
from campaigns import _harness, _page

NAMES = ("inputs", "folders")


@pytest.fixture
def records(monkeypatch):
    found = {"inputs": [Record("gap", "right", seed=1)], "folders": [Record("tensors edited", "wrong", "why", seed=7)]}
    monkeypatch.setattr(_page, "read_records", lambda name: found.get(name, []))
    return found


def test_a_campaign_without_records_keeps_its_section(records):
    earlier = _page.page(NAMES)
    assert "- tensors edited, seed 7: wrong. why" in earlier
    records["folders"] = []
    assert _page.page(NAMES, earlier) == earlier
    records["inputs"].append(Record("gap", "right", seed=2))
    later = _page.page(NAMES, earlier)
    assert "`python -m campaigns inputs`: 2 of 100,000 cases" in later
    assert later.endswith(earlier[earlier.index("## Folders") :])


def test_a_campaign_that_never_ran_has_an_empty_section(records):
    records["folders"] = []
    assert "`python -m campaigns folders`: 0 of 1,000 cases" in _page.page(NAMES, _page.page(["inputs"]))


def test_the_command_keeps_what_the_page_has(records, tmp_path, monkeypatch):
    out = tmp_path / "page.md"
    monkeypatch.setattr("sys.argv", ["campaigns", "page", "--out", str(out)])
    command.main()
    records.clear()
    first = out.read_text()
    command.main()
    assert out.read_text() == first


def test_a_case_that_is_tried_again_keeps_its_first_outcome(tmp_path, monkeypatch):
    monkeypatch.setattr(_harness, "RECORDS", tmp_path)
    lines = [Record("gap", "right", seed=0), Record("gap", "wrong", seed=1), Record("gap", "right", "mended", seed=1)]
    (tmp_path / "inputs.jsonl").write_text("".join(json.dumps(asdict(line)) + "\n" for line in lines) + "cut sho")
    first, second = _harness.read_records("inputs")
    assert first == Record("gap", "right", seed=0, first="right")
    assert second == Record("gap", "right", "mended", seed=1, first="wrong")


@pytest.mark.parametrize(("again", "tried"), [((), {2}), (("wrong",), {1, 2})])
def test_cases_that_alarmed_are_tried_again_if_asked_for(tmp_path, monkeypatch, again, tried):
    monkeypatch.setattr(_harness, "RECORDS", tmp_path)
    lines = [Record("gap", "right", seed=0), Record("gap", "wrong", seed=1)]
    (tmp_path / "inputs.jsonl").write_text("".join(json.dumps(asdict(line)) + "\n" for line in lines))
    monkeypatch.setattr(_harness, "get_context", lambda _: multiprocessing.dummy)
    records = _harness.run("inputs", lambda _: Result("gap", "right"), cases=3, minutes=1, jobs=1, again=again)
    assert {record.seed for record in records} == tried
    assert len(_harness.read_records("inputs")) == 3
