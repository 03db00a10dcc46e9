"""Audits of persons with several rows: intervals count persons, and what cannot count them is refused."""

import numpy as np
import pytest

from mamofair.metrics import Audit, audit


@pytest.fixture(scope="module")
def rows() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {
        "y_true": rng.integers(0, 2, 400),
        "y_pred": rng.integers(0, 2, 400),
        "sex": rng.choice(["f", "m"], 400),
        "weight": rng.choice([1.0, 2.0], 400),
    }


def audit_copies(rows: dict[str, np.ndarray], copies: int, **more: object) -> Audit:
    repeated = {name: np.repeat(values, copies) for name, values in rows.items()}
    return audit(repeated["y_true"], repeated["y_pred"], sensitive_features={"sex": repeated["sex"]}, **more)


@pytest.mark.parametrize("weighted", [False, True])
def test_copies_of_a_row_in_one_unit_leave_every_interval_as_it_is(rows: dict[str, np.ndarray], weighted: bool) -> None:
    own, copied = ({"sample_weight": np.repeat(rows["weight"], n)} if weighted else {} for n in (1, 5))
    once = audit_copies(rows, 1, **own)
    units = audit_copies(rows, 5, **copied, units=np.repeat(np.arange(400), 5))
    for table in ("frame", "ratios"):
        before, after = getattr(once, table)(), getattr(units, table)()
        np.testing.assert_allclose(after.select_dtypes("number"), before.select_dtypes("number"), atol=1e-12)
    np.testing.assert_allclose(units.groups()[["low", "high"]], once.groups()[["low", "high"]], atol=1e-12)
    assert units.rows == 2000
    assert "2,000 decisions about 400 units" in str(units)


def test_units_of_one_row_are_no_units(rows: dict[str, np.ndarray]) -> None:
    plain, units = audit_copies(rows, 1), audit_copies(rows, 1, units=np.arange(400))
    np.testing.assert_allclose(units.frame()[["gap", "low", "high"]], plain.frame()[["gap", "low", "high"]])


def test_each_month_counts_its_own_units(rows: dict[str, np.ndarray]) -> None:
    persons, months = np.repeat(np.arange(200), 2), np.tile(["a", "b"], 200)
    units, plain = audit_copies(rows, 1, units=persons), audit_copies(rows, 1)
    np.testing.assert_allclose(units.over(months)[["low", "high"]], plain.over(months)[["low", "high"]])


def test_tables_of_independent_rows_are_refused(rows: dict[str, np.ndarray]) -> None:
    scores = np.random.default_rng(1).random(400)
    people = {"sensitive_features": {"sex": rows["sex"]}, "units": np.repeat(np.arange(200), 2)}
    found = audit(rows["y_true"], scores, threshold=0.5, **people)
    assert "Scores" not in str(found)
    for table in ("auc", "calibration", "calibration_error", "around_threshold", "curve"):
        with pytest.raises(ValueError, match=f"`{table}` needs independent rows: found `units`"):
            getattr(found, table)()
    with pytest.raises(ValueError, match="`metric` needs independent rows"):
        found.metric(lambda y, decisions: 0.0)


def test_units_must_be_one_a_row(rows: dict[str, np.ndarray]) -> None:
    with pytest.raises(ValueError, match="`units` must have one value per row"):
        audit_copies(rows, 1, units=np.arange(3))
