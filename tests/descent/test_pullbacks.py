"""Pulling back, against autograd on the whole batch; in pieces it is the same, with the same random numbers."""

import pytest
import torch
from torch import Tensor, nn

from mamofair._descent.networks import MLP, Population
from mamofair._descent.training import isolated
from mamofair.descent import pullback


def population_of(recipe, size: int = 2, micro_batch: int | None = None) -> Population:
    networks = []
    for seed in range(size):
        with isolated(seed):
            networks.append(recipe(4).double())
    return Population(networks, micro_batch=micro_batch)


def example(k: int, members: int = 2, n: int = 20) -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(n, 4, dtype=torch.float64, generator=draw)
    return x, torch.randn(k, members, n, dtype=torch.float64, generator=draw)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_jacobian_row_by_row_is_that_of_the_general_pullback(dropout, k):
    population = population_of(MLP((6, 5), dropout), 3)
    x, cotangents = example(k, 3)
    with isolated(1):
        expected = pullback(population(x), cotangents, population.parameters)
    with isolated(1):  # the same dropout masks
        _, pull = population.traced(x)
    torch.testing.assert_close(torch.as_tensor(pull(cotangents.numpy())), expected)


class Watched(nn.Module):
    """Drops out, and remembers what it was given and what it dropped."""

    def __init__(self, n_features: int):
        super().__init__()
        self.first, self.drop, self.last = nn.Linear(n_features, 6), nn.Dropout(0.5), nn.Linear(6, 1)
        self.rows: list[int] = []
        self.masks: list[Tensor] = []

    def forward(self, x):
        h = self.drop(torch.tanh(self.first(x)))
        self.rows.append(len(x))
        self.masks.append(h == 0)
        return self.last(h)


def plain(n_features: int) -> nn.Module:
    return nn.Sequential(nn.Linear(n_features, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 1))


@pytest.mark.parametrize("rows", [1, 7, 10, 19])
@pytest.mark.parametrize("recipe", [MLP((6, 5), 0.0), plain], ids=["MLP", "own"])
@pytest.mark.parametrize("k", [1, 3])
def test_pieces_add_up_to_the_batch(recipe, k, rows):
    whole, pieces = population_of(recipe), population_of(recipe, micro_batch=rows)
    x, cotangents = example(k)
    (logits, pull), (expected_logits, expected) = pieces.traced(x), whole.traced(x)
    torch.testing.assert_close(logits, torch.as_tensor(expected_logits).detach(), rtol=0, atol=1e-12)
    assert not logits.requires_grad
    jacobian, expected_jacobian = (torch.as_tensor(one(cotangents.numpy())) for one in (pull, expected))
    torch.testing.assert_close(jacobian, expected_jacobian, rtol=0, atol=1e-12)
    torch.testing.assert_close(pieces(x), whole(x), rtol=0, atol=1e-12)


def test_second_run_of_a_piece_drops_what_its_first_run_dropped():
    population = population_of(Watched, micro_batch=8)
    population.train()
    x, cotangents = example(2)
    with isolated(3):
        _, pull = population.traced(x)
        watched, state = population.template, torch.get_rng_state()
        first = watched.masks[-6:]  # three pieces of two members; before, it was looked at whether it comes in pieces
        watched.masks.clear()
        pull(cotangents.numpy())
        assert torch.equal(torch.get_rng_state(), state)
    assert [len(mask) for mask in first] == [8, 8, 8, 8, 4, 4]
    assert all(torch.equal(one, other) for one, other in zip(first, watched.masks, strict=True))
    assert not torch.equal(first[0], first[2])
    assert all(0 < mask.double().mean() < 1 for mask in first)
    assert max(watched.rows) == 8


def test_in_pieces_with_dropout_the_jacobian_is_that_of_the_logits():
    """A step along the gradient changes the logits, computed with the same masks, as the Jacobian says."""
    population = population_of(MLP((6, 5), 0.5), micro_batch=8)
    population.train()
    x, cotangents = example(1)
    with isolated(3):
        before, pull = population.traced(x)
        direction = pull(cotangents.numpy())[0]
    with torch.no_grad():
        sizes = [parameter[0].numel() for parameter in population.parameters]
        for parameter, part in zip(population.parameters, torch.split(direction, sizes, dim=1), strict=True):
            parameter += 1e-7 * part.reshape(parameter.shape)
    with isolated(3):
        after, _ = population.traced(x)
    change = (cotangents[0] * (after - before)).sum(1) / 1e-7
    torch.testing.assert_close(change, direction.square().sum(1), rtol=1e-4, atol=0)


class MixesRows(nn.Module):
    def forward(self, x):
        return x - x.mean(0)


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros(()))

    def forward(self, x):
        self.steps += 1
        return x


MIXING = {
    "BatchNorm": (lambda: nn.BatchNorm1d(6), r"1\.running_mean changes"),
    "BatchNorm without statistics": (lambda: nn.BatchNorm1d(6, track_running_stats=False), "logits depend"),
    "rows that mix": (MixesRows, "logits depend on other rows"),
    "rows that are counted": (Counts, r"1\.steps changes"),
}


@pytest.mark.parametrize("rows", [1, 8])
@pytest.mark.parametrize(("between", "words"), MIXING.values(), ids=MIXING)
def test_networks_whose_batch_does_not_come_in_pieces_are_refused(between, words, rows):
    population = population_of(lambda n: nn.Sequential(nn.Linear(n, 6), between(), nn.Linear(6, 1)), micro_batch=rows)
    before = population.state(0)
    with pytest.raises(ValueError, match=rf"`micro_batch` must be None .*found that {words}.*LayerNorm"):
        population.traced(example(1)[0])
    assert all(torch.equal(tensor, before[name]) for name, tensor in population.state(0).items())
    population.micro_batch = None
    population.traced(example(1)[0])


def test_looking_whether_a_batch_comes_in_pieces_draws_nothing():
    pieces, twin = (population_of(Watched, micro_batch=rows) for rows in (10, 10))
    x, _ = example(1)
    twin.traced(x)  # it has been looked at
    for population in (pieces, twin):
        population.train()
    with isolated(3):
        first = pieces.traced(x)[0]
    with isolated(3):
        assert torch.equal(twin.traced(x)[0], first)
