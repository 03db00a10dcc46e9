"""The plug-in with models that are trained already, frozen, or cannot be cloned."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_fits import GROUP, X, Y, two_attributes

from mamofair import FairPlugInClassifier
from mamofair.learners.plugin.prefit import group_classes, is_fitted, try_clone

pytestmark = pytest.mark.usefixtures("short_search")

READY = LogisticRegression().fit(X, Y)
OF_GROUPS = LogisticRegression().fit(X, GROUP["group"])


class KeepsItsFit(LogisticRegression):
    """As FrozenEstimator: a clone is itself, and `fit` does nothing once it is fitted."""

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y, sample_weight=None):
        return self if is_fitted(self) else super().fit(X, y, sample_weight)


class ChangesItsParameters(LogisticRegression):
    """As CatBoost with `cat_features`: scikit-learn's `clone` refuses whose constructor copies what it is given."""

    def __init__(self, cat_features=()):
        super().__init__()
        self.cat_features = [*cat_features]


class Foreign:
    """A model of another library: no `get_params`, no `fit`."""

    def __init__(self, classes=(0, 1)):
        self.classes_ = np.array(classes)

    def predict_proba(self, X):
        one = 1 / (1 + np.exp(-np.asarray(X)[:, 1]))
        return np.column_stack([1 - one, one])


def plug_in(estimator, **parameters):
    return FairPlugInClassifier(estimator, **({"cv": 2, "random_state": 0} | parameters))


def fitted(estimator, **parameters):
    return plug_in(estimator, **({"cv": 2} | parameters)).fit(X, Y, sensitive_features=GROUP)


# --- what learns the labels


@pytest.mark.parametrize("ready", [FrozenEstimator(READY), FrozenEstimator(FrozenEstimator(READY))])
def test_a_frozen_model_is_used_as_it_is_and_never_for_the_groups(ready):
    """With no warning, and exactly as the trained model itself with `prefit`."""
    ours, expected = fitted(ready), fitted(READY, prefit=True)
    assert ours.search_.learner.posterior.label[0].classifier is ready
    np.testing.assert_array_equal(ours.front_.values, expected.front_.values)
    _, [groups] = ours.search_.learner.posterior.models.values()
    assert not is_fitted(clone(groups.classifier))
    assert ours.front_.values[:, 1].min() < 0.02


def test_a_frozen_model_may_have_labels_of_any_kind():
    names = np.where(Y == 1, "yes", "no")
    model = plug_in(FrozenEstimator(LogisticRegression().fit(X, names)), favorable="yes")
    ours = model.fit(X, names, sensitive_features=GROUP)
    np.testing.assert_array_equal(ours.front_.values, fitted(READY, prefit=True).front_.values)


@pytest.mark.parametrize(
    "ready",
    [
        KeepsItsFit().fit(X, Y),
        make_pipeline(StandardScaler().set_output(transform="pandas"), FrozenEstimator(READY)).fit(X, Y),
    ],
    ids=["own clone", "pipeline"],
)
@pytest.mark.parametrize("prefit", [False, True])
def test_a_model_whose_clone_keeps_its_fit_needs_another_one_for_the_groups(ready, prefit):
    with pytest.raises(ValueError, match=r"is still fitted when it is cloned. Pass `group_estimator="):
        fitted(ready, prefit=prefit)
    model = fitted(ready, prefit=prefit, group_estimator=LogisticRegression())
    assert model.search_.learner.posterior.label[0].classifier is ready
    assert fitted(ready, prefit=prefit, aware=True).search_.learner.posterior.label[0].classifier is ready


@pytest.mark.parametrize("ready", [ChangesItsParameters([1]).fit(X, Y), Foreign()], ids=["parameters", "foreign"])
def test_a_model_that_cannot_be_cloned_needs_another_one_for_the_groups(ready):
    with pytest.raises(ValueError, match=r"cannot be cloned \(.* Pass `group_estimator=`") as found:
        fitted(ready, prefit=True)
    assert len(str(found.value)) <= 500
    with pytest.raises(ValueError, match="It is fitted: pass prefit=True to use it as it is"):
        fitted(ready, group_estimator=LogisticRegression())
    model = fitted(ready, prefit=True, group_estimator=LogisticRegression())
    assert model.search_.learner.posterior.label[0].classifier is ready
    assert len(model.front_) > 5


def test_a_frozen_model_of_another_library_is_used_as_it_is():
    model = fitted(FrozenEstimator(Foreign()), group_estimator=LogisticRegression())
    np.testing.assert_array_equal(
        model.front_.values, fitted(Foreign(), prefit=True, group_estimator=LogisticRegression()).front_.values
    )


def test_a_model_that_can_neither_be_cloned_nor_is_trained_is_refused():
    with pytest.raises(ValueError, match=r"ChangesItsParameters cannot be cloned .* Train it first, and pass prefit"):
        fitted(ChangesItsParameters([1]))


def test_a_trained_model_without_prefit_is_trained_again_and_says_so():
    ready = LogisticRegression().fit(X, 1 - Y)
    before = ready.coef_.copy()
    with pytest.warns(UserWarning, match="`estimator` is fitted already, and a clone of it is trained again"):
        model = fitted(ready)
    np.testing.assert_array_equal(ready.coef_, before)
    np.testing.assert_array_equal(model.front_.values, fitted(LogisticRegression()).front_.values)


def test_a_trained_model_that_scikit_learn_clones_is_to_be_frozen():
    search = GridSearchCV(plug_in(READY, prefit=True), {"max_points": [5]}, cv=2, error_score="raise")
    with pytest.raises(ValueError, match=r"pass sklearn.frozen.FrozenEstimator"):
        search.fit(X, Y, sensitive_features=GROUP)
    frozen = search.set_params(estimator__estimator=FrozenEstimator(READY), estimator__prefit=False)
    assert frozen.fit(X, Y, sensitive_features=GROUP).best_score_ > 0.7


# --- what learns the groups


def test_a_fitted_group_model_is_trained_again_and_says_so_unless_it_is_frozen():
    with pytest.warns(UserWarning, match=r"`group_estimator` is fitted already.*FrozenEstimator"):
        model = fitted(LogisticRegression(), group_estimator=OF_GROUPS)
    np.testing.assert_array_equal(model.front_.values, fitted(LogisticRegression()).front_.values)
    frozen = FrozenEstimator(OF_GROUPS)
    posterior = fitted(READY, prefit=True, group_estimator=frozen).search_.learner.posterior
    assert [[model.classifier for model in own] for own in posterior.models.values()] == [[READY], [frozen]]


def test_a_frozen_group_model_may_know_the_groups_by_value_or_by_number():
    codes = np.unique(GROUP["group"], return_inverse=True)[1]
    by_value = fitted(READY, prefit=True, group_estimator=FrozenEstimator(OF_GROUPS))
    by_number = fitted(READY, prefit=True, group_estimator=FrozenEstimator(LogisticRegression().fit(X, codes)))
    np.testing.assert_array_equal(by_value.front_.values, by_number.front_.values)
    assert by_value.front_.values[:, 1].min() < 0.02


def test_a_fitted_group_model_that_cannot_be_cloned_is_used_as_it_is():
    ours = Foreign(["protected", "unprotected"])
    model = fitted(READY, prefit=True, group_estimator=ours)
    posterior = model.search_.learner.posterior
    assert [[own.classifier for own in models] for models in posterior.models.values()] == [[READY], [ours]]


@pytest.mark.parametrize(
    ("ready", "words"),
    [
        (FrozenEstimator(LogisticRegression().fit(X, np.arange(600) % 3)), r"or their numbers from 0: found .*0, 1, 2"),
        (Foreign([1, 2]), "must know the groups of 'group', 'protected', 'unprotected', or .*found the classes 1, 2"),
        (FrozenEstimator(READY), "found `estimator`, which learned the labels"),
        (FrozenEstimator(LogisticRegression()), "`group_estimator` must be one that can be cloned, or fitted"),
    ],
    ids=["three", "others", "labels", "unfitted"],
)
def test_a_fitted_group_model_must_know_the_groups(ready, words):
    with pytest.raises(ValueError, match=words):
        fitted(READY, prefit=True, group_estimator=ready)


def test_a_fitted_group_model_serves_one_attribute_only():
    """Two attributes may well have the same numbers of groups, or the same values."""
    model = plug_in(READY, prefit=True, group_estimator=FrozenEstimator(OF_GROUPS))
    with pytest.raises(ValueError, match="knows the groups of one attribute: found group, region"):
        model.fit(X, Y, sensitive_features=two_attributes())
    model.set_params(notions={"group": "dp"}).fit(X, Y, sensitive_features=two_attributes())


def test_values_come_before_numbers():
    assert group_classes(Foreign([1, 0]), READY, {"a": (1, 0)}) == (1, 0)
    assert group_classes(Foreign([0, 1]), READY, {"a": (1, 2)}) == (0, 1)


def test_ordinary_estimators_have_clones_to_train():
    for estimator in (LogisticRegression(), READY, make_pipeline(FrozenEstimator(StandardScaler().fit(X)), READY)):
        copy, reason = try_clone(estimator)
        assert not is_fitted(copy)
        assert not reason
    assert not any(map(is_fitted, [GridSearchCV(LogisticRegression(), {}), FrozenEstimator(LogisticRegression())]))


# --- rows that a trained model has seen


def noisy(rows, seed):
    """Return rows whose labels nobody can know exactly, so that who knows them has seen them."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(rows, 6))
    y = (rng.random(rows) < 1 / (1 + np.exp(-1.5 * table[:, 0] - table[:, 1]))).astype(int)
    return table, y, (table[:, 1] + rng.normal(size=rows) > 0).astype(int)


MEMORISERS = {
    "forest": RandomForestClassifier(20, random_state=0),
    "boosting": HistGradientBoostingClassifier(max_iter=40, random_state=0),
    "neighbour": KNeighborsClassifier(1),
}


def messages(ready, rows, **parameters):
    """Return what is warned of when a trained model is made fair on these rows."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model = plug_in(ready, prefit=True, group_estimator=LogisticRegression(), cv=None, **parameters)
        table, y, group = rows
        next(model.fitting(table, y, sensitive_features=group))  # the first point: the others take time
    return [str(warning.message) for warning in found]


@pytest.mark.parametrize("name", MEMORISERS)
@pytest.mark.parametrize("aware", [False, True])
def test_rows_that_a_memorising_model_was_trained_on_are_warned_of(name, aware):
    rows = noisy(800, seed=0)
    ready = clone(MEMORISERS[name]).fit(*rows[:2])
    [message] = messages(ready, rows, aware=aware)
    assert message.startswith("`estimator` seems to have been trained on rows of this `fit`")
    assert len(message) <= 500
    assert messages(FrozenEstimator(ready), rows, aware=aware) == [message]


@pytest.mark.parametrize("name", MEMORISERS)
def test_new_rows_are_not_warned_of_whatever_was_trained_on(name):
    """As many rows as are used now, or many more."""
    rows = noisy(800, 0)
    for size in (800, 4000):
        assert messages(clone(MEMORISERS[name]).fit(*noisy(size, 100)[:2]), rows) == []


def test_models_that_learn_nothing_by_heart_are_not_warned_of():
    rows = noisy(800, seed=0)
    for harmless in (LogisticRegression(), DummyClassifier()):
        assert messages(harmless.fit(*rows[:2]), rows) == []


def test_a_clone_that_cannot_be_trained_here_stops_nothing():
    class NeedsValidationRows(ClassifierMixin, BaseEstimator):
        """As boosting with early stopping: `fit` needs more than rows and labels."""

        def fit(self, X, y, eval_set=None):
            if eval_set is None:
                raise RuntimeError("early stopping needs rows of its own")
            self.classes_, self.model_ = np.unique(y), RandomForestClassifier(20, random_state=0).fit(X, y)
            return self

        def predict_proba(self, X):
            return self.model_.predict_proba(X)

    rows = noisy(800, seed=0)
    assert messages(NeedsValidationRows().fit(*rows[:2], eval_set=rows), rows) == []
