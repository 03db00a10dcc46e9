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


def test_fifty_rows_of_each_person_raise_an_alarm_only_where_they_are_taken_for_fifty_persons():
    """With the gap at the limit, every alarm is false."""
    rng = np.random.default_rng(0)
    tables = [people(rng, persons=200, rows=50) for _ in range(4)]
    by_rows = [
        Monitor.of(0.05, attributes=SEX).update(t["decided"], sensitive_features=t[["sex"]]).answer for t in tables
    ]
    by_unit = [update(Monitor.of(0.05, attributes=SEX), table).answer for table in tables]
    assert sum(answer.status == "exceeded" for answer in by_rows) >= 1
    assert sum(answer.status == "exceeded" for answer in by_unit) == 0
