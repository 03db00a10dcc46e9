from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from mamofair._rows.groups import read_groups
from mamofair.baselines._linear import contrasts, logistic, with_intercept
from mamofair.baselines._zafar import ZafarClassifier
from mamofair.datasets import make_toy
from mamofair.learners.numbers import Scaling
from mamofair.learners.rows import Rows, hold_back
from mamofair.metrics import gap
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY

TOY = make_toy()
NOTIONS = ["demographic_parity", "equal_opportunity"]


def fitted(**parameters: Any) -> ZafarClassifier:
    return ZafarClassifier(**({"random_state": 0} | parameters)).fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive)


def training_rows() -> Rows:
    """The rows that an estimator with random_state=0 trains on."""
    rows = Rows(TOY.X.to_numpy(), TOY.y.to_numpy(), read_groups(TOY.sensitive), None)
    seed = check_random_state(0).randint(2**31 - 1)
    return hold_back(rows, (0.25, 0.0), np.random.default_rng(seed))[0]


def covariance(theta: np.ndarray, rows: Rows, notion: str) -> float:
    """An oracle: numpy's own covariance, over the positives for equal opportunity."""
    scores = with_intercept(Scaling.of(rows.X)(rows.X)) @ theta
    counted = rows.y == 1 if notion == "equal_opportunity" else np.full(len(rows), True)
    return float(np.cov(rows.groups.codes[counted, 0], scores[counted], bias=True)[0, 1])


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_a_loose_bound_gives_plain_logistic_regression(C: float) -> None:
    rows = training_rows()
    plain = LogisticRegression(C=C, tol=1e-8, max_iter=1000).fit(Scaling.of(rows.X)(rows.X), rows.y)
    [point] = fitted(bounds=(1.0,), C=C).front_.points
    np.testing.assert_allclose(point.state, np.append(plain.coef_, plain.intercept_), atol=1e-3)


@pytest.mark.parametrize("notion", NOTIONS)
def test_the_covariance_on_training_rows_is_within_the_bound(notion: str) -> None:
    rows, bounds = training_rows(), (1.0, 0.3, 0.01)
    model = fitted(notions=notion, bounds=bounds)
    free = abs(covariance(fitted(notions=notion, bounds=(1.0,)).front_.points[0].state, rows, notion))
    np.testing.assert_allclose(model.history_["limit"], np.multiply(bounds, free))
    for point in model.front_.points:
        found = covariance(point.state, rows, notion)
        assert abs(found) <= bounds[point.step] * free * (1 + 1e-9)
        assert found == pytest.approx(model.history_["covariance"][point.step])


@pytest.mark.parametrize("notion", [DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY], ids=NOTIONS)
@pytest.mark.parametrize("bound", [0.4, 0.0])
def test_a_convex_solver_finds_the_same(notion: Any, bound: float) -> None:
    rows = training_rows()
    design = with_intercept(Scaling.of(rows.X)(rows.X))
    [contrast] = contrasts(rows, [(notion, "group")], most=1)
    slope, y = contrast @ design, rows.y.astype(float)
    free = logistic(design, y, 1 - y, 1.0, np.zeros(3))
    ours = logistic(design, y, 1 - y, 1.0, np.append(bound * free[:-1], free[-1]), slope)
    theta = cp.Variable(3)
    loss = cp.sum(cp.logistic(cp.multiply(1 - 2 * y, design @ theta))) + cp.sum_squares(theta[:-1]) / 2
    cp.Problem(cp.Minimize(loss), [cp.abs(slope @ theta) <= bound * abs(slope @ free)]).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(ours, theta.value, atol=1e-4)


@pytest.mark.parametrize("notion", NOTIONS)
def test_tighter_bounds_cost_accuracy_on_the_toy(notion: str) -> None:
    rows, errors, covariances = training_rows(), [], []
    for bound in (1.0, 0.5, 0.25, 0.0):
        model = fitted(notions=notion, bounds=(bound,))
        errors.append(np.mean(model.predict(pd.DataFrame(rows.X, columns=TOY.X.columns)) != rows.y))
        covariances.append(abs(model.history_["covariance"][0]))
    assert np.all(np.diff(covariances) < 0)
    assert np.all(np.diff(errors) > -0.01)  # the bound is on a stand-in, and the loss is not the error
    assert errors[-1] > errors[0]


def test_the_toy_gets_fairer() -> None:
    gaps = [
        gap(TOY.y, model.predict(TOY.X), sensitive_features=TOY.sensitive, notion="equal_opportunity")
        for model in (fitted(notions="equal_opportunity", bounds=(bound,)) for bound in (1.0, 0.0))
    ]
    assert gaps[1] < gaps[0] / 2


def test_weights_count_as_repeated_rows() -> None:
    rows = training_rows()
    weight = np.random.default_rng(0).integers(1, 4, len(rows))
    weighted = Rows(rows.X, rows.y, rows.groups, weight.astype(float))
    repeated = rows[np.repeat(np.arange(len(rows)), weight)]
    for notion in (DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY):
        ours, theirs = (contrasts(part, [(notion, "group")], most=1)[0] @ part.X for part in (weighted, repeated))
        np.testing.assert_allclose(ours, theirs)


def test_contrasts_give_the_exact_gap() -> None:
    rows = training_rows()
    decided = np.random.default_rng(0).random(len(rows)) < 0.4
    for notion in (DEMOGRAPHIC_PARITY, EQUAL_OPPORTUNITY):
        [contrast] = contrasts(rows, [(notion, "group")], most=1)
        [tally] = rows.counter()(decided[None])
        assert abs(contrast @ decided) == pytest.approx(tally.gap(notion, "group"))


@pytest.mark.parametrize(
    ("parameters", "sensitive"),
    [
        ({"notions": "equalized_odds"}, TOY.sensitive),
        ({"notions": NOTIONS}, TOY.sensitive),
        ({}, TOY.sensitive.assign(other=np.arange(600) % 2)),
        ({}, np.arange(600) % 3),
    ],
)
def test_what_it_cannot_do_is_an_error(parameters: dict[str, Any], sensitive: Any) -> None:
    with pytest.raises(ValueError, match="one attribute with two groups"):
        ZafarClassifier(**parameters).fit(TOY.X, TOY.y, sensitive_features=sensitive)


def test_bounds_must_be_shares() -> None:
    with pytest.raises(ValueError, match="`bounds` must be shares"):
        fitted(bounds=(2.0,))
