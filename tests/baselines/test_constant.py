import numpy as np
import pytest
from baseline_contract import GROUP, X, Y, quick
from scipy.special import expit

from mamofair.baselines import ConstantClassifier


@pytest.mark.parametrize(("share", "majority"), [(0.3, "denied"), (0.7, "granted")])
def test_everyone_gets_the_label_of_the_majority(share, majority):
    y = np.where(np.arange(len(X)) % 10 < 10 * share, "granted", "denied")
    model = quick("ConstantClassifier").fit(X, y, sensitive_features=GROUP)
    assert set(model.predict(X)) == {majority}
    assert model.predict_proba(X)[:, 1] == pytest.approx(share, abs=0.01)
    [row] = model.front_.frame().to_dict("records")
    assert row == {"error": pytest.approx(0.3, abs=0.02), "demographic_parity[group]": 0.0}


def test_majority_is_one_of_weights_not_of_rows():
    weight = np.where(Y == "granted", 3.0, 1.0)
    model = quick("ConstantClassifier").fit(X, Y, sensitive_features=GROUP, sample_weight=weight)
    assert set(model.predict(X)) == {"granted"}
    assert expit(model.decision_function(X)) == pytest.approx(0.75, abs=0.01)


def test_majority_does_not_depend_on_which_label_is_favorable():
    y = np.where(np.arange(len(X)) % 10 < 3, "granted", "denied")
    for favorable in ("granted", "denied"):
        model = ConstantClassifier(favorable=favorable, random_state=0).fit(X, y, sensitive_features=GROUP)
        assert set(model.predict(X)) == {"denied"}


def test_gap_that_cannot_be_measured_is_not_called_fair():
    model = quick("ConstantClassifier", notions="predictive_parity").fit(X, Y, sensitive_features=GROUP)
    assert model.front_.frame()["predictive_parity[group]"].isin([0.0, 1.0]).all()
    if set(model.predict(X)) == {"denied"}:
        assert model.front_.frame()["predictive_parity[group]"].tolist() == [1.0]


def test_calibration_rows_are_measured_too():
    model = quick("ConstantClassifier", calibration_fraction=0.2).fit(X, Y, sensitive_features=GROUP)
    assert model.front_.points[0].calibration.overall.sum() == round(0.2 * len(X))
