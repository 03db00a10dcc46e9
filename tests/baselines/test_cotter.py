from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mamofair._descent.networks import MLP
from mamofair.baselines._cotter import CotterClassifier, mix, signed_gap, stationary
from mamofair.datasets import make_toy
from mamofair.metrics import gap
from mamofair.selection import MostAccurateWithin

TOY = make_toy()
NOTIONS = ["demographic_parity", "equal_opportunity"]


def fitted(**parameters: Any) -> CotterClassifier:
    model = CotterClassifier(
        **({"steps": 200, "learning_rate": 0.05, "multiplier_rate": 1.0, "random_state": 0} | parameters)
    )
    return model.fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive)


def tiny() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """One feature that tells the label and another that tells label and group: fairness takes the first alone."""
    rng = np.random.default_rng(0)
    group, y = np.tile([0, 1, 0, 1], 100), np.repeat([0, 1], 200)
    signs = 2 * np.column_stack([y, y]) - 1.0 + np.column_stack([0 * group, 1.5 * (2 * group - 1)])
    return pd.DataFrame(signs + rng.normal(0, 1, (400, 2)), columns=["fair", "unfair"]), y, group


def brute_force(X: np.ndarray, y: np.ndarray, group: np.ndarray, tolerance: float) -> float:
    """The least error of a line, of 60 directions and 50 places each, whose gap is within the tolerance."""
    best = 1.0
    for angle in np.linspace(0, 2 * np.pi, 60, endpoint=False):
        scores = X @ [np.cos(angle), np.sin(angle)]
        for threshold in np.quantile(scores, np.linspace(0, 1, 50)):
            positive = scores > threshold
            if abs(positive[group == 1].mean() - positive[group == 0].mean()) <= tolerance:
                best = min(best, float(np.mean(positive != y)))
    return best


def test_the_best_iterate_is_near_what_brute_force_finds() -> None:
    X, y, group = tiny()
    model = CotterClassifier(tolerance=0.05, steps=400, multiplier_rate=1.0, random_state=0)
    model.fit(X, y, sensitive_features=group)
    best = model.with_selection(MostAccurateWithin(0.05, margin=0)).predict(X)
    assert (
        gap(y, best, sensitive_features=group, notion="demographic_parity") <= 0.08
    )  # chosen on a quarter of the rows
    assert np.mean(best != y) <= brute_force(X.to_numpy(), y, group, 0.05) + 0.03
    assert brute_force(X.to_numpy(), y, group, 1.0) < brute_force(X.to_numpy(), y, group, 0.05)  # fairness has a price


@pytest.mark.parametrize("notions", [*NOTIONS, NOTIONS], ids=["dp", "eopp", "both"])
def test_the_mixture_is_sparse_and_within_the_tolerance(notions: Any) -> None:
    model = fitted(notions=notions, tolerance=0.02)
    mixture = model.mixture_
    criteria = model.front_.criteria
    assert len(mixture.weights) == len(mixture.points) <= len(criteria) + 1
    assert mixture.weights.sum() == pytest.approx(1)
    for criterion in criteria:
        assert abs(mixture.weights @ [signed_gap(point, criterion) for point in mixture.points]) <= 0.02 + 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_mixing_equals_the_best_of_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    errors, gaps, tolerance = rng.random(8), rng.uniform(-0.5, 0.5, 8), 0.03
    best = min(errors[np.abs(gaps) <= tolerance], default=1.0)
    for i, j in combinations(range(8), 2):
        shares = np.array([(s * tolerance - gaps[j]) / (gaps[i] - gaps[j]) for s in (-1, 1)])
        best = min([best, *(errors[j] + w * (errors[i] - errors[j]) for w in shares if 0 <= w <= 1)])
    weights = mix(errors, gaps[None], tolerance)
    assert weights @ errors == pytest.approx(best, abs=1e-6)
    assert np.count_nonzero(weights) <= 2


def test_where_no_mixture_is_fair_the_nearest_is_taken() -> None:
    weights = mix(np.array([0.1, 0.2, 0.3]), np.array([[0.5, 0.2, 0.4]]), 0.1)
    np.testing.assert_allclose(weights, [0, 1, 0], atol=1e-6)


def test_multipliers_are_a_distribution() -> None:
    multipliers = fitted(notions=NOTIONS).history_.drop(columns="step").to_numpy()
    assert multipliers.shape[1] == 5
    assert (multipliers >= 0).all()
    np.testing.assert_allclose(multipliers.sum(axis=1), 1)


def test_multipliers_are_stationary() -> None:
    swaps = np.random.default_rng(0).random((4, 4))
    swaps /= swaps.sum(axis=0)
    np.testing.assert_allclose(swaps @ stationary(swaps), stationary(swaps))


def test_the_multiplier_of_a_broken_constraint_grows() -> None:
    model = fitted(steps=40, learning_rate=1e-9)  # a model that does not move
    broken = "above" if signed_gap(model.front_.points[0], model.front_.criteria[0]) > 0 else "below"
    assert (model.history_[f"{broken} demographic_parity[group]"].diff().dropna() > 0).all()


def test_the_toy_gets_fair() -> None:
    frame = fitted().front_.frame()
    assert frame["demographic_parity[group]"].min() < 0.03
    assert frame["error"].min() < 0.2


def test_rows_are_decided_by_points_of_the_mixture() -> None:
    model = fitted(tolerance=0.02)
    drawn = model.predict_mixture(TOY.X, random_state=0)
    np.testing.assert_array_equal(drawn, model.predict_mixture(TOY.X, random_state=0))
    decided = model.search_.learner.scores(model.mixture_.points, TOY.X.to_numpy()) > 0
    assert np.all(np.any(drawn == decided, axis=0))


def test_a_network_and_a_seed_give_the_same_front_again() -> None:
    model = CotterClassifier(network=MLP((4,)), steps=20, random_state=1, calibration_fraction=0.2)
    one, other = (clone(model).fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive) for _ in range(2))
    pd.testing.assert_frame_equal(one.front_.frame(), other.front_.frame(), check_exact=True)
    assert one.front_.points[0].calibration is not None


def test_what_it_cannot_do_is_an_error() -> None:
    with pytest.raises(ValueError, match="one attribute with two groups"):
        fitted(notions="predictive_parity")
