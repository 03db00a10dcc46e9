"""Units, such as persons: each is tested once in its life, and remembered."""

import numpy as np
import pandas as pd
import pytest

from mamofair.monitor import Monitor, load_monitor, save_monitor

SEX = {"sex": ["F", "M"]}


def people(rng, persons=400, rows=10, gap=0.05, first=0):
    """Return rows of persons, all rows of one person decided alike."""
    sex = rng.choice(["F", "M"], persons)
    alike = rng.random(persons) < np.where(sex == "M", 0.3 + gap, 0.3)
    who = rng.permutation(np.repeat(np.arange(persons), rows))
    return pd.DataFrame({"person": first + who, "sex": sex[who], "decided": alike[who]})


def update(monitor, table, **more):
    return monitor.update(table["decided"], sensitive_features=table[["sex"]], units=table["person"], **more)


def bets(monitor):
    """Return how many rows have been bet on."""
    return int(monitor.tested_history.total("sex")[:, 0].sum())


def test_each_unit_is_tested_once_however_many_rows_and_files_it_has():
    table = people(np.random.default_rng(0))
    once = update(Monitor.of(0.1, attributes=SEX), table)
    assert (once.rows, bets(once), once.answer.units) == (4000, 400, 400)
    again = update(once, table)
    assert (again.rows, bets(again)) == (8000, 400)
    assert [s.alarm.total for s in again.pairs.values()] == [s.alarm.total for s in once.pairs.values()]
    more = update(again, pd.concat([table, people(np.random.default_rng(1), persons=50, first=1000)]))
    assert (more.rows, bets(more)) == (12500, 450)
    said = " ".join(more.answer.sentences())
    assert "450 units so far" in said
    assert "12,050 other decisions are counted and shown, and can raise no alarm" in said
    assert more.history.total("sex")[:, 0].sum() == 12500


def test_the_row_that_is_tested_is_drawn_at_random_and_follows_from_ids():
    """Of ten rows, the drawn one is the first in about a tenth of units, so that it is none that somebody placed."""
    rows = np.tile(np.arange(10), 1000)
    table = pd.DataFrame({"person": np.repeat(np.arange(1000), 10), "sex": "F", "decided": rows == 0})
    watched = update(Monitor.of(0.1, attributes=SEX), table)
    assert abs(watched.unit_history.total("sex")[0, 1] - 100) < 40
    with_ids = [
        update(Monitor.of(0.1, attributes=SEX), part, ids=part.index).unit_history.to_json()["periods"]
        for part in (table, table.sample(frac=1, random_state=0))
    ]
    assert with_ids[0] == with_ids[1]


def test_a_late_label_is_tested_only_for_the_decision_that_was_drawn(tmp_path):
    table = people(np.random.default_rng(0), persons=200, rows=5)
    watched = Monitor.of(0.1, attributes=SEX, notions=["dp", "fpr"])
    for part in np.array_split(np.arange(len(table)), 4):
        watched = update(watched, table.iloc[part], ids=table.index[part])
        save_monitor(watched, tmp_path / "watch.json")
        watched, _ = load_monitor(tmp_path / "watch.json")
    watched = watched.label(table.index, np.zeros(len(table)))
    assert watched.labelled == 1000
    counts = watched.unit_history.total("sex").sum(axis=0)
    assert counts[0] == counts[2:].sum() == 200
    assert watched.answer.strays == watched.answer.duplicates == 0


def test_units_come_with_all_decisions_or_with_none():
    table = people(np.random.default_rng(0), persons=20)
    watched = update(Monitor.of(0.1, attributes=SEX), table)
    with pytest.raises(ValueError, match="`units` must be given with all decisions or with none: found none, and some"):
        watched.update(table["decided"], sensitive_features=table[["sex"]])
    with pytest.raises(ValueError, match="`units` must have no missing value"):
        watched.update(table["decided"], sensitive_features=table[["sex"]], units=[None] * len(table))


def test_fifty_rows_of_a_person_may_raise_a_false_alarm_where_they_count_as_fifty_persons():
    """The gap is the limit; `bench/watching.py` counts such alarms in many draws."""
    table = people(np.random.default_rng(6), persons=200, rows=50)
    by_row = Monitor.of(0.05, attributes=SEX).update(table["decided"], sensitive_features=table[["sex"]])
    assert by_row.answer.status == "exceeded"
    assert update(Monitor.of(0.05, attributes=SEX), table).answer.status == "not yet known"
