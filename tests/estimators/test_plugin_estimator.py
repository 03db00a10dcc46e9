"""The plug-in estimator: what it takes, what it promises, what it refuses."""

import pickle
from dataclasses import replace

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_fits import GROUP, X, Y, two_attributes

from mamofair import FairPlugInClassifier, MostAccurateWithin
from mamofair.learners.plugin.table_models import EFFORTS, LinearModel, TreesModel
from mamofair.metrics import error, gap
from mamofair.tables import encoder
from tiny_fits import TINY_FITS

pytestmark = pytest.mark.usefixtures("short_search")

SMALL = HistGradientBoostingClassifier(max_iter=10, early_stopping=False)


def small(estimator=None, **parameters):
    """Return an estimator that is quick to fit."""
    given = LogisticRegression() if estimator is None else estimator
    return FairPlugInClassifier(given, **({"cv": 3, "effort": "fast", "random_state": 0} | parameters))


def fitted(estimator=None, **parameters):
    return small(estimator, **parameters).fit(X, Y, sensitive_features=GROUP)


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.fixture(scope="module")
def told():
    return fitted(aware=True, notions=["dp", "tpr"])


def test_front_trades_error_for_fairness(model):
    frame = model.front_.frame()
    assert list(frame) == ["error", "demographic_parity[group]"]
    assert len(frame) > 10
    assert frame["error"].iloc[0] < 0.2
    assert frame["demographic_parity[group]"].iloc[0] > 0.1
    assert frame["demographic_parity[group]"].min() < 0.02


def test_every_point_decides_new_rows_as_it_was_measured():
    """With a model and groups that no fold changes, what is measured out of fold is what is predicted."""
    ready = LogisticRegression().fit(X, Y)
    groups = FrozenEstimator(LogisticRegression().fit(X, (GROUP["group"] == "unprotected").astype(int)))
    model = FairPlugInClassifier(ready, prefit=True, group_estimator=groups, random_state=0)
    model.fit(X, Y, sensitive_features=GROUP)
    for i, (wrong, unfair) in enumerate(model.front_.values):
        decided = model.at(i).predict(X)
        assert error(Y, decided) == pytest.approx(wrong, abs=1e-12)
        assert gap(Y, decided, sensitive_features=GROUP, notion="dp") == pytest.approx(unfair, abs=1e-12)


@pytest.mark.parametrize("codes", [(1, 2), (False, True)])
def test_a_model_of_groups_may_have_learned_their_numbers(codes):
    """Groups are named by text, and a model that was fitted to numbers has numbers for classes."""
    ready, numbers = LogisticRegression().fit(X, Y), np.array(codes)[(GROUP["group"] == "unprotected").astype(int)]
    groups = FrozenEstimator(LogisticRegression().fit(X, numbers))
    model = FairPlugInClassifier(ready, prefit=True, group_estimator=groups, random_state=0, effort="fast")
    model.fit(X, Y, sensitive_features=numbers)
    assert model.front_.groups == {"sensitive_0": tuple(map(str, codes))}


def test_an_aware_model_of_before_whose_groups_are_numbers_takes_the_same_groups():
    numbers = (GROUP["group"] == "unprotected").astype(int)
    model = small(aware=True).fit(X, Y, sensitive_features=numbers)
    expected = model.predict(X, sensitive_features=numbers)
    posterior = model.search_.learner.posterior
    object.__setattr__(posterior, "groups", replace(posterior.groups, values=((0, 1),)))
    np.testing.assert_array_equal(model.predict(X, sensitive_features=numbers), expected)


def test_first_point_is_the_estimator_as_it_is():
    first = next(small().fitting(X, Y, sensitive_features=GROUP))
    plain = LogisticRegression().fit(X, Y)
    np.testing.assert_allclose(first.predict_proba(X), plain.predict_proba(X), atol=1e-6)


def test_scores_and_decisions_agree(model):
    for i in (0, len(model.front_) // 2, -1):
        chosen = model.at(i)
        decided = chosen.predict(X)
        np.testing.assert_array_equal(decided == 1, chosen.decision_function(X) > 0)
        np.testing.assert_array_equal(decided == 1, chosen.predict_proba(X)[:, 1] > 0.5)


def test_selection_and_rows_choose_without_training(model):
    bound = model.front_.values[:, 1].min() + 0.02
    fairer = model.with_selection(MostAccurateWithin(bound, margin=0))
    assert model.front_.values[fairer.selected_, 1] <= bound
    assert fairer.search_.learner.posterior is model.search_.learner.posterior


@pytest.mark.parametrize("cv", [None, 2, 5])
def test_rows_are_held_back_or_cross_fitted(cv):
    measured = fitted(cv=cv, validation_fraction=0.2).front_.points[0].valid.overall.sum()
    assert measured == (len(X) if cv else 120)


@pytest.mark.parametrize("cv", [None, 3])
def test_calibration_rows_are_counted_apart(cv):
    point = fitted(cv=cv, calibration_fraction=0.25).front_.points[0]
    assert point.calibration.overall.sum() == 150
    assert point.valid.overall.sum() == (450 if cv else 150)


def test_many_combinations_of_known_groups_get_multipliers():
    """30 combinations: a search for a threshold of each would try 800,000 neighbours a round."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"region": rng.integers(6, size=len(X)), "age": rng.integers(5, size=len(X))}).astype(str)
    gains = rng.normal(size=6)[people["region"].astype(int)] + rng.normal(size=5)[people["age"].astype(int)]
    labels = (X["x1"].to_numpy() + gains > 0).astype(int)
    table = X.assign(gain=gains)
    model = small(aware=True).fit(table, labels, sensitive_features=people)
    assert {kind for point in model.front_.points for kind in point.state} == {"multipliers"}
    gaps = model.front_.values[:, 1:].max(axis=1)
    assert gaps[0] > 0.2
    assert gaps.min() < 0.1
    fair = model.at(int(gaps.argmin()))
    decided = fair.predict(table, sensitive_features=people)
    assert gap(labels, decided, sensitive_features=people, notion="dp") < 0.2


def test_fitting_yields_as_soon_as_there_is_a_point():
    model = small()
    sizes = [len(step.front_) for step in model.fitting(X, Y, sensitive_features=GROUP)]
    assert sizes[0] == 1
    assert len(sizes) > 3
    assert sizes[-1] > sizes[1]
    assert model.history_["rules"].iloc[0] == 1


def test_same_seed_same_front(model):
    other = fitted()
    np.testing.assert_array_equal(other.front_.values, model.front_.values)
    seeded = [fitted(HistGradientBoostingClassifier(max_iter=5, max_features=0.5)).front_.values for _ in range(2)]
    np.testing.assert_array_equal(*seeded)


def test_copies_predict_the_same(model, told):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    again = pickle.loads(pickle.dumps(told))
    np.testing.assert_array_equal(again.predict(X, sensitive_features=GROUP), told.predict(X, sensitive_features=GROUP))
    fresh = clone(model)
    assert not hasattr(fresh, "front_")
    np.testing.assert_array_equal(fresh.fit(X, Y, sensitive_features=GROUP).front_.values, model.front_.values)


# --- tables


def test_frames_with_categories_and_missing_values_reach_the_estimator():
    rng = np.random.default_rng(0)
    table = X.assign(kind=pd.Categorical(rng.choice(["u", "v", "w"], len(X))))
    table.loc[::7, "x1"] = np.nan
    model = fitted_to(table, SMALL)
    assert model.feature_names_in_.tolist() == ["x1", "x2", "kind"]
    assert model.predict(table.iloc[:50]).shape == (50,)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["x2", "x1", "kind"]])


def fitted_to(table, estimator):
    return small(estimator).fit(table, Y, sensitive_features=GROUP)


@pytest.mark.parametrize(
    "table",
    [X.to_numpy(), X.to_numpy().tolist(), pl.DataFrame(X), sparse.csr_array(X.to_numpy()), X.set_axis(Y.index + 5)],
    ids=["array", "list", "polars", "sparse", "index"],
)
def test_tables_of_any_kind_give_the_same_front(model, table):
    other = fitted_to(table, LogisticRegression())
    np.testing.assert_allclose(other.front_.values, model.front_.values, atol=0.01)
    assert (other.predict(table) == model.predict(X)).mean() > 0.99


def test_pipelines_are_estimators_too():
    table = X.assign(kind=np.where(X["x1"] > 2, "high", "low"))
    pipe = make_pipeline(encoder(), StandardScaler(), LogisticRegression())
    assert small(pipe, cv=None).fit(table, Y, sensitive_features=GROUP).predict(table).shape == (600,)


@pytest.mark.parametrize(
    ("effort", "kinds"),
    [
        ("fast", [TreesModel]),
        ("balanced", [TreesModel, TreesModel, LinearModel]),
        ("best", [TreesModel, TreesModel, TreesModel, TreesModel, LinearModel]),
    ],
)
def test_default_estimator_stacks_as_many_models_as_the_effort_says(effort, kinds):
    rows = np.arange(0, 600, 3)
    model = FairPlugInClassifier(cv=None, effort=effort, random_state=0)
    model.fit(X.iloc[rows], Y.iloc[rows], sensitive_features=GROUP.iloc[rows])
    posterior = model.search_.learner.posterior
    assert [type(own.classifier) for own in posterior.label] == kinds
    sizes = {key: len(own.weights) for key, own in posterior.stacks.items()}
    assert sizes == {key: len(own) for key, own in posterior.models.items()}


@pytest.mark.parametrize("effort", ["slow", None, 1])
def test_other_efforts_are_refused(effort):
    with pytest.raises(ValueError, match="`effort` must be 'fast', 'balanced' or 'best': found"):
        FairPlugInClassifier(effort=effort).fit(X, Y, sensitive_features=GROUP)


def test_default_estimator_takes_text_as_lightgbm_takes_categories():
    rng = np.random.default_rng(0)
    table = X.assign(job=rng.choice(["cook", "judge", "nurse"], len(X)).astype(object))
    table.loc[::7, "job"] = None
    model = FairPlugInClassifier(cv=2, effort="fast", random_state=0)
    first = next(model.fitting(table, Y, sensitive_features=GROUP))
    parameters = {"num_leaves": 15, "learning_rate": 0.1, "feature_fraction": 0.6, "seed": model.search_.task.seed}
    parameters |= {"num_threads": 1, "verbosity": -1, "objective": "binary"}
    native = table.assign(job=table["job"].astype("category"))
    [trees], _ = EFFORTS["fast"]
    plain = lightgbm.train(parameters, lightgbm.Dataset(native, Y), trees.n_estimators)
    learner = first.search_.learner
    features, _ = learner.read(first, table, reset=False)
    [label] = learner.posterior.label  # before it is calibrated
    np.testing.assert_allclose(label(features)[:, 1], plain.predict(native), atol=1e-6)
    towns = table.assign(town=rng.integers(300, size=len(X)).astype(str))
    model = FairPlugInClassifier(cv=None, random_state=0).fit(towns, Y, sensitive_features=GROUP)
    assert model.predict(towns.assign(town="new", job="new")).shape == (len(X),)


# --- labels, groups, weights


def test_labels_and_the_favorable_one_are_as_given():
    names = np.where(Y == 1, "approved", "denied")
    model = small(favorable="approved").fit(X, names, sensitive_features=GROUP)
    assert set(model.predict(X)) == {"approved", "denied"}
    np.testing.assert_array_equal(model.predict(X) == "approved", fitted().predict(X) == 1)
    ready = LogisticRegression().fit(X, names)
    model = small(ready, prefit=True, favorable="approved").fit(X, names, sensitive_features=GROUP)
    assert error(names, model.at(0).predict(X)) <= error(names, ready.predict(X)) + 1e-12


def test_several_attributes_notions_and_unknown_groups():
    people = two_attributes(unknown=30)
    model = small(notions={"group": ["dp", "tpr"], "region": "eodds"}).fit(X, Y, sensitive_features=people)
    assert list(model.front_.frame()) == [
        "error",
        "demographic_parity[group]",
        "equal_opportunity[group]",
        "equalized_odds[region]",
    ]
    assert model.front_.points[0].valid.counts["region"].sum() == 570
    assert model.predict(X).shape == (600,)
    crossed = small(crossed=True).fit(X, Y, sensitive_features=people)
    assert "demographic_parity[group*region]" in crossed.front_.frame()


def test_weights_count():
    weight = np.where(Y == 1, 4.0, 1.0)
    heavy = small().fit(X, Y, sensitive_features=GROUP, sample_weight=weight)
    assert heavy.front_.points[0].valid.squares is not None
    assert heavy.at(0).predict(X).mean() > fitted().at(0).predict(X).mean()
    keep = np.arange(len(X)) % 3 > 0
    zero = small().fit(X, Y, sensitive_features=GROUP, sample_weight=keep.astype(float))
    gone = small().fit(X[keep], Y[keep], sensitive_features=GROUP[keep], sample_weight=np.ones(keep.sum()))
    np.testing.assert_array_equal(zero.front_.values, gone.front_.values)


# --- groups that nobody can tell apart


def are_thresholds(model, table):
    """Whether every rule is a threshold on the estimator's probability: in each fold, and of the final model."""
    assert not any(point.state["multipliers"][:-1].any() for point in model.front_.points)
    [label] = model.search_.learner.posterior.label
    order = np.argsort(label.classifier.predict_proba(table)[:, 1], kind="stable")
    decided = np.array([model.at(i).predict(table) for i in range(len(model.front_))])[:, order]
    return bool((np.diff(decided, axis=1) >= 0).all())


# Of 597 rows each fold has other shares of the groups.
@pytest.mark.parametrize(("rows", "notions", "cv"), [(600, "dp", None), (597, ["tpr", "fpr"], None), (597, "dp", 5)])
def test_without_knowledge_of_groups_every_rule_is_a_threshold(rows, notions, cv):
    model = small(group_estimator=DummyClassifier(), notions=notions, cv=cv)
    model.fit(X[:rows], Y[:rows], sensitive_features=GROUP[:rows])
    assert are_thresholds(model, X[:rows])


def test_with_knowledge_of_groups_rules_are_more_than_thresholds(model):
    assert any(point.state["multipliers"][:-1].any() for point in model.front_.points)


@TINY_FITS
def test_few_rows_or_few_known_groups_are_no_crash():
    rows, people = slice(0, 600, 14), GROUP.copy()
    people.loc[people.index[::28], "group"] = None  # half of them
    for estimator in (None, DummyClassifier(), LogisticRegression()):
        for features in (GROUP, people):
            model = FairPlugInClassifier(estimator, effort="fast", random_state=0)
            model.fit(X[rows], Y[rows], sensitive_features=features[rows])
            assert model.predict(X).shape == (600,)


def test_an_attribute_that_nobody_can_tell_does_not_spoil_another():
    """Two attributes: one can be learned from x; a constant fold must not trade the gap of the other."""

    class OnlyTwo(LogisticRegression):
        """Knows two groups; of three it knows nothing."""

        def predict_proba(self, X):
            known = super().predict_proba(X)
            return known if known.shape[1] == 2 else np.full_like(known, 1 / 3)

    model = small(group_estimator=OnlyTwo(), cv=5).fit(X[:597], Y[:597], sensitive_features=two_attributes()[:597])
    kinds = {name: type(own.classifier) for (name, _), (own,) in model.search_.learner.posterior.models.items()}
    assert kinds == {"": LogisticRegression, "group": OnlyTwo, "region": DummyClassifier}
    multipliers = np.stack([point.state["multipliers"] for point in model.front_.points])
    assert (multipliers[:, 1:-1] == 0).all()
    assert (multipliers[:, 0] != 0).any()


# --- models that are trained already


@TINY_FITS
def test_a_trained_model_is_used_as_it_is():
    ready = LogisticRegression().fit(X, 1 - Y)  # wrong on purpose: nobody trains it again
    before = ready.coef_.copy()
    model = small(ready, prefit=True).fit(X, Y, sensitive_features=GROUP)
    np.testing.assert_array_equal(ready.coef_, before)
    assert model.front_.values[:, 0].min() > 0.4
    [label] = model.search_.learner.posterior.label
    assert label.classifier is ready


def test_a_model_of_another_library_needs_only_probabilities():
    class Foreign:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            one = 1 / (1 + np.exp(-np.asarray(X)[:, 1]))
            return np.column_stack([1 - one, one])

    model = small(Foreign(), prefit=True, group_estimator=LogisticRegression()).fit(X, Y, sensitive_features=GROUP)
    assert model.front_.values[0, 0] < 0.3


# --- groups that are told at prediction


def test_told_groups_have_thresholds_of_their_own(told):
    kinds = {name for point in told.front_.points for name in point.state}
    assert "thresholds" in kinds
    blind = fitted(notions=["dp", "tpr"])
    assert told.front_.hypervolume([0.5, 0.3, 0.3]) > blind.front_.hypervolume([0.5, 0.3, 0.3])


def test_told_points_decide_new_rows_as_they_were_measured():
    ready = LogisticRegression().fit(X, Y)
    model = FairPlugInClassifier(ready, ["dp", "tpr"], prefit=True, aware=True, random_state=0)
    model.fit(X, Y, sensitive_features=GROUP)
    for i in range(0, len(model.front_), 7):
        decided = model.at(i).predict(X, sensitive_features=GROUP)
        assert error(Y, decided) == pytest.approx(model.front_.values[i, 0], abs=1e-12)
        assert gap(Y, decided, sensitive_features=GROUP, notion="tpr") == pytest.approx(model.front_.values[i, 2])


def test_told_groups_are_found_by_value_not_by_order(told):
    rows = (GROUP["group"] == "unprotected").to_numpy()
    alone = told.predict(X[rows], sensitive_features=GROUP[rows])
    np.testing.assert_array_equal(alone, told.predict(X, sensitive_features=GROUP)[rows])


def test_unknown_groups_are_decided_by_accuracy_alone(told):
    nobody = GROUP.assign(group=None)
    plain = LogisticRegression().fit(X, Y).predict(X)
    for i in (0, -1):
        np.testing.assert_array_equal(told.at(i).predict(X, sensitive_features=nobody), plain)


def test_told_groups_are_routed_to_predictions():
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), small(aware=True)).fit(X, Y, sensitive_features=GROUP)
        assert pipe.predict(X, sensitive_features=GROUP).shape == (600,)


def test_groups_must_be_told_and_be_known(told):
    with pytest.raises(ValueError, match="predictions need `sensitive_features`"):
        told.predict(X)
    with pytest.raises(ValueError, match="known from `fit`: found 'other'"):
        told.predict(X, sensitive_features=GROUP.replace("protected", "other"))
    with pytest.raises(ValueError, match="must have the attribute 'group'"):
        told.predict(X, sensitive_features=GROUP.rename(columns={"group": "sex"}))


# --- what is refused


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"cv": 1}, "`cv` must be None or an integer of at least 2"),
        ({"estimator": "boosting"}, "`estimator` must be None or a classifier with `predict_proba`"),
        ({"estimator": LogisticRegression}, "`estimator` must be None or a classifier"),
        ({"group_estimator": 3}, "`group_estimator` must be None or a classifier"),
        ({"notions": "ppv"}, "not conditioned on the prediction: found predictive_parity"),
        ({"validation_fraction": 2.0}, "`validation_fraction` must be between"),
        ({"estimator": None, "prefit": True}, "`prefit=True` needs a trained `estimator`"),
        ({"estimator": LogisticRegression(), "prefit": True}, "`prefit=True` needs a trained `estimator`"),
    ],
)
def test_parameters_that_cannot_work_are_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        FairPlugInClassifier(**parameters).fit(X, Y, sensitive_features=GROUP)


def test_a_trained_model_must_know_the_labels():
    ready = LogisticRegression().fit(X, np.where(Y == 1, "yes", "no"))
    with pytest.raises(ValueError, match="must know the labels 0 and 1: found no and yes"):
        small(ready, prefit=True).fit(X, Y, sensitive_features=GROUP)


def test_estimators_that_cannot_weigh_rows_are_named():
    with pytest.raises(ValueError, match="KNeighborsClassifier does not"):
        small(KNeighborsClassifier()).fit(X, Y, sensitive_features=GROUP, sample_weight=np.ones(len(X)))


def test_leaving_the_attributes_out_is_an_error():
    with pytest.raises(ValueError, match="needs `sensitive_features`"):
        small().fit(X, Y)
