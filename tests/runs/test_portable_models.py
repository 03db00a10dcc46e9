"""Models in the formats of others: pickle, joblib, cloudpickle, skops."""

import copy
import io
import pickle

import cloudpickle
import joblib
import numpy as np
import pytest
import skops.io
import torch
from sklearn import config_context
from sklearn.pipeline import make_pipeline

from mamofair import trusted_types
from mamofair.runs.portable import from_state, to_state
from mamofair.tables import encoder
from run_fits import FACTORIES, GROUP, TOY, Y, assert_same, fitted, fitted_once, net


def by_skops(model):
    return skops.io.loads(skops.io.dumps(model), trusted=trusted_types())


def by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


WAYS = {
    "skops": by_skops,
    "joblib": by_joblib,
    "cloudpickle": lambda model: pickle.loads(cloudpickle.dumps(model)),
    "copy": copy.copy,
} | {
    f"pickle {number}": lambda model, number=number: pickle.loads(pickle.dumps(model, protocol=number))
    for number in (2, pickle.HIGHEST_PROTOCOL)
}


@pytest.mark.parametrize("kind", FACTORIES)
def test_whatever_writes_a_model_reads_it_back_bit_for_bit(kind):
    model = fitted_once(kind)
    picked = model.at(len(model.front_) - 1)
    for name in WAYS if kind == "net" else ("skops", "joblib"):  # they write the same state, whatever the model
        again = WAYS[name](picked)
        assert type(again) is type(model), name
        assert again.selected_ == picked.selected_, name
        assert_same(again, model)
        assert str(again.get_params()) == str(model.get_params()), name


def test_skops_names_no_type_but_the_estimator_itself():
    data = skops.io.dumps(fitted_once("portfolio"))
    assert skops.io.get_untrusted_types(data=data) == ["mamofair.estimators._portfolio.FairPortfolioClassifier"]


def test_an_estimator_that_is_not_fitted_is_written_too():
    again = by_skops(net(epochs=7))
    assert again.epochs == 7
    assert not hasattr(again, "front_")
    assert_same(fitted(again.set_params(epochs=2)), fitted(net(epochs=2)))


def test_a_pipeline_with_our_encoder_and_a_model_with_one_are_written():
    frame = TOY.X.assign(colour=np.where(TOY.X["x1"] > 3, "red", "blue"))
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(encoder(), net()).fit(frame, Y, sensitive_features=GROUP)
    assert (by_skops(pipeline).predict_proba(frame) == pipeline.predict_proba(frame)).all()
    model = pipeline[-1].with_encoder(pipeline[0])
    assert (by_skops(model).predict_proba(frame) == pipeline.predict_proba(frame)).all()


class Own(torch.nn.Module):
    def __init__(self, n_features: int):
        super().__init__()
        self.linear = torch.nn.Linear(n_features, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


def test_a_network_of_ones_own_is_pickled_and_skops_says_what_else_to_do():
    model = fitted(net(epochs=1, network=Own))
    assert_same(pickle.loads(pickle.dumps(model)), model)
    with pytest.raises(ValueError, match=r"found test_portable_models\.Own\. Write it with `mamofair\.save`"):
        skops.io.dumps(model)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": 2}, r"newer mamofair \(format 2; this one reads up to 1\): pip install -U mamofair\.$"),
        ({"files": {}}, "must be as mamofair wrote it"),
        ({"format": "x"}, "must be as mamofair wrote it"),
    ],
)
def test_a_state_that_is_none_of_ours_is_refused(change, told):
    state = to_state(fitted_once("net"))
    with pytest.raises(ValueError, match=told):
        from_state(state | change)


def test_a_state_of_another_estimator_is_refused():
    boosted = fitted_once("boosting")
    with pytest.raises(ValueError, match="FairNetClassifier must be of that type: found a FairBoosting"):
        net().__setstate__(boosted.__getstate__())
