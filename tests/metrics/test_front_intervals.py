import numpy as np
import pytest

from mamofair._rows.groups import read_groups
from mamofair._stats.intervals import wilson
from mamofair.fronts import Counter, Front, Point
from mamofair.metrics import audit, front_intervals
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUALIZED_ODDS

CRITERIA = ((DEMOGRAPHIC_PARITY, "sensitive_0"), (EQUALIZED_ODDS, "sensitive_0"))


def measured(rng, points=5, n=300, weighted=False, calibration=True):
    y, group = rng.integers(0, 2, n), rng.integers(0, 3, n)
    decisions = rng.random((points, n)) < np.linspace(0.2, 0.8, points)[:, None]
    weight = rng.random(n) if weighted else None
    tallies = Counter.of(y, read_groups(group), weight)(decisions)
    held = Counter.of(1 - y, read_groups(group))(decisions) if calibration else [None] * points
    points = tuple(Point(*parts, member=i) for i, parts in enumerate(zip(tallies, held, strict=True)))
    return Front(points, CRITERIA), y, decisions, group, weight


@pytest.mark.parametrize("weighted", [False, True])
def test_every_point_has_the_intervals_of_an_audit_of_its_decisions(weighted, rng):
    front, y, decisions, group, weight = measured(rng, weighted=weighted)
    frame = front_intervals(front, confidence=0.9)
    assert len(frame) == len(front)
    for i, point in enumerate(front.points):
        decided = decisions[point.member].astype(int)
        oracle = audit(
            y, decided, sensitive_features=group, notions=["dp", "eodds"], sample_weight=weight, confidence=0.9
        ).frame()
        for (name, _), row in zip(frame.columns[3::3], oracle.itertuples(index=False), strict=True):
            assert frame.loc[i, name].tolist() == pytest.approx([row.gap, row.low, row.high])
    np.testing.assert_allclose(frame.xs("value", axis=1, level=1), front.values)


def test_error_has_the_interval_of_a_rate(rng):
    front, y, decisions, *_ = measured(rng)
    frame = front_intervals(front)["error"]
    for i, point in enumerate(front.points):
        assert frame.loc[i, ["low", "high"]].tolist() == pytest.approx(
            wilson(np.sum(decisions[point.member] != y), len(y))
        )


def test_calibration_rows_are_measured_when_asked_for(rng):
    front, y, decisions, *_ = measured(rng)
    frame = front_intervals(front, part="calibration")["error"]
    assert frame["value"].tolist() == pytest.approx([np.mean(decisions[p.member] == y) for p in front.points])


def test_undefined_gap_counts_as_one_with_nothing_known():
    [tally] = Counter.of([1, 0], read_groups(["a", "b"]))(np.array([[True, False]]))
    frame = front_intervals(Front((Point(tally),), CRITERIA))
    assert frame["equalized_odds[sensitive_0]"].to_numpy().tolist() == [[1, 0, 1]]


def test_front_without_calibration_rows_and_unknown_parts_are_refused(rng):
    front, *_ = measured(rng, calibration=False)
    with pytest.raises(
        ValueError, match=r"must have calibration rows: found none\. Train with `calibration_fraction=`"
    ):
        front_intervals(front, part="calibration")
    with pytest.raises(ValueError, match="`part` must be 'valid' or 'calibration': found 'test'"):
        front_intervals(front, part="test")
