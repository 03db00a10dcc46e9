import pandas as pd
import pytest
import torch
from baseline_contract import GROUP, X, Y, quick

from mamofair import FairNetClassifier, Fixed
from mamofair.baselines import EqualShares, SumOfLossesClassifier
from mamofair.descent import Weighting
from mamofair.objectives import SquaredError
from mamofair.relaxations import Tanh
from tiny_fits import TINY_FITS

pytestmark = TINY_FITS


def test_each_objective_has_the_same_weight_whatever_the_gradients():
    assert isinstance(EqualShares(), Weighting)
    gramian = torch.diag(torch.tensor([1.0, 4.0, 9.0], dtype=torch.float64))
    torch.testing.assert_close(EqualShares()(gramian), torch.full((3,), 1 / 3, dtype=torch.float64))
    assert EqualShares() == EqualShares()


def test_it_is_the_sum_of_raw_objectives_with_their_anchors():
    plain = {"epochs": 3, "batch_size": 100, "random_state": 0, "notions": ["dp", "tpr"], "favorable": "granted"}
    summed = SumOfLossesClassifier(anchor=0.1, **plain).fit(X, Y, sensitive_features=GROUP)
    fixed = FairNetClassifier(members=[Fixed((1.2, 1, 1))], offsets=(), **plain).fit(X, Y, sensitive_features=GROUP)
    pd.testing.assert_frame_equal(summed.history_, fixed.history_)
    assert (summed.history_["weight of equal_opportunity[group]"] - 1 / 3.2).abs().max() < 1e-6


def test_normalised_sum_trains_as_fixed_weights_that_are_one_over_the_initial_values():
    plain = {"epochs": 3, "batch_size": 100, "random_state": 0, "notions": ["dp", "tpr"], "favorable": "granted"}
    summed = FairNetClassifier(members=[EqualShares()], anchor=0.0, **plain).fit(X, Y, sensitive_features=GROUP)
    scales = summed.search_.learner.training.population.scales[:, 0].tolist()
    assert scales[0] > 0.6  # cross-entropy of a network that knows nothing: log 2
    fixed = FairNetClassifier(members=[Fixed(tuple(1 / scale for scale in scales))], **plain)
    fixed.fit(X, Y, sensitive_features=GROUP)
    # Adam does not mind that one gradient is a multiple of the other.
    for name, tensor in summed.search_.learner.training.population.tensors.items():
        torch.testing.assert_close(
            tensor, fixed.search_.learner.training.population.tensors[name], atol=1e-3, rtol=1e-2
        )


def test_one_run_of_all_objectives():
    model = quick("SumOfLossesClassifier", notions=["dp", "tpr"]).fit(X, Y, sensitive_features=GROUP)
    assert model.history_.filter(like="weight of").shape[1] == 3
    assert set(model.history_["member"]) == {0}


def test_anchor_other_than_cross_entropy_is_refused():
    model = quick("SumOfLossesClassifier", anchor_loss=SquaredError())
    with pytest.raises(ValueError, match=r"`anchor_loss` must be CrossEntropy\(\) for a sum of losses"):
        model.fit(X, Y, sensitive_features=GROUP)


def test_published_setting_is_that_of_the_network():
    model = SumOfLossesClassifier.as_published(notions="tpr")
    assert (model.relaxation, model.anchor, model.learning_rate, model.notions) == (Tanh(3), 0.1, 0.01, "tpr")
    assert isinstance(model, SumOfLossesClassifier)
