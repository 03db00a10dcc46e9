"""Alarms: wealth is what its definition says, false alarms are as rare as promised, and changes are found."""

from dataclasses import fields
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair._stats.alarms import Alarm, Mark
from mamofair._stats.matching import OpenBlock

VALUES = np.array([-1.0, 0.0, 1.0])


def after(payoffs, limit=0.1, delta=0.05):
    rows = np.arange(1, len(payoffs) + 1)
    return Alarm.starting(limit, delta, Mark(0, 0.0)).update(payoffs, rows, rows)


def chances(mean, spread=0.3):
    """Return chances of −1, 0 and 1 with this mean."""
    return np.array([spread - mean / 2, 1 - 2 * spread, spread + mean / 2])


@pytest.mark.parametrize("means", [(0.1,) * 4, (-0.1,) * 4, (0.1, -0.1, 0.0, 0.1)])
def test_the_mean_of_wealth_is_at_most_one_while_the_limit_is_kept(means):
    """All 81 sequences of four payoffs, each with its chance: an oracle without any draw."""
    total = 0.0
    for places in product(range(3), repeat=len(means)):
        chance = np.prod([chances(mean)[place] for mean, place in zip(means, places, strict=True)])
        total += chance * np.exp(after(VALUES[list(places)]).log_wealth)
    assert total <= 1 + 1e-12
    assert total > 0.9


def test_the_mean_of_wealth_grows_where_the_limit_is_exceeded():
    total = sum(
        np.prod(chances(0.5)[list(places)]) * np.exp(after(VALUES[list(places)]).log_wealth)
        for places in product(range(3), repeat=4)
    )
    assert total > 1.02


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.lists(st.integers(0, 30), max_size=4))
def test_payoffs_in_pieces_lead_to_the_same_state_bit_for_bit(payoffs, cuts):
    whole, rows = after(payoffs, delta=0.9), np.arange(1, len(payoffs) + 1)
    pieces = Alarm.starting(0.1, 0.9, Mark(0, 0.0))
    for part in np.split(np.arange(len(payoffs)), sorted(min(cut, len(payoffs)) for cut in cuts)):
        pieces = pieces.update(np.array(payoffs)[part], rows[part], rows[part])
    for own in fields(Alarm):
        np.testing.assert_array_equal(getattr(pieces, own.name), getattr(whole, own.name), err_msg=own.name)


def test_false_alarms_are_rare_however_often_one_looks_while_a_repeated_test_raises_many():
    rng, rows, draws = np.random.default_rng(0), 20_000, 40
    found, naive = 0, 0
    for _ in range(draws):
        first = rng.random(rows) < 0.4
        event = rng.random(rows) < np.where(first, 0.35, 0.3)  # the gap is the limit at every time
        payoffs, ends, _ = OpenBlock().add(first, event)
        found += Alarm(0.05, 0.05).update(payoffs, ends, ends).found is not None
        number = np.arange(1, len(payoffs) + 1)
        z = (np.cumsum(payoffs) / number - 0.05) / (payoffs.std() / np.sqrt(number))
        naive += (z[50:] > 1.645).any()
    assert found <= 0.05 * draws
    assert naive > 0.2 * draws


def test_within_is_seldom_said_while_the_average_exceeds_the_limit():
    """The mean payoff falls from .5 to −.3 over time, so that the average so far is above the limit until late."""
    rng, wrong, draws, blocks = np.random.default_rng(1), 0, 30, 4_000
    means = np.linspace(0.5, -0.3, blocks)
    exceeds = np.cumsum(means) / np.arange(1, blocks + 1) > 0.1
    assert exceeds[: blocks // 2].all()
    for _ in range(draws):
        alarm, payoffs = Alarm(0.1, 0.05), rng.random(blocks) < (1 + means) / 2
        for at in range(0, blocks, 400):
            alarm = alarm.update(2.0 * payoffs[at : at + 400] - 1, *[np.arange(at, at + 400)] * 2)
            # An alarm would rule "within" out: it is looked past here.
            quiet = Alarm(0.1, 0.05, averages=alarm.averages)
            wrong += bool(exceeds[at + 399]) and quiet.is_within
    assert wrong <= 0.05 * draws


def test_what_is_within_is_said_to_be():
    rng = np.random.default_rng(2)
    assert after(rng.choice(VALUES, 4000)).is_within
    assert not after(rng.choice(VALUES, 100)).is_within
    assert not after(rng.choice(VALUES, 4000, p=chances(0.2))).is_within


@pytest.mark.parametrize(("start", "sign"), [(0, 1), (2_000, -1), (20_000, 1)])
def test_a_change_is_found_soon_after_it_and_when_it_began(start, sign):
    rng = np.random.default_rng(start)
    for _ in range(5):
        alarm = after(np.concatenate([rng.choice(VALUES, start), rng.choice(VALUES, 4000, p=chances(0.4 * sign))]))
        assert alarm.sign == sign
        assert start < alarm.found.row < start + 700
        assert abs(alarm.since.row - start) < 150


def test_an_alarm_stays_raised():
    rng = np.random.default_rng(3)
    early = after(rng.choice(VALUES, 2000, p=chances(0.5)))
    later = early.update(np.zeros(5000), np.arange(5000), np.arange(5000))
    assert later.found == early.found
    assert not later.is_within
