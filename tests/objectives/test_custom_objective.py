"""`CustomObjective`: what its loss and its metric must be."""

import pytest
import torch
from sklearn.metrics import brier_score_loss

from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.objectives import Batch, CrossEntropy, CustomObjective, Gap, SquaredError, evaluate, read_groups

Y = [1, 0, 1, 0, 1, 1]
BATCH = Batch.of(torch.zeros(6, 1), Y, read_groups({"sex": list("ffmmfm")}).memberships(Y))
LOGITS = torch.tensor([[1.0, -1.0, 0.5, 2.0, -0.3, 0.1], [0.2, 0.4, -2.0, 1.0, 1.5, -1.0]])


@pytest.mark.parametrize("loss", [SquaredError(), CrossEntropy(), Gap(DEMOGRAPHIC_PARITY, "sex")], ids=str)
def test_it_has_the_values_and_cotangents_of_its_loss(loss):
    values, cotangents = evaluate([CrossEntropy(), CustomObjective("mine", loss)], LOGITS, BATCH)
    plain_values, plain_cotangents = evaluate([CrossEntropy(), loss], LOGITS, BATCH)
    torch.testing.assert_close(values, plain_values)
    torch.testing.assert_close(cotangents, plain_cotangents)


def test_cotangents_of_a_function_equal_finite_differences():
    size = CustomObjective("size", lambda logits, batch: (logits.tanh() * batch.y).square().mean(-1))
    logits = LOGITS.double()
    _, [cotangents] = evaluate([size], logits, BATCH)
    for i in range(logits.shape[1]):
        step = torch.zeros_like(logits)
        step[:, i] = 1e-6
        difference = (size(logits + step, BATCH) - size(logits - step, BATCH)) / 2e-6
        torch.testing.assert_close(cotangents[:, i], difference, rtol=1e-5, atol=1e-8)


def test_a_metric_gets_the_scores_of_one_model_at_a_time():
    brier = CustomObjective("brier", SquaredError(), lambda scores, rows: brier_score_loss(rows.y, scores.sigmoid()))
    assert brier.measure(LOGITS, BATCH) == pytest.approx(SquaredError()(LOGITS, BATCH).tolist())
    assert CustomObjective("brier", SquaredError()).measure(LOGITS, BATCH) == pytest.approx(
        brier.measure(LOGITS, BATCH)
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.1, None, "0.1", torch.ones(2)], ids=str)
def test_a_metric_must_be_a_finite_number_of_0_or_more(value):
    with pytest.raises(ValueError, match="The metric of 'mine' must return a finite number, 0 or more: found"):
        CustomObjective("mine", SquaredError(), lambda scores, rows: value).measure(LOGITS, BATCH)


@pytest.mark.parametrize(
    "loss", [lambda f, b: f.mean(), lambda f, b: f, lambda f, b: 0.5], ids=["all", "none", "float"]
)
def test_a_loss_must_be_one_value_for_each_model(loss):
    with pytest.raises(ValueError, match=r"must return a value for each model: found .* Reduce the last axis only"):
        evaluate([CustomObjective("mine", loss)], LOGITS, BATCH)


def test_a_loss_must_have_a_derivative():
    with pytest.raises(ValueError, match="must depend on the logits through torch operations that have a derivative"):
        evaluate([CustomObjective("mine", lambda logits, batch: (logits > 0).float().mean(-1))], LOGITS, BATCH)


@pytest.mark.parametrize("name", ["", " ", "dp[sex]", "two\nlines", "model", "step", "cross_entropy", "weight of it"])
def test_a_name_must_be_one_that_no_other_column_has(name):
    with pytest.raises(ValueError, match="The name of an objective must be"):
        CustomObjective(name, SquaredError())
