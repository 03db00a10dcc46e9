"""Multipliers for bounds on smoothed gaps: the counts they are fitted to, and what they reach."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit

from contracts import people
from known_posteriors import World
from mamofair.fronts import Counter
from mamofair.learners.plugin.blend import observed
from mamofair.learners.plugin.evidence import Evidence
from mamofair.learners.plugin.ladder import SmoothCounts, ladders
from mamofair.learners.plugin.multipliers import Contrasts
from mamofair.notions import ACCURACY_PARITY, DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY, EQUALIZED_ODDS, NOTIONS, ratio

LINEAR = [notion for notion in NOTIONS if not notion.conditions_on_prediction]
SMOOTH = 0.05


def counts_of(*notions, groups=2, atoms=200, seed=0) -> SmoothCounts:
    world = World.random(atoms, groups, seed)
    rows, criteria = world.rows, [(notion, "a") for notion in notions]
    y, weight = rows["y"].to_numpy(), rows["weight"].to_numpy()
    contrasts = Contrasts.of(criteria, y, world.groups, weight)
    terms = np.column_stack([contrasts.terms(world.beliefs), np.ones(len(y))])
    return SmoothCounts.of(
        Evidence(contrasts.gain(world.beliefs.positive), terms), observed(y, world.groups), criteria, weight
    )


def smoothed(counts: SmoothCounts, price: np.ndarray) -> tuple[float, np.ndarray]:
    """Return error and gaps of decisions that turn gradually."""
    decided = expit((counts.evidence.gain - counts.evidence.terms @ (price * counts.unit)) / SMOOTH)
    rates = counts.base + decided @ counts.shares
    spreads = [(number, np.ptp(rates[begin : begin + size])) for begin, size, number in counts.rates]
    gaps = [max(own for c, own in spreads if c == number) for number in range(counts.rates[-1][2] + 1)]
    return counts.wrong + decided @ counts.cost, np.array(gaps)


@pytest.mark.parametrize("notion", LINEAR, ids=lambda notion: notion.name)
@pytest.mark.parametrize("weighted", [False, True])
def test_of_decisions_that_are_yes_or_no_error_and_gaps_are_the_measured_ones(notion, weighted, rng):
    """Rows of unknown group count for the error alone."""
    y, groups = people(3, 200)
    weight = rng.uniform(0.1, 3, 200) if weighted else None
    yes = rng.random(200) < 0.5
    counts = SmoothCounts.of(
        Evidence(np.where(yes, 1.0, -1.0), np.ones((200, 1))), observed(y, groups), [(notion, "a")], weight
    )
    [tally] = Counter.of(y, groups, weight)(yes[None])
    rates = counts.base + yes @ counts.shares
    gap = max(np.ptp(rates[begin : begin + size]) for begin, size, _ in counts.rates)
    assert counts.wrong + yes @ counts.cost == pytest.approx(tally.error)
    assert gap == pytest.approx(tally.gap(notion, "a"))


def test_groups_of_none_of_the_rows_have_no_rate():
    y, groups = people(3, 200)
    y[groups.codes[:, 0] == 2] = 0
    counts = SmoothCounts.of(
        Evidence(np.ones(200), np.ones((200, 1))), observed(y, groups), [(EQUALIZED_ODDS, "a")], None
    )
    assert sorted(size for _, size, _ in counts.rates) == [2, 3]
    assert np.isfinite(counts.shares).all()


@pytest.mark.parametrize("groups", [2, 3])
def test_the_gradient_is_that_of_finite_differences(groups, rng):
    counts = counts_of(EQUALIZED_ODDS, ACCURACY_PARITY, ratio(EQUAL_OPPORTUNITY), groups=groups)
    bounds = np.array([0.02, 0.05, 0.1])
    loss = counts.loss(bounds)
    for _ in range(5):
        price = rng.normal(size=counts.evidence.terms.shape[1])
        np.testing.assert_allclose(
            loss(price)[1], approx_fprime(price, lambda at: loss(at)[0], 1e-7), rtol=1e-4, atol=1e-4
        )


def test_within_its_bounds_the_loss_is_the_smoothed_error(rng):
    counts = counts_of(DEMOGRAPHIC_PARITY)
    price = rng.normal(size=2)
    assert counts.loss(np.ones(1))(price)[0] == pytest.approx(smoothed(counts, price)[0])


@pytest.mark.parametrize("groups", [2, 3])
def test_bound_on_a_ratio_is_a_bound_on_the_smoothed_ratio(groups):
    counts = counts_of(ratio(DEMOGRAPHIC_PARITY), groups=groups)
    start = np.zeros(counts.evidence.terms.shape[1])
    shortfalls = []
    for bound in (1.0, 0.3, 0.1):
        price = counts.multipliers(np.array([bound]), start)
        decided = expit((counts.evidence.gain - counts.evidence.terms @ (price * counts.unit)) / SMOOTH)
        rates = counts.base + decided @ counts.shares
        shortfalls.append(1 - rates.min() / rates.max())
        assert shortfalls[-1] <= bound + 0.03
    assert shortfalls[0] > 0.33


@pytest.mark.parametrize("notions", [[DEMOGRAPHIC_PARITY], [EQUAL_OPPORTUNITY, DEMOGRAPHIC_PARITY]])
@pytest.mark.parametrize("groups", [2, 4])
def test_with_a_bound_of_zero_the_smoothed_gaps_are_small(notions, groups):
    counts = counts_of(*notions, groups=groups)
    start = np.zeros(counts.evidence.terms.shape[1])
    _, before = smoothed(counts, start)
    found = counts.multipliers(np.zeros(len(notions)), start)
    error, after = smoothed(counts, found)
    assert before.max() > 0.1
    assert after.max() < 0.03
    assert error < 0.5


def test_tighter_bounds_cost_more_and_leave_less():
    counts = counts_of(DEMOGRAPHIC_PARITY)
    [start] = smoothed(counts, np.zeros(2))[1]
    found = [smoothed(counts, counts.multipliers(np.array([share * start]), np.zeros(2))) for share in (0.8, 0.4, 0.0)]
    errors, gaps = [error for error, _ in found], [gap[0] for _, gap in found]
    assert errors == sorted(errors)
    assert gaps == sorted(gaps, reverse=True)
    np.testing.assert_allclose(gaps, [0.8 * start, 0.4 * start, 0], atol=0.02)


def test_ladders_go_from_the_gaps_to_none_in_several_directions():
    counts = counts_of(EQUAL_OPPORTUNITY, DEMOGRAPHIC_PARITY)
    gaps = smoothed(counts, np.zeros(3))[1]
    found = list(ladders(counts, gaps))
    assert [own.shape for own in found] == [(12, 3)] * 6
    for own in found:
        assert np.isfinite(own).all()
        assert smoothed(counts, own[-1] / counts.unit)[1].max() < 0.03
    one = list(ladders(counts_of(DEMOGRAPHIC_PARITY), gaps[1:]))
    assert len(one) == 2


def test_what_nobody_knows_has_no_price():
    counts = counts_of(DEMOGRAPHIC_PARITY)
    counts.evidence.terms[:, 0] = 0
    for own in ladders(counts, np.array([0.2])):
        assert not own[:, 0].any()


def test_many_rows_are_counted_on_some(rng):
    y, groups = people(2, 30_000)
    evidence = Evidence(rng.uniform(-1, 1, 30_000), rng.normal(size=(30_000, 2)))
    counts = SmoothCounts.of(evidence, observed(y, groups), [(DEMOGRAPHIC_PARITY, "a")], np.ones(30_000))
    assert len(counts.cost) == len(counts.evidence.gain) == 20_000
    assert counts.wrong == pytest.approx(y.mean(), abs=0.01)
