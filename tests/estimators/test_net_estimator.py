"""What is special about the network estimator; what all estimators do is in `estimator_contract`."""

import numpy as np
import pytest
import torch
from sklearn.base import clone
from small_fits import GROUP, X, Y, assert_same, fitted, small

from mamofair import MLP, ClosestToIdeal, FairNetClassifier, Fixed, MinNorm, Notion, Rate
from mamofair._rows.batches import Batch, in_memory
from mamofair.descent import PublishedFrankWolfe
from mamofair.notions import FP, TN
from mamofair.objectives import SquaredError
from mamofair.relaxations import Published, Sigmoid, Tanh
from mamofair.selection import FairestWithin


@pytest.fixture(scope="module")
def model() -> FairNetClassifier:
    return fitted(epochs=8)


def test_history_has_a_row_for_each_snapshot_and_member(model):
    history = model.history_
    assert {"epoch", "step", "member", "cross_entropy", "demographic_parity[group]"} <= set(history)
    assert {"weight of cross_entropy", "weight of demographic_parity[group]"} <= set(history)
    assert history["cosine of cross_entropy and demographic_parity[group]"].dropna().between(-1.001, 1.001).all()
    assert len(history) == 8 * 2 * 3  # epochs, snapshots, members
    assert history["hypervolume"].dropna().is_monotonic_increasing


def test_selection_that_nothing_meets_is_an_error_when_it_is_needed_and_not_before():
    notion = Notion("opposed", (Rate(FP, given=FP | TN),))
    model = small(notions=[notion, "tpr"], selection=FairestWithin(0.0), members=[Fixed((1, 0, 0))], epochs=1)
    model.fit(X, Y, sensitive_features=GROUP)
    assert len(model.front_.frame()) >= 1
    for needs in (lambda: model.selected_, lambda: model.selection_note_, lambda: model.predict(X)):
        with pytest.raises(ValueError, match="No point has error"):
            needs()
    with pytest.raises(ValueError, match="No point has error"):
        model.with_selection(FairestWithin(0.0))
    assert model.with_selection(ClosestToIdeal()).predict(X).shape == (len(X),)


@pytest.mark.parametrize("members", [3, [MinNorm()], [MinNorm(), Fixed((1, 2))]], ids=str)
def test_integer_random_state_gives_the_same_front_bit_for_bit(members):
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002  # the caller's, which must not matter
    first = fitted(members=members)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.manual_seed(2)
    try:
        assert_same(first, fitted(members=members))
    finally:
        torch.set_num_threads(threads)
    other = fitted(members=members, random_state=1)
    assert first.history_["cross_entropy"].tolist() != other.history_["cross_entropy"].tolist()


def test_relaxation_may_differ_by_notion():
    one = fitted(notions=["dp", "tpr"], relaxation={"dp": Tanh(3), "equal_opportunity": Sigmoid(3)})
    default = fitted(notions=["dp", "tpr"])
    other = fitted(notions=["dp", "tpr"], relaxation={"dp": Tanh(3)})
    column = "demographic_parity[group]"
    assert one.history_[column].tolist() != default.history_[column].tolist()
    assert_same(one, other)  # what is not named has the default


def test_as_published_has_the_parameters_of_the_text():
    text = FairNetClassifier.as_published(notions="tpr", epochs=2)
    assert (text.members, text.relaxation, text.anchor) == ([MinNorm()], Tanh(3), 0.1)
    assert (text.network, text.learning_rate, text.standardize) == (MLP((60, 25), 0.2), 0.01, False)
    assert (text.snapshots, text.patience, text.selection) == (1, None, ClosestToIdeal(allow_constant=True))
    assert (text.even_batches, text.scale_floor, text.separate_passes) == (False, 0.0, False)
    assert (text.notions, text.epochs) == ("tpr", 2)


def test_as_published_has_the_parameters_of_the_code():
    code = FairNetClassifier.as_published(code=True)
    assert code.members == [PublishedFrankWolfe()]
    assert code.relaxation["demographic_parity"] == Published(3)
    assert code.relaxation["equal_opportunity"] == Published(5)
    assert code.anchor_loss == SquaredError()
    assert code.network == MLP((60, 25), 0.2, weight_std=0.02)
    assert (code.even_batches, code.scale_floor, code.separate_passes) == (False, 0.0, True)


def test_batches_are_full_and_the_last_has_what_is_left_unless_they_are_even():
    rows = Batch.of(torch.rand(1100, 1), torch.ones(1100), {"a": torch.ones(1100, 2)})
    assert [len(batch) for batch in in_memory(rows, 512, even=False).batches(0)] == [512, 512, 76]
    assert [len(batch) for batch in in_memory(rows, 512).batches(0)] == [367, 367, 366]


def test_a_mask_says_which_rows_are_held_back():
    mask = np.arange(600) % 3 == 0
    model = small(validation_fraction=mask).fit(X, Y, sensitive_features=GROUP)
    assert len(model.front_.points) > 1
    expected = [int(np.sum((model.at(i).predict(X) == Y)[mask])) for i in range(len(model.front_))]
    counted = [point.valid.counts[""][0][[0, 3]].sum() for point in model.front_.points]
    assert counted == expected


@pytest.mark.parametrize("mask", [np.zeros(600, bool), np.ones(5, bool), np.ones(600)], ids=["none", "few", "numbers"])
def test_a_mask_that_does_not_fit_is_refused(mask):
    with pytest.raises(ValueError, match="A mask as `validation_fraction` must have True or False for each row"):
        small(validation_fraction=mask).fit(X, Y, sensitive_features=GROUP)


def test_any_optimizer_of_torch_trains_and_is_taken_up_again():
    model = fitted(optimizer=torch.optim.SGD, learning_rate=0.5, epochs=4)
    assert_same(model, fitted(optimizer=torch.optim.SGD, learning_rate=0.5, epochs=4))
    first = fitted(optimizer=torch.optim.SGD, learning_rate=0.5, epochs=2, warm_start=True)
    assert_same(first.fit(X, Y, sensitive_features=GROUP), model)


@pytest.mark.parametrize("code", [False, True], ids=["text", "code"])
def test_as_published_runs_and_archives_once_an_epoch(code):
    model = FairNetClassifier.as_published(code=code, notions=["dp", "tpr"], epochs=4, random_state=0)
    model.fit(X, Y, sensitive_features=GROUP)
    assert len(model.history_) == 4
    assert list(model.front_.frame()) == ["error", "demographic_parity[group]", "equal_opportunity[group]"]
    assert set(np.unique(model.predict(X))) <= {0, 1}
    assert_same(model, clone(model).fit(X, Y, sensitive_features=GROUP))
