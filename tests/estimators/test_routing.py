"""Inside scikit-learn: pipelines, searches and cross-validation that pass the sensitive attributes on."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_fits import GROUP, X, Y, assert_same, fitted, small

from mamofair import MLP, ClosestToIdeal, MostAccurateWithin
from mamofair.datasets import load_adult
from mamofair.metrics import gap
from mamofair.tables import encoder


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def fairness_scorer():
    scorer = make_scorer(gap, greater_is_better=False, notion="demographic_parity")
    return scorer.set_score_request(sensitive_features=True)


@pytest.mark.usefixtures("routing")
def test_pipeline_passes_the_attributes_to_the_estimator():
    adult = load_adult()
    rows = slice(0, 1500)
    table, y, people = adult.X[rows], adult.y[rows], adult.sensitive[rows]
    model = make_pipeline(encoder(), small(epochs=5)).fit(table, y, sensitive_features=people)
    assert model[-1].front_.columns == ["error", "demographic_parity[sex]", "demographic_parity[race]"]
    assert model.predict(adult.X[1500:1600]).shape == (100,)
    assert model.score(table, y) > 0.75
    other = make_pipeline(model[:-1], model[-1].at(-1))
    assert other.predict(table).mean() <= 1


def test_pipeline_passes_them_also_by_the_name_of_the_step():
    model = make_pipeline(StandardScaler(), small())
    model.fit(X, Y, fairnetclassifier__sensitive_features=GROUP)
    assert len(model[-1].front_) >= 1


def test_pipeline_without_attributes_says_how_to_pass_them():
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        make_pipeline(StandardScaler(), small()).fit(X, Y)


@pytest.mark.usefixtures("routing")
def test_grid_search_scores_fairness_and_fits_the_best_again():
    grid = GridSearchCV(
        small(epochs=2),
        {"network": [MLP((4,)), MLP((8,))], "selection": [ClosestToIdeal(), MostAccurateWithin(1.0)]},
        scoring=fairness_scorer(),
        cv=2,
        error_score="raise",
    )
    grid.fit(X, Y, sensitive_features=GROUP)
    assert (grid.cv_results_["mean_test_score"] <= 0).all()
    assert_same(grid.best_estimator_, fitted(epochs=2, **grid.best_params_))


@pytest.mark.usefixtures("routing")
def test_cross_validation_gives_each_fold_its_people():
    people = {"sensitive_features": GROUP["group"]}
    scoring = {"accuracy": "accuracy", "fairness": fairness_scorer()}
    found = cross_validate(
        small(), X, Y, scoring=scoring, cv=3, params=people, return_estimator=True, return_indices=True
    )
    for fold, model in enumerate(found["estimator"]):
        test = found["indices"]["test"][fold]
        expected = gap(Y[test], model.predict(X.iloc[test]), sensitive_features=GROUP.iloc[test], notion="dp")
        assert found["test_fairness"][fold] == -expected
    scores = cross_val_score(small(), X, Y, scoring=fairness_scorer(), cv=3, params=people)
    np.testing.assert_array_equal(scores, found["test_fairness"])


@pytest.mark.usefixtures("routing")
def test_sample_weight_is_passed_on_if_it_is_requested():
    weight = np.random.default_rng(0).random(len(X))
    model = make_pipeline(
        StandardScaler().set_fit_request(sample_weight=False), small().set_fit_request(sample_weight=True)
    )
    model.fit(X, Y, sensitive_features=GROUP, sample_weight=weight)
    assert model[-1].front_.points[0].valid.squares is not None


def test_search_works_without_routing_too():
    grid = GridSearchCV(small(epochs=1), {"members": [2, 3]}, cv=2, error_score="raise")
    assert grid.fit(X, Y, sensitive_features=GROUP).best_params_["members"] in (2, 3)
