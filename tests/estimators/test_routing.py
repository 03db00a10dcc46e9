"""Inside scikit-learn: pipelines, searches and cross-validation that pass the sensitive attributes on."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_fits import GROUP, X, Y, assert_same, fitted, small

from mamofair import MLP, ClosestToIdeal, FairPlugInClassifier, MostAccurateWithin
from mamofair.datasets import load_adult
from mamofair.metrics import gap
from mamofair.tables import encoder

pytestmark = pytest.mark.usefixtures("short_search")


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


# --- groups that are told at prediction, too


def told(**parameters):
    return FairPlugInClassifier(LogisticRegression(), aware=True, cv=2, random_state=0, **parameters)


@pytest.mark.parametrize("aware", [False, True])
def test_score_is_the_accuracy_of_the_decisions(aware):
    model = told().set_params(aware=aware).fit(X, Y, sensitive_features=GROUP)
    weight = np.linspace(0, 1, len(Y))
    decided = model.predict(X, sensitive_features=GROUP)
    assert model.score(X, Y, sensitive_features=GROUP) == accuracy_score(Y, decided)
    expected = accuracy_score(Y, decided, sample_weight=weight)
    assert model.score(X, Y, weight, sensitive_features=GROUP) == expected
    assert model.score(X, Y, sensitive_features=GROUP, sample_weight=weight) == expected != accuracy_score(Y, decided)


@pytest.mark.parametrize("enabled", [False, True])
def test_pipelines_pass_told_groups_to_everything_that_predicts(enabled):
    with config_context(enable_metadata_routing=enabled):
        pipe = make_pipeline(StandardScaler(), told())
        people = {"sensitive_features" if enabled else "fairpluginclassifier__sensitive_features": GROUP}
        pipe.fit(X, Y, **people)
        groups = {"sensitive_features": GROUP}
        scaled = pipe[0].transform(X)
        for method in ("predict", "predict_proba", *(["decision_function"] if enabled else [])):
            expected = getattr(pipe[-1], method)(scaled, **groups)
            np.testing.assert_array_equal(getattr(pipe, method)(X, **groups), expected)
        if enabled:
            assert pipe.score(X, Y, **groups) == pipe[-1].score(scaled, Y, **groups)


@pytest.mark.usefixtures("routing")
def test_searches_and_cross_validation_score_with_told_groups():
    people = {"sensitive_features": GROUP["group"]}
    found = cross_validate(told(), X, Y, cv=2, params=people, return_estimator=True, return_indices=True)
    for model, test, score in zip(found["estimator"], found["indices"]["test"], found["test_score"], strict=True):
        assert score == model.score(X.iloc[test], Y[test], sensitive_features=GROUP["group"].iloc[test])
    np.testing.assert_array_equal(cross_val_score(told(), X, Y, cv=2, params=people), found["test_score"])
    pipe = make_pipeline(StandardScaler(), told())
    grid = GridSearchCV(pipe, {"fairpluginclassifier__max_points": [2, 5]}, cv=2, error_score="raise")
    grid.fit(X, Y, **people)
    assert grid.best_estimator_.predict_proba(X, **people).shape == (600, 2)  # the search itself passes nothing on
    assert grid.score(X, Y, **people) == grid.best_estimator_.score(X, Y, **people)


@pytest.mark.usefixtures("routing")
def test_groups_that_are_not_told_are_asked_for_in_one_sentence():
    model = told().fit(X, Y, sensitive_features=GROUP)
    calls = [lambda name=name: getattr(model, name)(X) for name in ("predict", "predict_proba", "decision_function")]
    scored = [lambda: model.score(X, Y), lambda: make_scorer(accuracy_score)(model, X, Y)]
    for call in (*calls, *scored):
        with pytest.raises(ValueError, match=r"(?s)`sensitive_features`.*enable_metadata_routing.*`scoring`") as found:
            call()
        assert len(str(found.value)) <= 500
