"""`measure_start`: the networks as they were before training are points, too."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from torch import nn

from mamofair import FairNetClassifier
from mamofair._descent.training import isolated
from mamofair.datasets import make_toy
from mamofair.metrics import error, gap
from mamofair.runs import Run, load, save
from tiny_fits import TINY_FITS

pytestmark = TINY_FITS

TOY = make_toy()
X, Y, SEX = TOY.X.to_numpy("float32"), TOY.y, TOY.sensitive


def trained() -> nn.Module:
    """A model of the user's: a line that is a little off the best one."""
    with isolated(3):
        return nn.Sequential(nn.Linear(X.shape[1], 4), nn.ReLU(), nn.Linear(4, 1), nn.Flatten(0)).eval()


def fit(model: nn.Module | None = None, **given) -> FairNetClassifier:
    recipe = {} if model is None else {"network": lambda n_features: deepcopy(model), "standardize": False}
    settings = {"members": 3, "epochs": 1, "random_state": 0} | recipe | given
    return FairNetClassifier(**settings).fit(X, Y, sensitive_features=SEX)


def test_the_untouched_model_is_the_front_where_training_cannot_change_it():
    model = trained()
    mask = np.arange(len(X)) % 3 == 0
    fair = fit(model, measure_start=True, learning_rate=1e-30, validation_fraction=mask)
    [point] = fair.front_.points
    assert (point.step, point.member) == (0, 0)
    with torch.inference_mode():
        decided = (model(torch.tensor(X)) > 0).numpy().astype(int)
    np.testing.assert_array_equal(fair.predict(X), decided)
    exact = gap(Y[mask], decided[mask], sensitive_features=SEX[mask], notion="demographic_parity")
    np.testing.assert_allclose(fair.front_.values[0], [error(Y[mask], decided[mask]), exact])
    for name, tensor in model.state_dict().items():
        assert torch.equal(point.state[name], tensor)


@pytest.mark.parametrize("given", [{}, {"cv": 2}, {"device": "cpu", "micro_batch": 50}], ids=str)
def test_a_front_is_never_worse_for_it_and_training_is_the_same(given):
    without, with_start = fit(trained(), **given), fit(trained(), measure_start=True, **given)
    for values in without.front_.values:
        assert (with_start.front_.values <= values + 1e-12).all(axis=1).any()
    columns = without.history_.columns.drop("hypervolume")
    assert without.history_[columns].equals(with_start.history_[columns])


def test_further_training_does_not_measure_the_start_again():
    model = fit(trained(), measure_start=True, warm_start=True, learning_rate=1e-30)
    again = model.set_params(learning_rate=0.01).fit(X, Y, sensitive_features=SEX)
    assert sum(point.step == 0 for point in again.search_.archive.points) <= 1


def test_it_is_saved_and_loaded(tmp_path):
    model = fit(measure_start=True, learning_rate=1e-30)
    again = load(save(Run(model, {}, {"group": ("protected", "unprotected")}), tmp_path))
    assert again.measure_start is True
    assert [point.step for point in again.front_.points] == [point.step for point in model.front_.points]
    assert 0 in [point.step for point in model.front_.points]


def test_anything_but_true_or_false_is_refused():
    with pytest.raises(ValueError, match="`measure_start` must be True or False: found 'yes'"):
        FairNetClassifier().set_params(measure_start="yes").fit(X, Y, sensitive_features=SEX)
