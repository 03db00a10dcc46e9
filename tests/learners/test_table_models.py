"""Small models of tables: trees and a linear one."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from mamofair import FairPlugInClassifier
from mamofair.learners.plugin.table_models import EFFORTS, Bins, Linear, TableModel, Trees, recipes
from mamofair.runs import load, save
from run_fits import GROUP, X, Y, run_of

KINDS = {"trees": Trees(20, 8, 0.1, 0.6, (2,)), "linear": Linear(categorical=(2,))}


def table(rng: np.random.Generator, classes: int, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Return two numbers, some of them missing, and a category; the label depends on all of them."""
    numbers, category = rng.normal(size=(n, 2)), rng.integers(4, size=n)
    score = numbers[:, 0] + np.abs(numbers[:, 1]) + (category == 2) + rng.normal(0, 0.3, n)
    target = np.searchsorted(np.quantile(score, np.linspace(0, 1, classes + 1)[1:-1]), score)
    numbers[rng.random((n, 2)) < 0.1] = np.nan
    return np.column_stack([numbers, category]), target


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kind(request) -> TableModel:
    return request.param


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_probabilities_of_all_classes_add_up_and_tell_them_apart(kind, classes, rng):
    rows, target = table(rng, classes)
    model = kind.fit(rows[:400], target[:400], None, 0)
    found = model.predict_proba(rows[400:])
    assert model.classes_.tolist() == list(range(classes))
    assert found.shape == (200, classes)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found.argmax(axis=1) == target[400:]).mean() > 1.5 / classes
    assert model.is_sound(3)
    assert not model.is_sound(4)


def test_classes_that_do_not_occur_have_no_column(kind, rng):
    rows, target = table(rng, 2)
    model = kind.fit(rows, np.array([1, 4])[target], None, 0)
    assert model.classes_.tolist() == [1, 4]
    np.testing.assert_array_equal(model.predict_proba(rows), kind.fit(rows, target, None, 0).predict_proba(rows))


def test_no_rows_have_no_probabilities(kind, rng):
    rows, target = table(rng, 3)
    if isinstance(kind, Linear):  # LightGBM refuses such tables
        assert kind.fit(rows, target, None, 0).predict_proba(rows[:0]).shape == (0, 3)


def test_rows_without_weight_do_not_count(kind, rng):
    rows, target = table(rng, 2)
    weight = (np.arange(600) % 2).astype(float)
    wrong = np.where(weight == 0, 1 - target, target)
    found = kind.fit(rows, wrong, weight, 0).predict_proba(rows)
    assert (found.argmax(axis=1) == target).mean() > 0.75


def test_weights_move_probabilities(kind, rng):
    rows, target = table(rng, 2)
    heavy = kind.fit(rows, target, np.where(target == 1, 5.0, 1.0), 0).predict_proba(rows)[:, 1]
    assert heavy.mean() > kind.fit(rows, target, None, 0).predict_proba(rows)[:, 1].mean() + 0.05


def test_the_same_seed_gives_the_same_model_bit_by_bit_in_threads_too(kind, rng):
    rows, target = table(rng, 3)
    alone = kind.fit(rows, target, None, 5).predict_proba(rows)
    with ThreadPoolExecutor(8) as pool:
        fits = [pool.submit(kind.fit, rows, target, None, 5) for _ in range(8)]
    for fit in fits:
        np.testing.assert_array_equal(fit.result().predict_proba(rows), alone)
    other = kind.fit(rows, target, None, 6).predict_proba(rows)
    assert np.array_equal(other, alone) == isinstance(kind, Linear)  # trees draw columns


def test_many_threads_may_predict_with_one_model(kind, rng):
    rows, target = table(rng, 3)
    model = kind.fit(rows, target, None, 0)
    parts = np.array_split(rows, 40)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(model.predict_proba, parts))
    np.testing.assert_array_equal(np.concatenate(found), model.predict_proba(rows))


def test_categories_are_no_numbers(kind, rng):
    """Codes of categories in another order are the same categories."""
    rows, target = table(rng, 2)
    other = rows.copy()
    other[:, 2] = np.array([2, 0, 3, 1])[rows[:, 2].astype(int)]
    ours, theirs = (replace(kind).fit(own, target, None, 0).predict_proba(own) for own in (rows, other))
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_new_categories_and_infinite_numbers_have_probabilities(kind, rng):
    rows, target = table(rng, 2)
    model = kind.fit(rows, target, None, 0)
    new = np.array([[np.nan, np.nan, np.nan], [1e300, -1e300, 99.0], [np.inf, -np.inf, 0.0]])
    assert np.isfinite(model.predict_proba(new)).all()


def test_a_saved_stack_predicts_the_same_after_loading(tmp_path):
    rows = slice(0, 600, 2)
    model = FairPlugInClassifier(cv=None, random_state=0, notions=["dp", "eopp"])
    model.fit(X[rows], Y[rows], sensitive_features=GROUP[rows])
    save(run_of(model), tmp_path / "run")
    again = load(tmp_path / "run")
    labels = (own.search_.learner.posterior.label for own in (model, again))
    for ours, theirs in zip(*labels, strict=True):
        one, other = (own.classifier.predict_proba(X.to_numpy()) for own in (ours, theirs))
        np.testing.assert_array_equal(one, other)
    for i in (0, -1):
        np.testing.assert_array_equal(model.at(i).decision_function(X), again.at(i).decision_function(X))


def test_effort_tells_what_is_fitted_and_rows_whether_a_linear_model_is():
    assert list(EFFORTS) == ["fast", "balanced", "best"]
    kinds = {
        (effort, rows): [type(own) for own in recipes(effort, rows, [1])]
        for effort in EFFORTS
        for rows in (1, 20_000, 20_001, 100_000, 100_001)
    }
    assert {len(own) for (effort, _), own in kinds.items() if effort == "fast"} == {1}
    linear = {key for key, own in kinds.items() if Linear in own}
    assert linear == {("balanced", 1), ("balanced", 20_000), *(("best", n) for n in (1, 20_000, 20_001, 100_000))}
    assert all(own.categorical == (1,) for own in recipes("best", 1, [1]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [12, 600])  # of so few rows, LightGBM uses no column
def test_trees_from_shared_bins_are_those_from_bins_of_their_own(n, weighted, rng):
    rows, target = table(rng, 3, n)
    weight = rng.random(n) if weighted else None
    kinds, bins = (KINDS["trees"], Trees(10, 4, 0.3, categorical=(2,))), Bins()
    jobs = [(kind, codes, seed) for kind in kinds for codes in (target, (target > 0).astype(int)) for seed in (0, 1)]
    with ThreadPoolExecutor(4) as pool:
        shared = list(pool.map(lambda job: job[0].fit(rows, job[1], weight, job[2], bins), jobs))
    for model, (kind, codes, seed) in zip(shared, jobs, strict=True):
        alone = kind.fit(rows, codes, weight, seed)
        np.testing.assert_array_equal(model.predict_proba(rows), alone.predict_proba(rows))
