"""Rows of one person or other unit: never divided between parts, and counted as one where it matters."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mamofair._rows.groups import Groups, read_groups
from mamofair._rows.splits import even_sizes, read_units, split_rows, stratified_order
from mamofair._stats.intervals import wilson
from mamofair.fronts import EVERYONE, Counter
from mamofair.learners import Rows
from mamofair.learners.rows import hold_back
from mamofair.metrics._counts import count_events
from mamofair.metrics._intervals import gap_intervals
from mamofair.notions import DEMOGRAPHIC_PARITY, FP, TP, Rate

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def unit_columns(draw: st.DrawFn) -> np.ndarray:
    sizes = draw(st.lists(st.integers(1, 6), min_size=12, max_size=60))
    units = np.repeat(np.arange(len(sizes)), sizes)
    return np.random.default_rng(draw(SEEDS)).permutation(units)


@given(unit_columns(), st.integers(2, 4), SEEDS)
def test_no_unit_is_in_two_parts_whatever_the_seed(units: np.ndarray, parts: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    strata, sizes = rng.integers(0, 2, (len(units), 2)), even_sizes(len(units), parts)
    found = split_rows(strata, sizes, rng, units)
    assert sorted(np.concatenate(found).tolist()) == list(range(len(units)))
    owners = [set(units[part].tolist()) for part in found]
    assert sum(map(len, owners)) == len(set(units.tolist()))
    assert all(abs(len(part) - size) <= 6 for part, size in zip(found, sizes, strict=True))  # a unit has 6 at most


@given(st.integers(3, 50), st.integers(1, 3), SEEDS)
def test_without_units_parts_are_stretches_of_the_stratified_order(rows: int, parts: int, seed: int) -> None:
    strata = np.random.default_rng(seed).integers(0, 2, rows)
    order = stratified_order(strata, np.random.default_rng(seed))
    found = split_rows(strata, even_sizes(rows, parts), np.random.default_rng(seed))
    for part, stretch in zip(found, np.array_split(order, parts), strict=True):
        np.testing.assert_array_equal(part, stretch)


def test_strata_keep_their_shares_where_units_are_alike(rng: np.random.Generator) -> None:
    units = np.repeat(np.arange(300), 3)
    strata = (units < 100).astype(int)
    for part in split_rows(strata, [450, 450], rng, units):
        assert strata[part].mean() == pytest.approx(1 / 3, abs=0.01)


def test_too_few_units_for_the_parts_are_refused(rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match=r"Each of 3 parts must have rows, .* found 2 units"):
        split_rows(np.zeros(90), [30, 30, 30], rng, np.repeat([0, 1], 45))


@pytest.mark.parametrize(
    ("units", "message"),
    [
        (["a", None, "b"], "must name a unit for each row: found 1 rows without one"),
        ([1.0, np.nan, 2.0], "found 1 rows without one"),
        (["a", "a", "a"], "must name at least two units: found only 'a'"),
        (["a", "b"], "must have one value per row"),
    ],
)
def test_units_that_cannot_be_read_are_refused(units: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_units(units, rows=3)
    assert read_units(pd.Series(["b", "a", "b"]), rows=3).tolist() == [0, 1, 0]


@given(unit_columns(), SEEDS)
def test_parts_that_are_held_back_keep_units_whole(units: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = read_groups(rng.choice(["f", "m"], len(units)), rows=len(units))
    rows = Rows(np.arange(len(units))[:, None], rng.integers(0, 2, len(units)), groups, None, units=units)
    owners = [set(part.units.tolist()) for part in hold_back(rows, (0.25, 0.25), rng)]
    assert all(owners)
    assert sum(map(len, owners)) == len(set(units.tolist()))


def test_a_mask_that_divides_a_unit_is_refused(rng: np.random.Generator) -> None:
    groups = read_groups(["f", "m"] * 4, rows=8)
    rows = Rows(np.zeros((8, 1)), np.array([0, 1] * 4), groups, None, units=np.repeat(np.arange(4), 2))
    with pytest.raises(ValueError, match="must keep the rows of one unit together: found 1 units on both sides"):
        hold_back(rows, (np.arange(8) < 3, 0.0), rng)
    assert len(hold_back(rows, (np.arange(8) < 4, 0.0), rng)[1]) == 4


def people(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, Groups, np.ndarray]:
    return rng.integers(0, 2, rows), read_groups(rng.choice(["f", "m"], rows), rows=rows), rng.random((1, rows)) < 0.4


@given(st.integers(1, 5), SEEDS)
def test_repeating_every_row_of_a_unit_leaves_intervals_as_they_are(times: int, seed: int) -> None:
    y, groups, decided = people(np.random.default_rng(seed), 80)
    again = np.tile(np.arange(80), times)
    once = Counter.of(y, groups)(decided)
    repeated = Counter.of(y[again], groups[again], units=again)(decided[:, again])
    assert repeated[0].error == pytest.approx(once[0].error)
    for one, other in zip(
        gap_intervals(once, DEMOGRAPHIC_PARITY, "sensitive_0", 0.95),
        gap_intervals(repeated, DEMOGRAPHIC_PARITY, "sensitive_0", 0.95),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@given(unit_columns(), st.booleans(), SEEDS)
def test_the_effective_rows_give_at_least_the_cluster_robust_variance(
    units: np.ndarray, weighted: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    y, groups, decided = people(rng, len(units))
    weight = rng.uniform(0.1, 3, len(units)) if weighted else None
    [tally] = Counter.of(y, groups, weight, units=units)(decided)
    ones = np.ones(len(units)) if weight is None else weight
    for name, members in [(EVERYONE, np.ones(len(units), dtype=bool)), ("sensitive_0", groups.codes[:, 0] == 0)]:
        if not members.any():
            continue
        events, rows = (float(part[0, 0, 0]) for part in count_events([tally], [Rate(TP | FP)], name))
        share = np.average(decided[0][members], weights=ones[members])
        residuals = np.where(members, ones * (decided[0] - share), 0.0)
        robust = sum(residuals[units == unit].sum() ** 2 for unit in set(units.tolist())) / ones[members].sum() ** 2
        assert events / rows == pytest.approx(share)
        assert share * (1 - share) / rows >= robust * (1 - 1e-9)


def test_intervals_of_persons_cover_where_those_of_rows_do_not(rng: np.random.Generator) -> None:
    everyone, hits = Groups(("all",), (("everyone",),), np.zeros((600, 1), dtype=int)), {"rows": 0, "units": 0}
    units = np.repeat(np.arange(100), 6)
    for _ in range(400):
        decided = np.repeat(rng.random(100) < 0.3, 6)[None]  # a person's rows are decided alike
        for name, own in (("rows", None), ("units", units)):
            tallies = Counter.of(np.zeros(600, dtype=int), everyone, units=own)(decided)
            [events], [rows] = (part[0, 0] for part in count_events(tallies, [Rate(TP | FP)], EVERYONE))
            low, high = wilson(events, rows, 0.95)
            hits[name] += bool(low <= 0.3 <= high)
    assert hits["units"] >= 0.93 * 400
    assert hits["rows"] <= 0.75 * 400
