import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest

from mamofair._stats import intervals
from mamofair._stats.intervals import bootstrap, effective_rows, largest_gap, newcombe, smallest_ratio, wilson

EDGE = [0.0005, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.008, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1]
RATES = np.array(sorted({*EDGE, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, *(1 - p for p in EDGE)}))
SLACK = 0.015  # of what is promised
DUST = 1e-12


def exact_coverage(intervals, sizes, truth):
    """The chance that the interval covers, for each pair of RATES: every outcome counted with its probability.

    `intervals` are low and high ends for each pair of numbers of events; `truth` is a function of the two rates.
    """
    low, high = intervals
    first, second = (binom.pmf(np.arange(n + 1)[:, None], n, RATES) for n in sizes)
    chances = np.empty((len(RATES), len(RATES)))
    for i, p in enumerate(RATES):
        targets = truth(p, RATES)
        covers = (low[..., None] <= targets + DUST) & (targets <= high[..., None] + DUST)
        chances[i] = np.einsum("a,abj,bj->j", first[:, i], covers, second)
    return chances


def all_outcomes(sizes):
    """Events and rows of every outcome of two groups, shaped (outcomes, outcomes, groups)."""
    events = np.stack(np.meshgrid(*(np.arange(n + 1.0) for n in sizes), indexing="ij"), axis=-1)
    return events, np.broadcast_to(np.array(sizes, dtype=float), events.shape)


def gap_of_two(sizes, confidence=0.95):
    events, rows = all_outcomes(sizes)
    return largest_gap(events[..., None, :], rows[..., None, :], confidence)


@given(rows=st.integers(1, 500), share=st.floats(0, 1), confidence=st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_agrees_with_scipy(rows, share, confidence):
    events = round(share * rows)
    oracle = binomtest(events, rows).proportion_ci(confidence, method="wilson")
    np.testing.assert_allclose(wilson(events, rows, confidence), (oracle.low, oracle.high), atol=1e-12)


@pytest.mark.parametrize(("rows", "dip", "middle"), [(30, 0.84, 0.921), (100, 0.84, 0.933)])
def test_wilson_dips_near_the_edge_as_its_docstring_reports(rows, dip, middle):
    events = np.arange(rows + 1)
    low, high = wilson(events, rows)

    def covered(p):
        return binom.pmf(events, rows, p)[(low <= p) & (p <= high)].sum()

    assert covered(0.174 / rows) == pytest.approx(dip, abs=0.001)
    assert min(covered(p) for p in np.linspace(0.1, 0.9, 4001)) == pytest.approx(middle, abs=0.001)
    assert np.mean([covered(p) for p in np.linspace(0, 1, 999)]) > 0.95


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((6, 7, 2, 7), 0.0582, 0.8062),
        ((5, 56, 0, 29), -0.0381, 0.1926),
        ((0, 10, 0, 20), -0.1611, 0.2775),
        ((10, 10, 0, 20), 0.6791, 1.0),
        ((10, 10, 0, 10), 0.6075, 1.0),
    ],
)
def test_newcombe_gives_the_published_examples(counts, low, high):
    """Newcombe 1998, Table II, method 10."""
    np.testing.assert_allclose(newcombe(*counts), (low, high), atol=6e-5)


@pytest.mark.parametrize(
    ("sizes", "confidence"),
    [((30, 30), 0.9), ((30, 30), 0.99), ((30, 100), 0.95), ((30, 300), 0.95), ((100, 100), 0.95)],
)
def test_interval_of_a_gap_covers_for_all_rates(sizes, confidence):
    chances = exact_coverage(gap_of_two(sizes, confidence), sizes, lambda p, q: np.abs(p - q))
    assert chances.min() >= confidence - SLACK


@pytest.mark.parametrize("sizes", [(2, 100), (10, 10), (10, 300), (17, 60)], ids=str)
def test_interval_of_a_gap_covers_with_fewer_than_thirty_rows(sizes):
    assert exact_coverage(gap_of_two(sizes), sizes, lambda p, q: np.abs(p - q)).min() >= 0.95 - SLACK


TABLE = re.findall(r"^(\d+) and (\d+) +(\.\d+) +(\.\d+) +(\.\d+), (\.\d+)$", intervals.__doc__, flags=re.MULTILINE)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]} and {row[1]}")
def test_table_in_the_docstring_is_what_enumeration_gives(row):
    sizes, printed = (int(row[0]), int(row[1])), [float(cell) for cell in row[2:]]
    low, high = newcombe(*_columns(*all_outcomes(sizes)))
    plain = np.maximum(np.maximum(low, -high), 0), np.maximum(high, -low)
    both = [plain, gap_of_two(sizes)]
    coverage = [exact_coverage(ends, sizes, lambda p, q: np.abs(p - q)).min() for ends in both]
    first, second = (binom.pmf(np.arange(n + 1)[:, None], n, RATES) for n in sizes)
    widths = [np.einsum("ai,ab,bj->ij", first, ends[1] - ends[0], second).mean() for ends in both]
    np.testing.assert_allclose(printed, [*coverage, *widths], atol=6e-4)


def test_newcombe_does_not_cover_near_the_edge_which_is_why_gaps_do_not_use_it():
    sizes = (30, 30)
    events, rows = all_outcomes(sizes)
    chances = exact_coverage(newcombe(*_columns(events, rows)), sizes, lambda p, q: p - q)
    assert chances.min() < 0.9
    middle = (RATES > 0.1) & (RATES < 0.9)
    assert chances[np.ix_(middle, middle)].min() > 0.92


def _columns(events, rows):
    return events[..., 0], rows[..., 0], events[..., 1], rows[..., 1]


@pytest.mark.parametrize("sizes", [(30, 30), (30, 300), (100, 100)], ids=str)
def test_interval_of_a_ratio_covers_for_all_rates(sizes):
    chances = exact_coverage(
        smallest_ratio(*all_outcomes(sizes)), sizes, lambda p, q: np.minimum(p, q) / np.maximum(p, q)
    )
    assert chances.min() >= 0.95 - SLACK


@pytest.mark.parametrize("sizes", [(30, 500, 500), (30, 30, 5000, 5000), (30, 30, 30, 30, 30)], ids=str)
def test_interval_over_many_groups_covers(sizes, rng):
    k = len(sizes)
    cases = [np.full(k, p) for p in (0.01, 0.5)]
    cases += [np.linspace(0.1, 0.3, k), np.linspace(0.005, 0.99, k), np.r_[0.1, np.full(k - 1, 0.01)]]
    cases += [np.r_[np.full(k - 2, 0.5), 0.48, 0.52]]  # a precise small gap among coarse groups
    for rates in cases:
        events = rng.binomial(sizes, rates, size=(1500, 1, k)).astype(float)
        low, high = largest_gap(events, np.broadcast_to(np.array(sizes, dtype=float), events.shape))
        assert np.mean((low <= np.ptp(rates) + DUST) & (np.ptp(rates) <= high + DUST)) >= 0.95 - SLACK


def test_interval_of_the_worst_of_two_rates_covers(rng):
    rows = np.array([[30.0, 400.0], [90.0, 900.0]])
    for rates in ([[0.5, 0.5], [0.1, 0.1]], [[0.8, 0.9], [0.1, 0.02]], [[0.02, 0.01], [0.5, 0.45]]):
        gap = np.abs(np.diff(rates)).max()
        events = rng.binomial(rows.astype(int), rates, size=(1500, 2, 2)).astype(float)
        low, high = largest_gap(events, np.broadcast_to(rows, events.shape))
        assert np.mean((low <= gap + DUST) & (gap <= high + DUST)) >= 0.95 - SLACK
        assert (low <= high).all()


@pytest.mark.parametrize("selected", [0.02, 0.1, 0.5])
def test_interval_of_rates_given_the_prediction_covers_although_its_rows_are_random(selected, rng):
    """P(y=1 | ŷ=1) of 30 and 600 rows, of which few, or none, are selected."""
    for precision in ((0.5, 0.5), (0.7, 0.9), (0.98, 0.99)):
        shares = [[selected * p, selected * (1 - p), 0, 1 - selected] for p in precision]
        cells = rng.multinomial([30, 600], shares, size=(1500, 2)).astype(float)[:, None]
        low, high = largest_gap(cells[..., 0], cells[..., 0] + cells[..., 1])
        gap = np.ptp(precision)
        assert np.mean((low <= gap + DUST) & (gap <= high + DUST)) >= 0.95 - SLACK


@given(a=st.integers(0, 40), b=st.integers(0, 60))
def test_two_groups_have_the_interval_of_their_signed_difference_folded_at_zero(a, b):
    """The definition, one number at a time."""

    def limits(x, n):
        z, total = 1.959963984540054, n + 1.959963984540054**2
        center = (x + z * z / 2) / total
        half = z * math.sqrt(center * (1 - center) / total)
        low, high = beta.ppf(0.025, x + 0.25, n - x + 0.75), beta.ppf(0.975, x + 0.75, n - x + 0.25)
        return x / n, min(low, center - half), max(high, center + half)

    (p, p_low, p_high), (q, q_low, q_high) = limits(a, 40), limits(b, 60)
    low = p - q - math.sqrt((p - p_low) ** 2 + (q_high - q) ** 2)
    high = p - q + math.sqrt((p_high - p) ** 2 + (q - q_low) ** 2)
    folded = (0 if low <= 0 <= high else min(abs(low), abs(high)), min(max(abs(low), abs(high)), 1))
    found = largest_gap(np.array([[a, b]], dtype=float), np.array([[40.0, 60.0]]))
    np.testing.assert_allclose(found, folded, atol=1e-12)


@given(
    table=st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=5),
    confidence=st.sampled_from([0.5, 0.9, 0.99]),
)
def test_intervals_are_ordered_contain_the_estimate_and_are_never_nan(table, confidence):
    events, rest = np.array(table, dtype=float).T
    rows = events + rest
    rates = events[rows > 0] / rows[rows > 0]
    low, high = largest_gap(events[None], rows[None], confidence)
    assert 0 <= low <= high <= 1
    if len(rates) > 1:
        assert low <= np.ptp(rates) <= high
    order = np.random.default_rng(0).permutation(len(rows))
    np.testing.assert_allclose(largest_gap(events[order][None], rows[order][None], confidence), (low, high))
    wider = largest_gap(events[None], rows[None], 0.999)
    assert wider.low <= low + DUST
    assert high <= wider.high + DUST
    ratio = smallest_ratio(events, rows, confidence)
    assert 0 <= ratio.low <= ratio.high <= 1
    if len(rates) > 1 and rates.max() > 0:
        assert ratio.low <= rates.min() / rates.max() + DUST
        assert rates.min() / rates.max() <= ratio.high + DUST


def test_nothing_is_known_about_a_group_without_rows():
    assert wilson(0, 0) == (0, 1)
    low, high = largest_gap(np.array([[500.0, 500.0, 0.0]]), np.array([[1000.0, 1000.0, 0.0]]))
    assert low == 0
    assert 0.5 < high < 0.55  # the third may be at 0 or 1, the others are near ½
    assert largest_gap(np.array([[5.0, 0.0]]), np.array([[10.0, 0.0]])) == (0, 1)
    assert largest_gap(np.array([[5.0]]), np.array([[10.0]])) == (0, 1)
    assert smallest_ratio(np.array([5.0, 0.0]), np.array([10.0, 0.0])) == (0, 1)
    assert newcombe(0, 0, 0, 0) == (-1, 1)


def test_worst_of_two_rates_keeps_what_the_other_rate_shows():
    low, high = largest_gap(np.array([[900.0, 100.0], [5.0, 0.0]]), np.array([[1000.0, 1000.0], [10.0, 0.0]]))
    assert low > 0.7
    assert high == 1


@pytest.mark.parametrize("informative", [False, True])
def test_weighted_rates_are_covered_through_effective_rows(informative, rng):
    """Kish's size alone is too large where weights go with the event."""
    truth, n = 0.1, 400
    heavy = rng.random((4000, n)) < 0.4
    event = rng.random((4000, n)) < truth
    weight = np.where(event if informative else heavy, 5.0, 1.0)
    target = 5 * truth / (5 * truth + 1 - truth) if informative else truth
    sums = [(part * weight**power).sum(axis=1) for power in (1, 2) for part in (event, ~event)]
    kish = (sums[0] + sums[1]) ** 2 / (sums[2] + sums[3])

    def coverage(rows):
        low, high = wilson(rows * sums[0] / (sums[0] + sums[1]), rows)
        return np.mean((low <= target) & (target <= high))

    assert coverage(effective_rows(*sums)) >= 0.95 - SLACK
    assert (effective_rows(*sums) <= kish + 1e-9).all()
    assert not informative or coverage(kish) < 0.9


def test_equal_weights_of_any_size_are_rows():
    np.testing.assert_allclose(effective_rows(7 * 3.0, 7 * 9.0, 49 * 3.0, 49 * 9.0), 12)
    assert effective_rows(0.0, 0.0, 0.0, 0.0) == 0


def test_bootstrap_covers_a_smooth_statistic(rng):
    """The difference of two groups' F₁, which no closed form serves."""
    shares = np.array([[0.4, 0.1, 0.1, 0.4], [0.2, 0.1, 0.2, 0.5]])

    def difference(counts):
        scores = 2 * counts[..., 0] / (counts @ np.array([2.0, 1.0, 1.0, 0.0]))
        return scores[..., 0] - scores[..., 1]

    truth = difference(shares)
    samples = rng.multinomial([150, 100], shares, size=(300, 2)).astype(float)
    ends = np.array([bootstrap(one, difference, draws=300, bounds=(-1.0, 1.0)) for one in samples])
    covered = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
    assert 0.95 - SLACK - 0.025 <= covered <= 0.99  # .025: two standard errors of 300 samples


def test_bootstrap_counts_undefined_draws_as_either_bound():
    counts = np.array([[1.0, 0.0, 0.0, 3.0]])

    def precision(drawn):
        with np.errstate(invalid="ignore"):
            return (drawn[..., 0] / (drawn[..., 0] + drawn[..., 1]))[..., 0]

    assert bootstrap(counts, precision) == (0, 1)
    assert bootstrap(counts, precision) == bootstrap(counts, precision)


@pytest.mark.parametrize("stray", [-1.0, float("nan"), float("inf")])
def test_impossible_sums_are_refused(stray):
    with pytest.raises(ValueError, match="must be finite and not negative"):
        bootstrap(np.array([[1.0, stray, 1.0, 1.0]]), lambda counts: counts[..., 0, 0])
    with pytest.raises(ValueError, match="must be finite and not negative"):
        effective_rows(1.0, stray, 1.0, 1.0)
    with pytest.raises(ValueError, match="`draws` must be at least 1"):
        bootstrap(np.ones((1, 4)), lambda counts: counts[..., 0, 0], draws=0)


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, float("nan")])
def test_confidence_must_be_a_share(confidence):
    with pytest.raises(ValueError, match="`confidence` must lie between 0 and 1"):
        wilson(1, 2, confidence)


@pytest.mark.parametrize(("events", "rows"), [(3, 2), (-1, 2), (float("nan"), 2), (1, float("nan")), (1, float("inf"))])
def test_impossible_counts_are_refused(events, rows):
    with pytest.raises(ValueError, match="`events` must lie between 0 and `rows`"):
        wilson(events, rows)


def test_bootstrap_of_a_single_row_draws_that_row():
    assert bootstrap(np.array([[1.0, 0, 0, 0]]), lambda counts: counts[..., 0, 0]) == (1, 1)
