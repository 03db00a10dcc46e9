"""How often the limit on the reduction of a gap is wrong, where the truth is known."""

import numpy as np
import pytest

from mamofair._stats.reductions import GapPair, JointRate, joint_gaps, lower_limit, widest_pair
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUALIZED_ODDS, FN, FP, PREDICTIVE_PARITY, TN, TP, Confusion

CELLS = ((TP, FN), (FP, TN))
SELECTION, ODDS, PRECISION = DEMOGRAPHIC_PARITY, EQUALIZED_ODDS, PREDICTIVE_PARITY


def joint_rates(notion):
    def mask(cells):
        return np.array([[cell in cells for cell in row] for row in CELLS])

    return [JointRate(mask(rate.event), mask(rate.given)) for rate in notion.rates]


def group(positives, first, second, agreement):
    """Return P(label, decision, decision) of a group, given P(favorable | label) of either model."""
    parts = []
    for weight, a, b in zip((positives, 1 - positives), first, second, strict=True):
        both = agreement * min(a, b) + (1 - agreement) * a * b
        parts.append(weight * np.array([[both, a - both], [b - both, 1 - a - b + both]]))
    return np.array(parts)


def draw(chances, rows, draws, rng):
    tables = [
        rng.multinomial(n, p.ravel(), size=draws).reshape(draws, 2, 2, 2) for n, p in zip(rows, chances, strict=True)
    ]
    return np.stack(tables, axis=1).astype(float)


def limits(chances, rows, notion, risk=0.05, draws=1000):
    """Return the true reduction, and the limit in each draw; where the gap is, other rows have said."""
    rng, rates = np.random.default_rng(0), joint_rates(notion)
    first, second = joint_gaps(chances, rates)
    tables, others = (draw(chances, rows, draws, rng) for _ in range(2))
    guessed = np.array([widest_pair(other, rates) for other in others])
    found = np.empty(draws)
    for pair in np.unique(guessed, axis=0):  # all draws with the same guess at once
        chosen = (guessed == pair).all(axis=1)
        found[chosen] = lower_limit(tables[chosen], rates, GapPair(*pair.tolist()), risk)
    return first - second, found


FEW, MANY = ((0.1, 0.02), (0.2, 0.05)), ((0.6, 0.2), (0.7, 0.3))
EQUAL = {
    "selection": (SELECTION, [group(0.3, MANY[0], MANY[0], 0), group(0.5, MANY[1], MANY[1], 0)]),
    "selection, models alike": (SELECTION, [group(0.3, MANY[0], MANY[0], 0.9), group(0.5, MANY[1], MANY[1], 0.9)]),
    "rare events": (SELECTION, [group(0.1, FEW[0], FEW[0], 0), group(0.1, FEW[1], FEW[1], 0)]),
    "gap in another rate": (ODDS, [group(0.4, (0.6, 0.3), (0.8, 0.2), 0), group(0.5, (0.8, 0.3), (0.8, 0.4), 0)]),
    "groups exchanged": (SELECTION, [group(0.5, (0.4, 0.2), (0.6, 0.4), 0.5), group(0.5, (0.6, 0.4), (0.4, 0.2), 0.5)]),
    "precision": (PRECISION, [group(0.3, MANY[0], MANY[0], 0), group(0.5, MANY[1], MANY[1], 0)]),
}


@pytest.mark.parametrize("rows", [(30, 300), (400, 400)])
@pytest.mark.parametrize("case", EQUAL)
def test_equal_gaps_are_seldom_taken_for_a_reduction(case, rows):
    """At most .05, and three standard errors of what 1,000 draws tell."""
    notion, chances = EQUAL[case]
    truth, found = limits(np.array(chances), rows, notion)
    assert truth == pytest.approx(0, abs=1e-12)
    assert (found > 1e-12).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)


def test_a_third_group_that_takes_over_the_gap_is_no_false_alarm():
    chances = [group(0.5, MANY[0], MANY[0], 0.5), group(0.5, MANY[1], MANY[0], 0.5), group(0.5, MANY[1], MANY[1], 0.5)]
    truth, found = limits(np.array(chances), (300, 300, 300), SELECTION)
    assert truth == pytest.approx(0, abs=1e-12)
    assert (found > 1e-12).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 1000)


@pytest.mark.parametrize("notion", [SELECTION, ODDS])
def test_a_reduction_is_covered_and_mostly_seen(notion):
    chances = np.array([group(0.4, (0.5, 0.2), (0.65, 0.35), 0.9), group(0.4, (0.8, 0.5), (0.8, 0.5), 0.9)])
    truth, found = limits(chances, (600, 600), notion, draws=400)
    assert truth == pytest.approx(0.15)
    assert (found > truth).mean() <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 400)
    assert (found > 0).mean() > 0.7


def test_models_that_agree_more_are_told_apart_with_fewer_rows():
    """Person by person, what they share cancels out."""
    apart, alike = (
        limits(
            np.array([group(0.4, (0.5, 0.2), (0.65, 0.35), a), group(0.4, (0.8, 0.5), (0.8, 0.5), a)]),
            (600, 600),
            SELECTION,
            draws=50,
        )[1].mean()
        for a in (0, 0.9)
    )
    assert alike > apart + 0.02


@pytest.mark.parametrize("notion", [SELECTION, ODDS, PRECISION])
def test_gaps_and_their_pairs_are_those_of_the_notion(notion, rng):
    table, rates = rng.integers(1, 50, size=(3, 2, 2, 2)).astype(float), joint_rates(notion)
    for second, gap in enumerate(joint_gaps(table, rates)):
        decided = table.sum(axis=2 if second else 3)
        confusion = Confusion.of_counts(decided.swapaxes(1, 2).reshape(3, 4))
        assert gap == pytest.approx(notion.gap(confusion))
        pair = widest_pair(table, rates, second=bool(second))
        rate = notion.rates[pair.rate](confusion)
        assert rate[pair.high] - rate[pair.low] == pytest.approx(gap)


def test_many_models_at_once_are_as_one_by_one(rng):
    tables, rates = rng.integers(1, 50, size=(5, 3, 2, 2, 2)).astype(float), joint_rates(ODDS)
    pair = GapPair(0, 1, 2)
    assert lower_limit(tables, rates, pair, 0.05) == pytest.approx(
        [lower_limit(one, rates, pair, 0.05) for one in tables]
    )


def test_a_group_without_rows_may_have_any_rate():
    table = np.stack([np.full((2, 2, 2), 100.0), np.zeros((2, 2, 2)), np.full((2, 2, 2), 100.0)])
    assert lower_limit(table, joint_rates(SELECTION), GapPair(0, 0, 2), 0.05) < -0.4
