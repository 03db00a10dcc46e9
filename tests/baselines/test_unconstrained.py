import numpy as np
import pandas as pd
from baseline_contract import GROUP, X, Y, quick
from sklearn.linear_model import LogisticRegression

from mamofair import FairNetClassifier, Fixed
from mamofair._descent.networks import MLP
from mamofair.baselines import UnconstrainedClassifier
from mamofair.selection import ClosestToIdeal


def test_it_is_the_network_estimator_with_all_weight_on_accuracy():
    people = GROUP.assign(region=np.arange(len(X)) % 3)
    ours = quick("UnconstrainedClassifier").fit(X, Y, sensitive_features=people)
    plain = {"offsets": (), "epochs": 2, "random_state": 0, "favorable": "granted"}
    alone = FairNetClassifier(members=[Fixed((1, 0, 0))], **plain)
    alone.fit(X, Y, sensitive_features=people)
    pd.testing.assert_frame_equal(ours.front_.frame(), alone.front_.frame(), check_exact=True)
    np.testing.assert_array_equal(ours.decision_function(X), alone.decision_function(X))
    assert ours.selected_ == ClosestToIdeal()(ours.front_)


def test_its_most_accurate_point_is_as_accurate_as_a_linear_model():
    model = quick("UnconstrainedClassifier", epochs=30, learning_rate=0.02).fit(X, Y, sensitive_features=GROUP)
    linear = LogisticRegression().fit(X, Y).score(X, Y)
    assert model.at(0).score(X, Y) > linear - 0.03


def test_published_setting_is_that_of_the_network():
    model = UnconstrainedClassifier.as_published(code=True, epochs=35)
    assert (model.learning_rate, model.epochs, model.standardize, model.snapshots) == (0.01, 35, False, 1)
    assert model.network == MLP((60, 25), 0.2, weight_std=0.02)
    assert model.selection == ClosestToIdeal(allow_constant=True)
    history = model.set_params(epochs=1, favorable="granted").fit(X, Y, sensitive_features=GROUP).history_
    assert history["weight of demographic_parity[group]"].tolist() == [0.0]
