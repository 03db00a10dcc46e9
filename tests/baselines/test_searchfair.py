from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state

from mamofair._rows.groups import read_groups
from mamofair.baselines._linear import contrasts, with_intercept
from mamofair.baselines._searchfair import SearchFairClassifier
from mamofair.datasets import make_toy
from mamofair.learners.numbers import Scaling
from mamofair.learners.rows import Rows, hold_back
from mamofair.notions import DEMOGRAPHIC_PARITY, as_notion

TOY = make_toy()
NOTIONS = ["demographic_parity", "equal_opportunity"]


def fitted(sensitive: Any = TOY.sensitive, **parameters: Any) -> SearchFairClassifier:
    model = SearchFairClassifier(**({"random_state": 0, "components": 50} | parameters))
    return model.fit(TOY.X, TOY.y, sensitive_features=sensitive)


def training_rows() -> Rows:
    """The rows that an estimator with random_state=0 trains on."""
    rows = Rows(TOY.X.to_numpy(), TOY.y.to_numpy(), read_groups(TOY.sensitive), None)
    seed = check_random_state(0).randint(2**31 - 1)
    return hold_back(rows, (0.25, 0.0), np.random.default_rng(seed))[0]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("tolerance", [0.05, 0.01])
def test_the_gap_on_training_rows_is_within_the_tolerance(kernel: str, notion: str, tolerance: float) -> None:
    model, rows = fitted(notions=notion, kernel=kernel, tolerance=tolerance), training_rows()
    [point] = model.front_.points
    [tally] = rows.counter()((model.search_.learner.scores([point], rows.X)[0] > 0)[None])
    assert tally.gap(as_notion(notion), "group") == pytest.approx(model.gap_, abs=1e-9)
    assert model.gap_ <= tolerance + 1e-9
    assert model.lambda_ == model.history_["lambda"].iloc[-1]


def test_without_need_it_is_logistic_regression() -> None:
    rows = training_rows()
    model = fitted(tolerance=1.0)
    plain = LogisticRegression(tol=1e-8, max_iter=1000).fit(Scaling.of(rows.X)(rows.X), rows.y)
    np.testing.assert_allclose(model.front_.points[0].state, np.append(plain.coef_, plain.intercept_), atol=1e-3)
    assert model.lambda_ == 0


def test_the_formula_is_what_is_minimised() -> None:
    model, rows = fitted(), training_rows()
    design, n = with_intercept(Scaling.of(rows.X)(rows.X)), len(rows)
    [contrast] = contrasts(rows, [(DEMOGRAPHIC_PARITY, "group")], most=1)
    c = np.sign(model.history_["gap"][0]) * contrast

    def objective(theta: np.ndarray) -> float:
        f = design @ theta
        loss = np.log1p(np.exp(np.where(rows.y == 1, -f, f))).mean() + theta[:-1] @ theta[:-1] / (2 * n)
        bound = np.maximum(0, c) @ np.log2(1 + np.exp(f)) + np.maximum(0, -c) @ np.log2(1 + np.exp(-f))
        return float(loss + model.lambda_ * bound)

    ours = model.front_.points[0].state
    assert model.lambda_ > 0
    assert objective(ours) <= minimize(objective, np.zeros(3), tol=1e-10).fun + 1e-8


def test_either_sign_of_the_gap_is_closed() -> None:
    """The bound from above serves a positive gap and that from below a negative one."""
    other = TOY.sensitive.replace({"protected": "z", "unprotected": "a"})
    one, two = fitted(), fitted(other)
    assert one.history_["gap"][0] * two.history_["gap"][0] < 0
    assert max(one.gap_, two.gap_) <= 0.01
    assert np.mean(one.predict(TOY.X) == two.predict(TOY.X)) > 0.95  # other rows are held back


def test_fairness_costs_accuracy_and_the_kernel_gives_some_back() -> None:
    rows = training_rows()

    def error(**parameters: Any) -> float:
        model = fitted(notions="equal_opportunity", **parameters)
        return float(np.mean((model.search_.learner.scores([model.front_.points[0]], rows.X)[0] > 0) != rows.y))

    free, fair, curved = error(tolerance=1.0), error(), error(kernel="rbf", gamma=1.0)
    assert free < fair
    assert curved < fair


def test_a_search_that_ends_too_early_warns() -> None:
    with pytest.warns(ConvergenceWarning, match="found a gap of"):
        fitted(max_iter=1, tolerance=0.0)


def test_a_seed_gives_the_same_again() -> None:
    model = SearchFairClassifier(kernel="rbf", components=20, random_state=0, calibration_fraction=0.2)
    one, other = (clone(model).fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive) for _ in range(2))
    np.testing.assert_array_equal(one.decision_function(TOY.X), other.decision_function(TOY.X))
    assert one.at(0).front_.points[0].calibration is not None


@pytest.mark.parametrize("notions", ["equalized_odds", NOTIONS])
def test_what_it_cannot_do_is_an_error(notions: Any) -> None:
    with pytest.raises(ValueError, match="one attribute with two groups"):
        fitted(notions=notions)
