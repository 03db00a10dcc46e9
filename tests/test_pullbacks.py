"""Pulling back, against autograd on the whole batch."""

import pytest
import torch

from mamofair.descent import pullback
from mamofair.networks import MLP, Population
from mamofair.training import isolated


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_jacobian_row_by_row_is_that_of_the_general_pullback(dropout):
    population = Population([MLP((6, 5), dropout)(4).double() for _ in range(3)])
    x, cotangents = torch.randn(20, 4, dtype=torch.float64), torch.randn(2, 3, 20, dtype=torch.float64)
    with isolated(1):
        expected = pullback(population(x), cotangents, population.parameters)
    with isolated(1):  # the same dropout masks
        _, pull = population.traced(x)
    torch.testing.assert_close(pull(cotangents), expected)
