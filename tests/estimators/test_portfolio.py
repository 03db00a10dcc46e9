"""The portfolio: the non-dominated union of what its estimators find on the same rows."""

import numpy as np
import polars as pl
import pytest
import torch
from estimator_contract import small_boosting, small_plugin, small_portfolio
from moocore import is_nondominated
from scipy import sparse
from small_fits import GROUP, X, Y, small

from mamofair import FairNetClassifier, FairPlugInClassifier, FairPortfolioClassifier, MostAccurateWithin
from mamofair.estimators._portfolio import default_estimators

pytestmark = pytest.mark.usefixtures("short_search")


@pytest.fixture(scope="module")
def model():
    members = [("net", small(epochs=12, offsets=())), ("boosting", small_boosting()), ("plugin", small_plugin())]
    return FairPortfolioClassifier(members, random_state=1).fit(X, Y, sensitive_features=GROUP)


def test_the_front_is_the_non_dominated_union_of_its_estimators_fronts(model):
    union = np.vstack([own.front_.values for own in model.estimators_.values()])
    best = union[is_nondominated(union)]
    np.testing.assert_array_equal(model.front_.values, best[np.lexsort(best.T[::-1])])


def test_each_point_says_which_model_it_is_of_and_predicts_with_it(model):
    frame = model.front_.frame()
    assert set(frame["model"]) <= {"net", "boosting", "plugin"}
    assert frame["model"].nunique() > 1
    for i, name in enumerate(frame["model"]):
        own = model.estimators_[name]
        place = next(j for j, point in enumerate(own.front_) if point.state is model.front_[i].state)
        np.testing.assert_array_equal(model.at(i).decision_function(X), own.at(place).decision_function(X))


def test_all_are_measured_on_the_same_rows(model):
    counted = {tuple(point.valid.counts["group"].sum(axis=1)) for point in model.front_.points}
    assert len(counted) == 1


@pytest.mark.filterwarnings("ignore:None of the .* models is useful and within")
def test_a_selection_may_pick_another_kind_of_model(model):
    smallest = model.front_.gaps[~model.front_.is_constant].min()
    names = {
        model.front_.frame()["model"][model.with_selection(MostAccurateWithin(e, margin=0)).selected_]
        for e in (smallest, 0.5)
    }
    assert names <= {"net", "boosting", "plugin"}


def test_history_tells_the_model(model):
    assert set(model.history_["model"]) == {"net", "boosting", "plugin"}


def test_calibration_rows_are_counted_for_all():
    found = small_portfolio(calibration_fraction=0.2).fit(X, Y, sensitive_features=GROUP)
    assert {point.calibration.overall.sum() for point in found.front_.points} == {120}


def test_the_portfolios_notions_count():
    members = [("net", small(notions="tpr")), ("boosting", small_boosting(notions="fpr"))]
    found = FairPortfolioClassifier(members, notions="acc", random_state=0).fit(X, Y, sensitive_features=GROUP)
    assert found.front_.columns == ["error", "accuracy_parity[group]"]


def test_given_estimators_are_left_alone():
    own = small()
    FairPortfolioClassifier([("net", own)], random_state=0).fit(X, Y, sensitive_features=GROUP)
    assert not hasattr(own, "front_")


def test_few_rows_are_no_crash():
    rows = slice(0, 600, 14)  # 43, too few for trees to tell groups apart
    members = [("net", small(epochs=2)), ("plugin", FairPlugInClassifier(effort="fast"))]
    found = FairPortfolioClassifier(members, random_state=0).fit(X[rows], Y[rows], sensitive_features=GROUP[rows])
    assert found.estimators_["plugin"].front_.points[0].state["multipliers"][:-1].tolist() == [0]


# --- what is fitted by default


def fitted_by_default(table=X, **parameters):
    rows, model = len(table), FairPortfolioClassifier(random_state=0, **({"effort": "fast"} | parameters))
    return model.fit(table, Y[:rows], sensitive_features=GROUP[:rows])


def test_of_a_table_it_is_the_plug_in_measured_out_of_fold_on_all_rows():
    found, alone = fitted_by_default(), FairPlugInClassifier(effort="fast", random_state=0)
    assert list(found.estimators_) == ["plugin"]
    assert {point.valid.overall.sum() for point in found.front_.points} == {len(X)}
    alone.fit(X, Y, sensitive_features=GROUP)
    np.testing.assert_array_equal(found.front_.values, alone.front_.values)
    np.testing.assert_array_equal(found.predict(X), alone.predict(X))


def test_by_default_it_takes_text_and_missing_values():
    table = X[:300].assign(job=np.where(np.arange(300) % 3, "cook", None))
    table.loc[::7, "x1"] = np.nan
    found = fitted_by_default(table)
    assert found.predict(table.assign(job="new")).shape == (300,)
    assert found.feature_names_in_.tolist() == ["x1", "x2", "job"]


@pytest.mark.parametrize(
    ("effort", "kinds"), [("fast", ["boosting"]), ("balanced", ["net", "boosting"]), ("best", ["net", "boosting"])]
)
def test_of_notions_conditioned_on_the_prediction_it_is_a_network_and_boosting(effort, kinds):
    named = default_estimators(X, {"group": ["dp", "predictive_parity"]}, effort)
    assert [name for name, _ in named] == kinds


def test_notions_conditioned_on_the_prediction_are_fitted_by_default():
    model = FairPortfolioClassifier(notions=["dp", "predictive_parity"], effort="fast", random_state=0)
    first = next(model.fitting(X, Y, sensitive_features=GROUP))
    assert set(first.front_.frame()["model"]) == {"boosting"}
    assert first.front_.columns == ["error", "demographic_parity[group]", "predictive_parity[group]"]


PICTURES = np.zeros((5, 3, 4))


@pytest.mark.parametrize("pictures", [PICTURES, PICTURES.tolist(), list(PICTURES), torch.zeros(5, 1, 3, 4)])
def test_of_pictures_it_is_a_network(pictures):
    [(name, own)] = default_estimators(pictures, "dp", "balanced")
    assert name == "net"
    assert isinstance(own, FairNetClassifier)


@pytest.mark.parametrize("table", [X, X.to_numpy(), X.to_numpy().tolist(), pl.DataFrame(X), sparse.csr_array(X), []])
def test_of_tables_of_any_kind_it_is_the_plug_in(table):
    [(name, own)] = default_estimators(table, "dp", "best")
    assert (name, own.effort) == ("plugin", "best")


def test_a_member_that_needs_the_attribute_is_refused():
    told = FairPortfolioClassifier([("told", small_plugin(aware=True))])
    with pytest.raises(ValueError, match="predicts without the sensitive attributes"):
        told.fit(X, Y, sensitive_features=GROUP)


@pytest.mark.parametrize("members", [[], [small()], [("a", small()), ("a", small())], [("a", "net")]])
def test_members_are_named_estimators_of_ours(members):
    with pytest.raises(ValueError, match=r"`estimators` must be a list of \(name, estimator\) pairs"):
        FairPortfolioClassifier(members).fit(X, Y, sensitive_features=GROUP)
