"""Training with parts of the user's own: weightings, optimizers that take gradients away, half precision."""

import pytest
import torch
from torch import nn

from mamofair._descent.adam import Adam
from mamofair._descent.networks import MLP, Average, Population
from mamofair._descent.training import epochs, isolated
from mamofair._rows.batches import Batch, in_memory
from mamofair._rows.groups import read_groups
from mamofair.descent import Fixed, MinNorm
from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.objectives import CounterfactualGap, CrossEntropy, Gap

OBJECTIVES = [CrossEntropy(), Gap(DEMOGRAPHIC_PARITY, "sex")]
WEIGHTINGS = [MinNorm(), Fixed((1, 1))]


def small(n_features: int) -> nn.Module:
    return nn.Sequential(nn.Linear(n_features, 4), nn.Tanh(), nn.Linear(4, 1))


def people(n: int = 60) -> Batch:
    draw = torch.Generator().manual_seed(0)
    sex, y = (torch.randint(0, 2, (n,), generator=draw) for _ in range(2))
    X = torch.stack([y + 0.7 * sex, sex], dim=1) + 0.5 * torch.randn(n, 2, generator=draw)
    return Batch.of(X, y, read_groups({"sex": sex.numpy()}).memberships(y.numpy()))


def population_of(recipe, members: int) -> Population:
    with isolated(0):
        return Population([recipe(2) for _ in range(members)])


def train(population: Population, weighting, optimizer, objectives=OBJECTIVES, rows=None):
    feed, weightings = in_memory(people() if rows is None else rows, 20), [weighting] * population.size
    return list(epochs(population, objectives, feed, weightings, optimizer, Average(population, 0.9), span=range(2)))


class Reversed(MinNorm):
    """Not the weights of `MinNorm`, though it is one."""

    def __call__(self, gramian):
        return super().__call__(gramian).flip(0)


def test_a_subclass_of_a_weighting_computes_its_own_weights():
    found = []
    for weighting in (MinNorm(), Reversed()):
        population = population_of(small, 1)
        optimizer = torch.optim.SGD(population.parameters, lr=0.0)  # both see the same gradients
        found.append(train(population, weighting, optimizer)[-1].weights)
    torch.testing.assert_close(found[1], found[0].flip(0))
    assert not torch.allclose(found[0], found[1])


class Forgets(torch.optim.SGD):
    """Takes the gradients away after each step, as some loops do."""

    def step(self, closure=None):
        super().step(closure)
        self.zero_grad()


@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=str)
@pytest.mark.parametrize("recipe", [MLP((8,), 0.0), small], ids=["MLP", "own"])
@pytest.mark.parametrize("members", [1, 2])
def test_an_optimizer_may_take_gradients_away(members, recipe, weighting):
    trained = []
    for optimizer in (torch.optim.SGD, Forgets):
        population = population_of(recipe, members)
        start = population.state(0)
        train(population, weighting, optimizer(population.parameters, lr=0.1))
        trained.append(population.state(0))
    for name, tensor in trained[0].items():
        assert torch.equal(tensor, trained[1][name])
        assert not torch.equal(tensor, start[name])


@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=str)
@pytest.mark.parametrize("recipe", [MLP((8,), 0.2), small], ids=["MLP", "own"])
@pytest.mark.parametrize("micro_batch", [None, 8])
def test_adam_prepares_its_step_once(micro_batch, recipe, weighting, monkeypatch):
    prepared = []
    prepare = Adam._prepare
    monkeypatch.setattr(Adam, "_prepare", lambda self, grads: prepared.append(1) or prepare(self, grads))
    population = population_of(recipe, 2)
    population.micro_batch = micro_batch
    train(population, weighting, Adam(population.parameters))
    assert len(prepared) == 1


class Half(nn.Module):
    def __init__(self, n_features: int):
        super().__init__()
        self.whole = small(n_features)

    def forward(self, x):
        with torch.autocast("cpu", torch.bfloat16):
            return self.whole(x)


@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=str)
@pytest.mark.parametrize(("recipe", "outside"), [(Half, False), (small, True), (MLP((8,), 0.2), True)])
def test_networks_train_under_autocast(recipe, outside, weighting):
    population = population_of(recipe, 2)
    start = population.state(0)
    with torch.autocast("cpu", torch.bfloat16, enabled=outside):
        snapshots = train(population, weighting, Adam(population.parameters))
    assert all(snapshot.values.isfinite().all() for snapshot in snapshots)
    assert not any(torch.equal(tensor, start[name]) for name, tensor in population.state(0).items())


def test_rows_are_changed_under_autocast_too():
    rows, population = people(), population_of(Half, 1)
    flipped = torch.stack([rows.x[:, 0], 1 - rows.x[:, 1]], dim=1)
    with_changes = Batch(**vars(rows) | {"changed": {"flips": flipped}})
    objectives = [CrossEntropy(), CounterfactualGap(lambda X: X, "flips")]
    snapshots = train(population, MinNorm(), Adam(population.parameters), objectives, with_changes)
    assert all(snapshot.values.isfinite().all() for snapshot in snapshots)
