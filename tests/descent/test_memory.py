"""Tensors one after another in memory: the same numbers, found as one tensor, and apart again afterwards."""

import pickle

import numpy as np
import pytest
import torch

from mamofair import FairNetClassifier
from mamofair._descent.memory import GradWriter, join, joined, side_by_side
from mamofair.descent import assign_grad

SHAPES = [(2, 4, 3), (2, 4), (2, 1, 4), (2, 1)]


def tensors(seed: int = 0, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=random, dtype=dtype).requires_grad_() for shape in SHAPES]


def test_tensors_keep_their_values_and_change_with_the_whole():
    mine, before = tensors(), tensors()
    with side_by_side(mine):
        whole = joined(mine)
        assert all(torch.equal(own, old) for own, old in zip(mine, before, strict=True))
        assert torch.equal(whole, torch.cat([old.detach().flatten() for old in before]))
        whole.add_(1)
        assert all(torch.equal(own, old + 1) for own, old in zip(mine, before, strict=True))
    assert joined(mine) is None
    whole.add_(1)
    assert all(torch.equal(own, old + 1) for own, old in zip(mine, before, strict=True))
    assert all(own.requires_grad and own.is_leaf for own in mine)


def test_they_are_apart_again_after_an_error():
    mine = tensors()
    with pytest.raises(KeyboardInterrupt), side_by_side(mine):
        raise KeyboardInterrupt
    assert joined(mine) is None


@pytest.mark.parametrize(
    "moved",
    [
        lambda a, b: [b, a],
        lambda a, b: [a, b[1:]],
        lambda a, b: [a, b.clone()],
        lambda a, b: [a, b.view(torch.int32)],
        lambda a, b: [a[::2], b],
    ],
    ids=["order", "a hole", "elsewhere", "another dtype", "strides"],
)
def test_only_neighbours_are_joined(moved):
    row = torch.arange(6.0)
    assert torch.equal(joined([row[:2], row[2:]]), row)
    assert joined(moved(row[:2], row[2:])) is None


def test_tensors_of_two_dtypes_stay_where_they_are():
    mixed = [torch.zeros(2), torch.zeros(2, dtype=torch.float64)]
    places = [tensor.data_ptr() for tensor in mixed]
    join(mixed)
    assert [tensor.data_ptr() for tensor in mixed] == places
    assert joined(mixed) is None


def test_a_grad_that_was_taken_away_is_given_again():
    mine = tensors()
    write = GradWriter(mine)
    write(np.zeros((2, 21), np.float32))
    for tensor in mine:
        tensor.grad = None
    write(np.ones((2, 21), np.float32))
    assert all((tensor.grad == 1).all() for tensor in mine)


@pytest.mark.parametrize("members", [1, 2])
@pytest.mark.parametrize("kind", ["array", "tensor", "two dtypes"])
def test_directions_are_written_as_by_assign_grad(kind, members):
    mine, theirs = ([tensor.detach()[:members].clone().requires_grad_() for tensor in tensors()] for _ in range(2))
    if kind == "two dtypes":
        mine[1], theirs[1] = (own[1].detach().double().requires_grad_() for own in (mine, theirs))
    write = GradWriter(mine)
    for seed in range(2):
        direction = torch.randn(members, sum(tensor[0].numel() for tensor in mine), generator=torch.manual_seed(seed))
        write(direction.numpy() if kind == "array" else direction)
        assign_grad(theirs, direction)
        assert all(torch.equal(own.grad, other.grad) for own, other in zip(mine, theirs, strict=True))


def test_a_trained_model_has_no_tensors_that_hold_the_memory_of_others(rng):
    X, people = rng.standard_normal((400, 5)), rng.choice(["f", "m"], 400)
    y = X[:, 0] + (people == "f") + rng.standard_normal(400) > 0.5
    model = FairNetClassifier(epochs=2, members=2).fit(X, y, sensitive_features=people)
    training = model.search_.learner.training
    stacks = [*training.population.stacks, *training.average.population.stacks]
    assert all(stack.untyped_storage().nbytes() == stack.nbytes for stack in stacks)
    moments = pickle.loads(pickle.dumps(training.optimizer)).moments
    assert all(own.untyped_storage().nbytes() == own.nbytes for pair in moments for own in pair)
