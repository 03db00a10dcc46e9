"""All baselines by their contract; and the adapters to other libraries by what those libraries say themselves."""

import sys

import numpy as np
import pytest
import torch
from baseline_contract import GROUP, QUICK, X, Y, check_baseline, held_back, quick
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from mamofair import baselines
from mamofair._rows.batches import Batch
from mamofair._rows.groups import read_groups
from mamofair.baselines._fairret import FairretNorm
from mamofair.notions import DEMOGRAPHIC_PARITY, EQUALIZED_ODDS
from tiny_fits import TINY_FITS

pytestmark = TINY_FITS


def fairlearn_warns(test):
    """Let fairlearn 0.15 set new keys of empty Series with `.at`, which pandas 3.1 says it will refuse one day."""
    for message in ("Setting a value on a Series via .at", "Setting an item of incompatible dtype"):
        test = pytest.mark.filterwarnings(f"ignore:{message}:pandas.errors.Pandas4Warning")(test)
    return test


CLASSIFIERS = [name for name in baselines.__all__ if name.endswith("Classifier")]
PEERS = (
    "ExponentiatedGradientClassifier",
    "GridSearchClassifier",
    "ThresholdOptimizerClassifier",
    "OxonFairClassifier",
)
TOLD = ("ThresholdOptimizerClassifier", "OxonFairClassifier")
REGIONS = GROUP.assign(region=np.where(np.arange(len(X)) % 4 < 2, "north", "south"))


def fitted(name, features=GROUP, **parameters):
    return quick(name, **parameters).fit(X, Y, sensitive_features=features)


@fairlearn_warns
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_baseline_keeps_the_contract(name):
    check_baseline(name)


def test_those_that_must_be_told_the_attribute_say_so():
    telling = {name for name in CLASSIFIERS if getattr(baselines, name).__dict__.get("needs_sensitive_features")}
    assert telling == set(TOLD)


@pytest.mark.parametrize("name", TOLD)
def test_leaving_the_attribute_out_of_predictions_is_one_clear_error(name):
    model = fitted(name)
    for predict in (model.predict, model.predict_proba, model.decision_function, model.at(0).predict):
        with pytest.raises(ValueError, match="needs `sensitive_features` to predict"):
            predict(X)
    with pytest.raises(ValueError, match="known from `fit`: found nobody"):
        model.predict(X, sensitive_features=GROUP.assign(group="nobody"))
    one_group = GROUP["group"] == GROUP["group"].iloc[0]  # groups are known by their values, not by their order
    everyone, some = model.predict(X, sensitive_features=GROUP), X[one_group]
    if name == "OxonFairClassifier":  # which draws nothing at random
        np.testing.assert_array_equal(model.predict(some, sensitive_features=GROUP[one_group]), everyone[one_group])


@fairlearn_warns
@pytest.mark.parametrize("name", PEERS)
def test_several_attributes_are_crossed_and_all_measured(name):
    model = fitted(name, REGIONS, crossed=True)
    columns = [f"demographic_parity[{attribute}]" for attribute in ("group", "region", "group*region")]
    assert list(model.front_.frame()) == ["error", *columns]
    assert len(model.search_.learner.groups) == 4
    assert len(model.predict(X, sensitive_features=REGIONS)) == len(X)


@fairlearn_warns
@pytest.mark.parametrize("name", PEERS)
def test_what_a_peer_cannot_do_is_refused(name):
    with pytest.raises(ValueError, match=r"`notions` must be one of demographic_parity, .*: found false_omission"):
        fitted(name, notions="false_omission_parity")
    with pytest.raises(ValueError, match="same for all attributes: found demographic_parity, equal_opportunity"):
        fitted(name, notions=["dp", "tpr"])
    with pytest.raises(ValueError, match="does not support `sample_weight`"):
        quick(name).fit(X, Y, sensitive_features=GROUP, sample_weight=np.ones(len(X)))
    with pytest.raises(ValueError, match=r"must know the groups of all rows: found .* unknown"):
        fitted(name, GROUP["group"].astype(object).mask(np.arange(len(X)) % 5 == 0))


@fairlearn_warns
@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("notion", ["equal_opportunity", "predictive_equality", "true_negative_parity"])
def test_peers_know_our_notions(name, notion):
    assert f"{notion}[group]" in fitted(name, notions=notion).front_.frame()


@pytest.mark.parametrize("bounds", [(), (0.1, -1.0)])
def test_bounds_must_be_positive(bounds):
    with pytest.raises(ValueError, match="`bounds` must be a list of positive numbers"):
        fitted("ThresholdOptimizerClassifier", bounds=bounds)


@fairlearn_warns
def test_exponentiated_gradient_is_what_fairlearn_finds():
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    model = fitted("ExponentiatedGradientClassifier", bounds=[0.05])
    train = np.setdiff1d(np.arange(len(X)), held_back(model))
    features, y = X.to_numpy(), (Y == "granted").to_numpy().astype(int)
    theirs = ExponentiatedGradient(QUICK["estimator"], DemographicParity(difference_bound=0.05), eps=0.05)
    theirs.fit(features[train], y[train], sensitive_features=GROUP["group"].to_numpy()[train])
    decided = theirs.predict(features, random_state=model.search_.task.seed)
    np.testing.assert_array_equal(model.predict(X) == "granted", decided == 1)


@fairlearn_warns
def test_grid_search_has_a_model_for_each_multiplier():
    model = fitted("GridSearchClassifier", grid_size=7)
    assert {point.member for point in model.front_.points} <= set(range(7))
    assert len(model.front_) >= 2


def test_thresholds_keep_their_bounds_on_the_rows_they_were_set_on():
    tight = fitted("ThresholdOptimizerClassifier", bounds=[1e-6])
    loose = fitted("ThresholdOptimizerClassifier", bounds=[0.9])
    assert tight.front_.values[0, 1] <= 0.15  # decisions are drawn: one row is worth about .03
    assert loose.front_.values[0, 0] <= tight.front_.values[0, 0] + 0.05


def test_equalized_odds_has_one_point_with_fairlearn_thresholds():
    assert len(fitted("ThresholdOptimizerClassifier", notions="equalized_odds").front_) == 1


def test_oxonfair_goes_from_the_best_thresholds_to_no_gap():
    base = LogisticRegression()
    model = fitted("OxonFairClassifier", notions="equal_opportunity", estimator=base)
    valid = held_back(model)
    train = np.setdiff1d(np.arange(len(X)), valid)
    plain = base.fit(X.to_numpy()[train], Y.iloc[train]).score(X.to_numpy()[valid], Y.iloc[valid])
    values = model.front_.values
    assert values[0, 0] <= 1 - plain + 1e-9  # group thresholds include the plain one, on these rows
    assert values[-1, 1] < 0.05


def test_fairret_loss_is_the_norm_of_relative_violations(rng):
    y, sex = rng.integers(0, 2, 40), rng.integers(0, 3, 40)
    batch = Batch.of(torch.zeros(40, 1, dtype=torch.float64), y, read_groups({"sex": sex}).memberships(y))
    logits = torch.from_numpy(rng.normal(size=(2, 40)))
    p = torch.sigmoid(logits).numpy()

    def violation(row, rows):
        return sum(abs(row[rows & (sex == s)].mean() / row[rows].mean() - 1) for s in range(3))

    every = np.ones(40, dtype=bool)
    expected = [violation(row, every) for row in p]
    np.testing.assert_allclose(FairretNorm(((DEMOGRAPHIC_PARITY, "sex"),))(logits, batch).numpy(), expected)
    expected = [violation(row, y == 1) + violation(row, y == 0) for row in p]
    np.testing.assert_allclose(FairretNorm(((EQUALIZED_ODDS, "sex"),))(logits, batch).numpy(), expected, rtol=1e-6)


def test_fairret_skips_a_batch_that_has_no_statistic():
    batch = Batch.of(torch.zeros(4, 1), [0, 0, 0, 0], read_groups({"sex": list("ffmm")}).memberships([0, 0, 0, 0]))
    logits = torch.randn(4, generator=torch.Generator().manual_seed(0)).requires_grad_()
    loss = FairretNorm(((EQUALIZED_ODDS, "sex"),))(logits, batch)
    loss.backward()
    assert loss > 0  # what is left is the false positive rate
    assert logits.grad.isfinite().all()


def test_fairret_trades_accuracy_for_fairness_as_its_weight_grows():
    model = fitted("FairretClassifier", weights=[0.0, 3.0], epochs=30, learning_rate=0.02)
    last = model.history_[model.history_["epoch"] == model.history_["epoch"].max()].groupby("member").mean()
    assert last.loc[1, "fairret"] < last.loc[0, "fairret"]
    assert last.loc[1, "cross_entropy"] > last.loc[0, "cross_entropy"]


def test_fairret_refuses_what_it_has_no_statistic_for():
    with pytest.raises(ValueError, match=r"`notions` must be of .*: found false_discovery_parity"):
        fitted("FairretClassifier", notions="fdr")
    with pytest.raises(ValueError, match="does not support `sample_weight`"):
        quick("FairretClassifier").fit(X, Y, sensitive_features=GROUP, sample_weight=np.ones(len(X)))


@pytest.mark.parametrize(("name", "package"), [("OxonFairClassifier", "oxonfair"), ("FairretClassifier", "fairret")])
def test_missing_package_names_the_extra(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    for module in [module for module in sys.modules if module.startswith(f"{package}.")]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'needs {package}: pip install "mamofair\[baselines\]"'):
        fitted(name)


def test_a_booster_is_the_default_and_named_where_it_is_missing(monkeypatch):
    model = fitted("ThresholdOptimizerClassifier", estimator=None)
    assert type(model.front_.points[0].state.estimator_).__name__ == "LGBMClassifier"
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match=r'needs lightgbm: pip install "mamofair\[baselines\]"'):
        fitted("ThresholdOptimizerClassifier", estimator=None)


def test_any_classifier_will_do():
    bayes = GaussianNB()
    model = fitted("OxonFairClassifier", estimator=bayes)
    assert not hasattr(bayes, "theta_")  # cloned, not trained
    assert model.front_.values[0, 0] < 0.4
