"""`CounterfactualGap`: decisions that change with their row, trained on changed rows and counted on held-back ones."""

import numpy as np
import pytest
import torch
from torch import nn

from mamofair import FairBoostingClassifier, FairNetClassifier, Fixed, MinNorm, load
from mamofair.datasets import make_toy
from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.objectives import (
    Batch,
    CounterfactualGap,
    CrossEntropy,
    CustomObjective,
    EvaluationWithChanges,
    Gap,
    evaluate,
    read_groups,
)
from mamofair.runs import Run, save
from tiny_fits import TINY_FITS

pytestmark = TINY_FITS

TOY = make_toy()
SEX, Y = TOY.sensitive, TOY.y
X = np.column_stack([TOY.X.to_numpy(), SEX.squeeze() == "protected"]).astype(float)
MASK = np.arange(len(X)) % 3 == 0
NAME = "counterfactual_gap"


def flip(features):
    features[:, -1] = 1 - features[:, -1]
    return features


def net(*objectives, **given) -> FairNetClassifier:
    settings = {"members": 3, "epochs": 3, "random_state": 0, "validation_fraction": MASK} | given
    return FairNetClassifier(objectives=list(objectives), **settings)


def fit(model):
    return model.fit(X, Y, sensitive_features=SEX)


def test_the_column_is_the_share_of_decisions_that_flip():
    model = fit(net(CounterfactualGap(flip)))
    before, after = model.decide_all(X[MASK]), model.decide_all(flip(X[MASK].copy()))
    np.testing.assert_allclose(model.front_.frame()[NAME], (before != after).mean(axis=1), atol=1e-6)
    assert model.front_.frame()[NAME].max() > 0


@pytest.mark.parametrize(("weighting", "share"), [(Fixed((1, 0, 20)), 0.5), (MinNorm(), 1.0)], ids=str)
def test_training_makes_it_small(weighting, share):
    """By half, where it weighs twenty times the loss; common descent balances it against all others."""
    plain, fair = (fit(net(CounterfactualGap(flip), members=[w], epochs=8)) for w in (Fixed((1, 0, 0)), weighting))
    assert fair.history_[NAME].iloc[-1] < share * plain.history_[NAME].iloc[-1]


def test_of_weight_0_it_changes_no_direction():
    without = net(members=[Fixed((1, 1))], epochs=2).set_params(network=_plain)
    with_it = net(CounterfactualGap(flip), members=[Fixed((1, 1, 0))], epochs=2).set_params(network=_plain)
    columns = ["cross_entropy", "demographic_parity[group]"]
    np.testing.assert_allclose(fit(with_it).history_[columns], fit(without).history_[columns], rtol=1e-4, atol=1e-6)


def _plain(features: int) -> nn.Module:
    return nn.Sequential(nn.Linear(features, 6), nn.Tanh(), nn.Linear(6, 1), nn.Flatten(0))


def test_a_change_that_changes_nothing_has_no_gap():
    front = fit(net(CounterfactualGap(lambda features: features, name="none"))).front_
    assert (front.frame()["none"] == 0).all()


def test_cotangents_equal_finite_differences_and_other_objectives_ignore_changed_rows():
    y, weight = [1, 0, 1, 0], torch.tensor([1.0, 2.0, 0.5, 1.0])
    memberships = read_groups({"sex": list("ffmm")}).memberships(y, weight)
    x = torch.randn(4, 2, generator=torch.Generator().manual_seed(0))
    batch = Batch(**vars(Batch.of(x, y, memberships, weight)) | {"changed": {"a": x + 1, "b": x - 1}})
    assert torch.equal(batch.inputs, torch.cat([x, x + 1, x - 1]))
    assert torch.equal(batch[:2].inputs, torch.cat([x[:2], x[:2] + 1, x[:2] - 1]))
    objectives = [CrossEntropy(), CounterfactualGap(flip, "b"), Gap(DEMOGRAPHIC_PARITY, "sex")]
    logits = torch.randn(2, 12, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    values, cotangents = map(torch.from_numpy, EvaluationWithChanges(objectives)(logits, batch))
    plain_values, plain = evaluate([objectives[0], objectives[2]], logits[:, :4], batch)
    torch.testing.assert_close(values[[0, 2]], plain_values)
    torch.testing.assert_close(cotangents[[0, 2]][..., :4], plain)
    assert not cotangents[[0, 2]][..., 4:].any()
    assert not cotangents[1][:, 4:8].any()
    s = torch.sigmoid(3 * logits)
    torch.testing.assert_close(values[1], ((s[:, :4] - s[:, 8:]).abs() * weight).sum(-1) / weight.sum())
    for i in range(12):
        step = torch.zeros_like(logits)
        step[:, i] = 1e-6
        up, down = (EvaluationWithChanges(objectives)(moved, batch)[0][1] for moved in (logits + step, logits - step))
        np.testing.assert_allclose(cotangents[1][:, i], (up - down) / 2e-6, rtol=1e-4, atol=1e-7)


def test_beside_a_custom_objective_and_on_pieces_of_batches():
    seen = []

    def size(logits, batch):
        seen.append((logits.shape[-1], len(batch), batch.x.shape[1]))
        return logits.abs().mean(-1) / 10

    model = net(CustomObjective("size", size), CounterfactualGap(flip), standardize=False, micro_batch=40, epochs=1)
    assert fit(model).front_.columns == ["error", "demographic_parity[group]", "size", NAME]
    assert all(logits == rows and columns == X.shape[1] for logits, rows, columns in seen)


def test_it_is_saved_with_the_name_of_its_change(tmp_path):
    model = fit(net(CounterfactualGap(flip)))
    again = load(save(Run(model, {}, {"group": ("protected", "unprotected")}), tmp_path))
    np.testing.assert_array_equal(again.front_.values, model.front_.values)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    with pytest.raises(ValueError, match=r"has kept only the name\. Pass the objectives again"):
        fit(again)
    again = fit(load(tmp_path, objectives=[CounterfactualGap(flip)]).set_params(validation_fraction=MASK))
    np.testing.assert_array_equal(again.front_.values, model.front_.values)


def test_what_cannot_be_done_is_refused_in_a_sentence():
    with pytest.raises(
        ValueError, match=r"for a CounterfactualGap, which trains on changed rows, use FairNetClassifier"
    ):
        fit(FairBoostingClassifier().set_params(objectives=[CounterfactualGap(flip)]))
    with pytest.raises(ValueError, match=r"must return finite numbers in the shape of the features, .*\(200, 1\)"):
        fit(net(CounterfactualGap(lambda features: features[:, :1])))
    with pytest.raises(ValueError, match="no CounterfactualGap to train from a stream"):
        net(CounterfactualGap(flip), validation_fraction=0.3).fit_stream([(X, Y, SEX)])
    with pytest.raises(ValueError, match="The name of an objective must be unique"):
        CounterfactualGap(flip, "model")
