"""False alarms of the whole procedure where the truth is known, and what is picked."""

import numpy as np
import pytest
from bench.alternatives import CRITERION, drawn

from mamofair.alternatives._compare import compare, measure_gap, pick

DRAWS, RISK = 20, 0.1  # `bench/alternatives.py` draws more often


def answers(incumbent, model, rows=400, margin=0.05, models=8, draws=DRAWS):
    for seed in range(draws):
        people = drawn(rows, incumbent, model, models, seed)
        yield compare(people, [CRITERION], CRITERION, margin=margin, confidence=1 - RISK, random_state=seed)


@pytest.mark.parametrize(
    ("incumbent", "model"),
    [((0.3, 0.1), (0.25, 0.25)), ((0.35, 0.15), (0.2, 0.0))],
    ids=["worse by exactly the margin, no gap", "more accurate, the same gap"],
)
def test_what_is_no_alternative_is_seldom_found(incumbent, model):
    """The best of eight on one half of the rows is no better than the others on the other half.

    Were it tested on the rows that picked it, it would be found in most draws.
    """
    found = np.mean([answer.status == "found" for answer in answers(incumbent, model)])
    assert found <= RISK + 3 * np.sqrt(RISK * (1 - RISK) / DRAWS)


def test_an_alternative_is_found_and_its_numbers_are_right():
    found = list(answers((0.4, 0.1), (0.2, 0.2), rows=1000, draws=4))
    assert [answer.status for answer in found] == ["found"] * 4
    assert np.mean([answer.gap.value for answer in found]) == pytest.approx(-0.3, abs=0.07)  # no gap measures above 0
    assert np.mean([answer.error.value for answer in found]) == pytest.approx(-0.05, abs=0.02)
    assert sum(answer.gap.low < -0.3 < answer.gap.high for answer in found) >= 2
    assert sum(answer.error.low < -0.05 < answer.error.high for answer in found) >= 2


def test_rows_that_pick_do_not_test():
    people = drawn(400, (0.3, 0.1), (0.2, 0.2), 3, 0)
    answer = compare(people, [CRITERION], CRITERION, margin=0.05, confidence=0.9, random_state=0)
    assert answer.picking_rows == answer.test_rows == 200
    assert answer.people.flows.everyone.sum() == 400


def test_the_one_picked_promises_most_among_those_that_look_like_alternatives():
    """A fairer model that is too inaccurate is not picked, nor one that is accurate and hardly fairer."""
    parts = [drawn(4000, (0.3, 0.1), rates, 1, 0) for rates in ((0.45, 0.45), (0.29, 0.1), (0.22, 0.18), (0.3, 0.1))]
    rows = parts[0].__class__(parts[0].y, parts[0].groups, parts[0].incumbent, np.vstack([p.models for p in parts]))
    assert pick(rows, CRITERION, 0.02, 0.05) == (2, True)
    assert pick(rows.of_models([0, 3]), CRITERION, 0.02, 0.05)[0] == 1  # nearly one, if there is no other


def test_limits_of_a_gap_turn_round_with_the_models():
    rows, others = (drawn(1000, (0.3, 0.1), (0.25, 0.15), 1, seed) for seed in (0, 1))
    there = measure_gap(rows, others, CRITERION, 0.05)
    back = measure_gap(*(_exchanged(each) for each in (rows, others)), CRITERION, 0.05)
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))
    assert there.low < there.value < there.high


def _exchanged(rows):
    return rows.__class__(rows.y, rows.groups, rows.models[0], rows.incumbent[None])
