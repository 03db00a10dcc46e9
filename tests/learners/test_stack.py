"""How several models of one target are combined: against brute force, and each of them alone."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mamofair.learners.plugin.stack import Stack


def views(rng: np.random.Generator, models: int, n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels, and what models believe of them: some more, some less, the last nothing."""
    target = rng.integers(classes, size=n)
    truth = np.eye(classes)[target] * np.linspace(2.5, 0, models)[:, None, None]
    scores = np.exp(truth + rng.normal(size=(models, n, classes)))
    return target, scores / scores.sum(axis=-1, keepdims=True)


def log_loss(probabilities: np.ndarray, target: np.ndarray, weight: np.ndarray | None = None) -> float:
    return float(np.average(-np.log(probabilities[np.arange(len(target)), target]), weights=weight))


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_stack_is_no_worse_than_any_of_its_models(classes, weighted, rng):
    for models in (2, 3, 5):
        target, given = views(rng, models, 400, classes)
        weight = rng.uniform(0.1, 3, 400) if weighted else None
        stack = Stack.fit(given, target, weight)
        ours = log_loss(stack(given), target, weight)
        assert (stack.weights >= 0).all()
        assert all(ours <= log_loss(own, target, weight) + 1e-6 for own in given)
        assert ours < log_loss(given.mean(axis=0), target, weight)


@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities_are_positive_and_add_up_to_one(classes, rng):
    target, given = views(rng, 3, 200, classes)
    found = Stack.fit(given, target, None)(given)
    assert found.shape == (200, classes)
    assert (found > 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_it_finds_the_least_loss_that_a_search_without_gradients_finds(rng):
    """One bias of two is free to choose: only their difference matters."""
    target, given = views(rng, 2, 60, 2)
    logs = np.log(given)

    def loss(parameters: np.ndarray) -> float:
        score = np.tensordot(parameters[:2], logs, 1) + np.array([0, parameters[2]])
        return log_loss(np.exp(score) / np.exp(score).sum(axis=1, keepdims=True), target)

    options = {"maxiter": 10_000, "xatol": 1e-9, "fatol": 1e-12}
    starts = ([0.5, 0.5, 0.0], [2.0, 0.0, 1.0], [0.0, 2.0, -1.0])
    bounds = [(0, 10), (0, 10), (-10, 10)]
    found = [minimize(loss, start, method="Nelder-Mead", bounds=bounds, options=options) for start in starts]
    best = min(found, key=lambda own: own.fun)
    stack = Stack.fit(given, target, None)
    assert log_loss(stack(given), target) == pytest.approx(best.fun, abs=1e-6)
    np.testing.assert_allclose([*stack.weights, np.diff(stack.bias)[0]], best.x, atol=0.01)


def test_a_model_that_is_right_counts_and_one_that_is_wrong_does_not(rng):
    target = rng.integers(2, size=500)
    right, wrong = (np.clip(own + rng.normal(0, 0.4, 500), 0.05, 0.95) for own in (target, 1 - target))
    positive = np.stack([right, wrong])
    stack = Stack.fit(np.stack([1 - positive, positive], axis=-1), target, None)
    assert stack.weights[0] > 0.5
    assert stack.weights[1] == 0


def test_of_models_that_say_the_same_either_may_count(rng):
    target, given = views(rng, 2, 300, 2)
    one, same = Stack.fit(given[[0, 0]], target, None), Stack.fit(given[[0, 0, 0]], target, None)
    assert one.weights.sum() == pytest.approx(same.weights.sum(), abs=1e-3)


def test_a_row_of_weight_two_counts_as_two_rows(rng):
    target, given = views(rng, 2, 80, 3)
    weight = rng.integers(1, 4, 80)
    twice = np.repeat(np.arange(80), weight)
    one, other = Stack.fit(given, target, weight.astype(float)), Stack.fit(given[:, twice], target[twice], None)
    np.testing.assert_allclose(one(given), other(given), atol=1e-3)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_models_that_are_sure_and_classes_that_never_occur_are_no_trouble(share):
    """A class of which the models have never heard stays rare, and nothing becomes infinite."""
    target = np.tile([0, 1], 50)
    given = np.zeros((2, 100, 3))
    given[0, np.arange(100), target] = 1
    given[1, :, :2] = 0.5
    given[0, :10] = [share, 1 - share, 0]  # sure, and wrong of some rows
    stack = Stack.fit(given, target, None)
    found = stack(given)
    assert np.isfinite([*stack.weights, *stack.bias]).all()
    assert np.isfinite(found).all()
    assert found[:, 2].max() < 1e-3
