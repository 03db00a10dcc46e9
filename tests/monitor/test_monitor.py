"""A monitor: pieces and restarts change nothing; ids count once, labels may be late, groups may be new."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from watched_decisions import decisions, state, update

from mamofair.monitor import Monitor, load_monitor, save_monitor
from mamofair.monitor._ledger import Ledger

NOTIONS = ["demographic_parity", "equalized_odds"]


def monitor(limit=0.1, **options):
    return Monitor.of(limit, attributes={"sex": ["F", "M"]}, notions=NOTIONS, **options)


def test_rows_in_pieces_and_restarts_lead_to_the_same_state_as_in_one_piece(tmp_path):
    table = decisions(rows=800, rare=0.05)
    table.loc[table.index % 3 == 0, "y"] = np.nan
    whole = update(monitor(), table)
    pieces = monitor()
    for _, days in table.groupby(table["day"].dt.day // 3):
        save_monitor(update(pieces, days), tmp_path / "watch.json")
        pieces, _ = load_monitor(tmp_path / "watch.json")
    assert state(pieces, tmp_path) == state(whole, tmp_path)
    assert state(load_monitor(tmp_path / "state.json")[0], tmp_path) == state(whole, tmp_path)


def test_the_order_of_rows_within_a_call_is_that_of_their_times(tmp_path):
    table = decisions(rows=500)
    shuffled = table.sample(frac=1, random_state=0)
    assert state(update(monitor(), shuffled), tmp_path) == state(update(monitor(), table), tmp_path)


def test_an_id_counts_once(tmp_path):
    table = decisions(rows=500)
    once = update(monitor(), table)
    with pytest.warns(UserWarning, match="50 of 100 rows repeat an id of the same table: only the first"):
        twice = update(update(once, table), pd.concat([table[:50], table[:50]]))
    assert twice.duplicates == 600
    assert state(replace(twice, duplicates=0), tmp_path) == state(once, tmp_path)
    assert "600 rows with ids that were counted before" in " ".join(twice.answer.sentences())


def test_labels_may_come_later_by_id_alone_or_with_the_rows_again(tmp_path):
    table = decisions(rows=600)
    at_once = update(monitor(), table)
    waiting = update(monitor(), table, labels=False)
    assert (waiting.labelled, len(waiting.ledger.ids), waiting.answer.waiting) == (0, 600, 600)
    # Rows of one day count in the order of their ids' hashes, and labels as they come: in that order, here.
    order = waiting.ledger.waiting.rows.argsort()
    later = waiting.label(table["id"], table["y"])
    again = update(waiting, table)
    assert len(order) == later.labelled == again.labelled == 600
    for one in (later, again):
        assert one.history.to_json() == at_once.history.to_json()
        assert len(one.ledger.ids) == 0
        counts = {key: (stream.alarm.blocks > 0) for key, stream in one.pairs.items()}
        assert counts == {key: (stream.alarm.blocks > 0) for key, stream in at_once.pairs.items()}
    assert again.duplicates == 0
    assert [own.alarm.total for own in again.pairs.values()] == [own.alarm.total for own in at_once.pairs.values()]
    stray = later.label(["nobody", table["id"][0]], [1, 1])
    assert (stray.strays, stray.labelled) == (2, 600)


def test_a_label_counts_for_the_decision_that_was_made_then():
    table = decisions(rows=400)
    waiting = update(monitor(), table, labels=False)
    turned = table.assign(decided=~table["decided"], sex="F")
    assert update(waiting, turned).history.to_json() == update(monitor(), table).history.to_json()


def test_ids_and_late_labels_are_kept_up_to_a_bound():
    table = decisions(rows=300)
    small = replace(monitor(), ledger=Ledger(most_seen=100, most_waiting=50))
    with pytest.warns(UserWarning, match="keeps the last 100 ids, and has begun to forget"):
        waiting = update(small, table, labels=False)
    assert (len(waiting.ledger.seen), len(waiting.ledger.ids), waiting.answer.given_up) == (100, 50, 250)
    assert waiting.label(table["id"], table["y"]).labelled == 50
    again = update(waiting, table, labels=False)  # which does not warn again
    assert again.rows == 300 + 200  # the forgotten ones count as new
    assert (waiting.ledger.forgotten, again.ledger.forgotten) == (200, 400)
    assert "400 ids forgotten, the first ones" in " ".join(again.answer.sentences())


def test_days_out_of_order_count_when_they_come_and_are_shown_on_their_day():
    early, late = decisions(rows=400, seed=1), decisions(rows=400, seed=2, day=20)
    forward, backward = (update(update(monitor(), a), b) for a, b in ((early, late), (late, early)))
    assert forward.history.to_json() == backward.history.to_json()
    assert forward.rows == backward.rows == 800
    assert list(backward.history.periods) == sorted(backward.history.periods)


def test_a_group_that_appears_later_is_watched_from_then_on():
    known = update(monitor(), decisions(rows=3000))
    assert known.answer.gaps[0].status == "within so far"
    rng = np.random.default_rng(0)
    for seed in range(1, 4):
        table = decisions(rows=3000, seed=seed, day=10 * seed, rare=0.2)
        table.loc[table["sex"] == "X", "decided"] = rng.random((table["sex"] == "X").sum()) < 0.05
        known = update(known, table)
    parity = known.answer.gaps[0]
    assert known.groups["sex"] == ("F", "M", "X")
    assert parity.status == "exceeded"
    assert {pair.groups for pair in parity.pairs if pair.status == "exceeded"} == {("F", "X"), ("M", "X")}
    assert {pair.groups: pair.status for pair in parity.pairs}["F", "M"] == "within so far"
    assert "X" in parity.sentence()


def test_exceeded_says_since_when_and_for_whom():
    watched = update(monitor(), decisions(rows=6000))
    watched = update(watched, decisions(rows=6000, gap=0.25, seed=1, day=10))
    answer = watched.answer
    worst = answer.gaps[0].worst
    assert (answer.status, answer.outcome, answer.exit_code) == ("exceeded", "exceeds", 3)
    assert worst.groups == ("M", "F")
    assert 5000 < worst.since.row < 6500 < worst.found.row + 500
    assert worst.since.text.startswith("2026-01-1")
    assert worst.rates[0] > worst.rates[1] + 0.15
    assert monitor().answer.exit_code == 4
    assert update(monitor(), decisions(rows=6000)).answer.gaps[0].status == "within so far"


def test_rates_that_rise_and_fall_for_everybody_raise_no_alarm():
    """On even days nearly everybody is accepted, on odd days nearly nobody; and women come on even days mostly."""
    rng = np.random.default_rng(0)
    day = np.repeat(np.arange(60), 150)
    sex = np.where(rng.random(len(day)) < np.where(day % 2, 0.2, 0.8), "F", "M")
    decided = rng.random(len(day)) < np.where(day % 2, 0.1, 0.9)
    watched = Monitor.of(0.05, attributes=["sex"]).update(decided, sensitive_features=sex, times=day)
    assert decided[sex == "F"].mean() > decided[sex == "M"].mean() + 0.4
    assert watched.answer.status != "exceeded"


def test_times_of_another_kind_and_labels_of_no_kind_are_refused():
    watched = update(monitor(), decisions(rows=50))
    table = decisions(rows=50, seed=1)
    with pytest.raises(ValueError, match="Times must be of one kind: found number, and date before"):
        watched.update(table["decided"], sensitive_features=table[["sex"]], times=np.arange(50))
    with pytest.raises(ValueError, match="must have the attribute 'sex'"):
        watched.update(table["decided"], sensitive_features=table[["day"]], times=table["day"])
    with pytest.raises(ValueError, match="`ids` must have no missing value"):
        watched.update(table["decided"], sensitive_features=table[["sex"]], ids=[None] * 50, times=table["day"])
    with pytest.raises(ValueError, match="must have 50 groups at most"):
        watched.update(
            [1] * 60,
            sensitive_features={"sex": list(map(str, range(60)))},
            times=table["day"].tolist() + ["2026-01-01"] * 10,
        )
    with pytest.raises(ValueError, match="A limit must be a number"):
        Monitor.of(5, attributes=["sex"])
    with pytest.raises(ValueError, match=r"pairs of a notion and an attribute: found .* `Monitor.of` takes"):
        Monitor({("dp", "sex"): 0.1})
    with pytest.raises(ValueError, match=r"`times` must be finite numbers below 2\*\*53: found inf"):
        monitor().update([1, 0], sensitive_features=["F", "M"], times=[np.inf, 0.0])
    assert Monitor.of(0.1, attributes="sex").attributes == ("sex",)
