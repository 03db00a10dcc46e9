"""`fit(units=…)`: rows of one person are never on both sides of a measurement."""

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from mamofair import (
    FairBoostingClassifier,
    FairClassifier,
    FairNetClassifier,
    FairPlugInClassifier,
    FairPortfolioClassifier,
    MostAccurateWithin,
)
from tiny_fits import TINY_FITS

pytestmark = pytest.mark.usefixtures("short_search")

PEOPLE, TIMES = 120, 3
RNG = np.random.default_rng(0)
UNITS = RNG.permutation(np.repeat([f"person {i}" for i in range(PEOPLE)], TIMES))
OWN = dict(zip(sorted(set(UNITS)), RNG.normal(size=(PEOPLE, 2)), strict=True))
X = np.array([OWN[name] for name in UNITS])  # the rows of a person are alike
LABELS = dict(zip(OWN, RNG.integers(0, 2, PEOPLE), strict=True))  # and so are their labels, which mean nothing
Y = np.array([LABELS[name] for name in UNITS])
GROUP = np.array(["f" if int(name.split()[1]) % 2 else "m" for name in UNITS])


def least_error(model: FairClassifier, units: Any) -> float:
    return float(model.fit(X, Y, sensitive_features=GROUP, units=units).front_.frame()["error"].min())


# Of the front, only the least error is looked at: the member for accuracy alone and one other have it.
REMEMBERS = {"members": 2, "n_estimators": 30, "min_child_samples": 1, "num_leaves": 63, "random_state": 0}


@TINY_FITS
@pytest.mark.parametrize(
    "model",
    [
        FairPlugInClassifier(estimator=KNeighborsClassifier(1), random_state=0),
        FairBoostingClassifier(**REMEMBERS, cv=3),
        FairBoostingClassifier(**REMEMBERS),
    ],
    ids=["folds of a plug-in", "folds of boosting", "validation rows"],
)
def test_a_model_that_remembers_people_gains_nothing_by_it(model: FairClassifier) -> None:
    assert least_error(model, None) < 0.2
    assert least_error(model, UNITS) > 0.3


@pytest.mark.parametrize("kind", [FairNetClassifier, FairBoostingClassifier, FairPlugInClassifier])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_person_is_in_two_parts(kind: type[FairClassifier], seed: int) -> None:
    cv = {"cv": None} if kind is FairPlugInClassifier else {}
    model = kind(calibration_fraction=0.2, random_state=seed, **cv)
    _, parts = model.start(X, Y, sensitive_features=GROUP, units=UNITS)
    owners = [set(part.units.tolist()) for part in (parts.train, parts.valid, parts.calibration)]
    assert all(owners)
    assert sum(map(len, owners)) == PEOPLE == len(set.union(*owners))


def test_each_row_a_unit_of_its_own_measures_points_as_no_units_do() -> None:
    model = FairPlugInClassifier(effort="fast", cv=None, validation_fraction=np.arange(len(Y)) % 3 == 0, random_state=0)
    alone = model.fit(X, Y, sensitive_features=GROUP).front_
    single = model.fit(X, Y, sensitive_features=GROUP, units=np.arange(len(Y))).front_
    np.testing.assert_array_equal(alone.values, single.values)
    for point in single:
        assert point.valid.squares is not None
        for name, counts in point.valid.counts.items():
            np.testing.assert_array_equal(point.valid.squares[name], counts)


@TINY_FITS
def test_a_portfolio_passes_units_on() -> None:
    model = FairPortfolioClassifier([("knn", FairPlugInClassifier(estimator=KNeighborsClassifier(1)))], random_state=0)
    assert least_error(model, UNITS) > 0.3


def test_certificates_for_independent_rows_are_refused() -> None:
    asked = {"calibration_fraction": 0.3, "random_state": 0}
    exact = FairBoostingClassifier(selection=MostAccurateWithin(0.4, confidence=0.8), **asked)
    with pytest.raises(ValueError, match="must have independent rows: found `units`"):
        exact.fit(X, Y, sensitive_features=GROUP, units=UNITS)
    rough = MostAccurateWithin(0.9, confidence=0.6, method="newcombe")
    model = FairBoostingClassifier(selection=rough, n_estimators=5, **asked)
    model.fit(X, Y, sensitive_features=GROUP, units=UNITS)
    assert rough.answer(model.front_).status in ("certified", "not enough data")
