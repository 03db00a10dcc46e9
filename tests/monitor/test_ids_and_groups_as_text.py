"""Ids and groups of a watch are text: the same as a number and as text; states of before go on as they began."""

import json

import numpy as np
import pytest

from mamofair.monitor import Monitor, load_monitor, save_monitor
from mamofair.monitor._reading import read_ids

SEX = np.arange(20) % 2


def watched(ids, groups=SEX):
    return Monitor.of(0.1, attributes=["sex"]).update(SEX, sensitive_features={"sex": groups}, ids=ids)


@pytest.mark.parametrize("again", [list(map(str, range(20))), np.arange(20.0), np.arange(20, dtype=object)])
def test_an_id_is_the_same_as_a_number_and_as_text(again):
    monitor = watched(np.arange(20)).update(SEX, sensitive_features={"sex": SEX}, ids=again)
    assert (monitor.rows, monitor.duplicates) == (20, 20)
    assert monitor.label(again, SEX).labelled == 20


def test_ids_that_are_written_in_another_way_are_others():
    assert len(np.unique(read_ids(["1", "01", "1.0", "2024.1", "2024.10"], 5))) == 5
    assert len(np.unique(read_ids([10**19 + place for place in range(200)], 200))) == 200


def test_groups_that_are_numbers_here_and_text_there_are_the_same():
    monitor = watched(None).update(SEX, sensitive_features={"sex": SEX.astype(str)})
    assert set(monitor.groups["sex"]) == {"0", "1"}
    declared = Monitor.of(0.1, attributes={"sex": [0, 1]}).update(SEX, sensitive_features={"sex": SEX})
    assert declared.groups == {"sex": ("0", "1")}


def test_a_state_of_before_keeps_its_reading_of_ids_and_the_numbers_of_its_groups(tmp_path):
    save_monitor(watched(None), tmp_path / "w.json")
    document = json.loads((tmp_path / "w.json").read_text())
    assert document.pop("reading") == "text"
    for later in ("state_checksum", "left_out", "by_unit", "unit_history"):
        del document[later]
    document |= {"format": 1, "groups": {"sex": [0, 1]}, "ledger": document["ledger"][:3]}
    (tmp_path / "w.json").write_text(json.dumps(document))
    monitor, _ = load_monitor(tmp_path / "w.json")
    assert monitor.ledger.reading == "typed"
    with pytest.warns(UserWarning, match="1 of 3 rows repeat an id"):
        monitor = monitor.update(SEX[:3], sensitive_features={"sex": SEX[:3]}, ids=[1.0, 1, 2])
    assert (monitor.rows, monitor.duplicates) == (22, 1)
    assert monitor.groups == {"sex": ("0", "1")}
    save_monitor(monitor, tmp_path / "w.json")
    assert load_monitor(tmp_path / "w.json")[0].ledger.reading == "typed"
    assert read_ids([7], 1, "typed") != read_ids([7], 1)
