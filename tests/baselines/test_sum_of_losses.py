import torch
from baseline_contract import GROUP, X, Y, quick

from mamofair import FairNetClassifier, Fixed
from mamofair.baselines import SumOfLossesClassifier
from mamofair.baselines._sum_of_losses import EqualShares
from mamofair.descent import Weighting
from mamofair.relaxations import Tanh


def test_each_objective_has_the_same_weight_whatever_the_gradients():
    assert isinstance(EqualShares(), Weighting)
    gramian = torch.diag(torch.tensor([1.0, 4.0, 9.0], dtype=torch.float64))
    torch.testing.assert_close(EqualShares()(gramian), torch.full((3,), 1 / 3, dtype=torch.float64))
    assert EqualShares() == EqualShares()


def test_it_trains_as_fixed_weights_that_are_one_over_the_initial_values():
    plain = {"epochs": 3, "batch_size": 100, "random_state": 0, "notions": ["dp", "tpr"], "favorable": "granted"}
    summed = SumOfLossesClassifier(anchor=0.0, **plain).fit(X, Y, sensitive_features=GROUP)
    scales = summed._population.scales[:, 0].tolist()
    assert scales[0] > 0.6  # cross-entropy of a network that knows nothing: log 2
    fixed = FairNetClassifier(members=[Fixed(tuple(1 / scale for scale in scales))], **plain)
    fixed.fit(X, Y, sensitive_features=GROUP)
    # Adam does not mind that one gradient is a multiple of the other.
    for name, tensor in summed._population.tensors.items():
        torch.testing.assert_close(tensor, fixed._population.tensors[name], atol=1e-3, rtol=1e-2)


def test_one_run_of_all_objectives():
    model = quick("SumOfLossesClassifier", notions=["dp", "tpr"]).fit(X, Y, sensitive_features=GROUP)
    weights = model.history_.filter(like="weight of")
    assert weights.shape[1] == 3
    assert (weights - 1 / 3).abs().max(axis=None) < 1e-6
    assert set(model.history_["member"]) == {0}


def test_published_setting_is_that_of_the_network():
    model = SumOfLossesClassifier.as_published(notions="tpr")
    assert (model.relaxation, model.anchor, model.learning_rate, model.notions) == (Tanh(3), 0.1, 0.01, "tpr")
    assert isinstance(model, SumOfLossesClassifier)
