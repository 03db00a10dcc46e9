"""Gramians without gradients: they are those of the Jacobian that is not made, or the Jacobian is made after all."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from mamofair._descent import gramians as gramians_module
from mamofair._descent.gramians import Layer, gramians, linear_layers, noted
from mamofair._descent.networks import MLP, Population
from mamofair._descent.training import isolated
from mamofair.descent import MinNorm, pullback

K, WIDTH = 3, 256  # the narrowest layers that are worth it


class Own(nn.Module):
    """Branches, a scaled input, a layer without bias, one that is frozen, and one whose output nobody uses."""

    def __init__(self, n_features: int):
        super().__init__()
        self.frozen = nn.Linear(n_features, n_features).requires_grad_(False)
        self.last = nn.Linear(WIDTH, 1)
        self.first = nn.Linear(n_features, WIDTH)
        self.middle = nn.Linear(WIDTH, WIDTH, bias=False)
        self.unused = nn.Linear(WIDTH, 2)
        self.register_buffer("scale", torch.tensor(0.5))

    def forward(self, x):
        h = functional.relu(self.first(self.frozen(x) * self.scale))
        self.unused(h)
        return self.last(h + functional.dropout(functional.relu(self.middle(h)), 0.3, self.training))


def sequential(*between: nn.Module):
    def recipe(n_features: int) -> nn.Module:
        first, middle, last = nn.Linear(n_features, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)
        return nn.Sequential(first, nn.ReLU(inplace=True), *between, middle, nn.Tanh(), nn.Dropout(0.2), last)

    return recipe


RECIPES = {
    "MLP": MLP((WIDTH, WIDTH), 0.0),
    "MLP with dropout": MLP((WIDTH, WIDTH), 0.3),
    "own Sequential": sequential(),
    "own class": Own,
}


def population_of(recipe, size: int = 1) -> Population:
    networks = []
    for seed in range(size):
        with isolated(seed):
            networks.append(recipe(4).double())
    population = Population(networks)
    population.train()
    return population


def example(population: Population, n: int = 40) -> tuple[Tensor, Tensor]:
    """Rows, and cotangents that leave several weights active: those of later objectives are against the first."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n, 4, dtype=torch.float64, generator=generator)
    noise = torch.randn(K, population.size, n, dtype=torch.float64, generator=generator)
    return x, noise - noise[0] * torch.tensor([0.0, 0.5, 0.9], dtype=torch.float64)[:, None, None]


def found_and_expected(population: Population, n: int = 40):
    """Return Gramians, weights and directions as they are found, and from autograd's Jacobian."""
    x, cotangents = example(population, n)
    with isolated(1):
        _, pull = population.traced(x)
        products, direction = pull.gramians(cotangents.numpy())
    found = torch.from_numpy(products)
    with isolated(1):
        jacobian = pullback(population(x), cotangents, population.parameters).transpose(0, 1)
    expected = jacobian @ jacobian.mT
    weights = [torch.stack([MinNorm()(gramian) for gramian in own]) for own in (found, expected)]
    directions = torch.as_tensor(direction(weights[0].numpy())), (weights[1].unsqueeze(1) @ jacobian).squeeze(1)
    return zip((found, weights[0], directions[0]), (expected, weights[1], directions[1]), strict=True)


def goes_without_jacobian(population: Population, n: int = 40) -> bool:
    return bool(population.traced(example(population, n)[0])[1].layers(K))


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_gramian_weights_and_direction_are_those_of_the_jacobian(recipe, size):
    population = population_of(recipe, size)
    assert goes_without_jacobian(population)
    (found, expected), (weights, expected_weights), (direction, expected_direction) = found_and_expected(population)
    assert (weights > 0.01).sum() >= 2 * size
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10 * expected.abs().max().item())
    torch.testing.assert_close(weights, expected_weights, rtol=0, atol=1e-10)
    size_of_direction = expected_direction.abs().max().item()
    torch.testing.assert_close(direction, expected_direction, rtol=1e-10, atol=1e-10 * size_of_direction)


@pytest.mark.parametrize("n", [1, 127, 128, 300])
@pytest.mark.parametrize("bias", [True, False])
def test_kernel_is_computed_in_parts_of_any_number_of_rows(n, bias):
    draw = torch.Generator().manual_seed(n)
    wide, narrow = (
        Layer(*(torch.randn(2, n, width, dtype=torch.float64, generator=draw) for width in (inputs, outputs)), bias)
        for inputs, outputs in ((600, 500), (500, 3))
    )
    assert (wide.is_wide(K), narrow.is_wide(K)) == (True, False)
    cotangents = torch.randn(K, 2, n, dtype=torch.float64, generator=draw)
    found, direction = gramians([wide, narrow], cotangents)
    jacobian = torch.cat(wide.gradients(cotangents) + narrow.gradients(cotangents), dim=-1).transpose(0, 1)
    torch.testing.assert_close(found, jacobian @ jacobian.mT, rtol=1e-10, atol=1e-8)
    weights = torch.rand(2, K, dtype=torch.float64, generator=draw)
    torch.testing.assert_close(direction(weights), torch.einsum("mk,mkd->md", weights, jacobian))


class MixesRows(nn.Module):
    def forward(self, x):
        return x - x.mean(0)


class Twice(nn.Module):
    """Calls its middle layer twice."""

    def __init__(self, n_features: int):
        super().__init__()
        self.first, self.middle, self.last = nn.Linear(n_features, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.last(torch.tanh(self.middle(torch.tanh(self.middle(torch.tanh(self.first(x)))))))


class Elsewhere(Twice):
    """Uses the weights of a layer once more, outside of it."""

    def forward(self, x):
        h = torch.tanh(self.middle(torch.tanh(self.first(x))))
        return self.last(h) + (h @ self.middle.weight).mean(1, keepdim=True)


class Tokens(Twice):
    """Calls its layers with three axes."""

    def forward(self, x):
        return self.last(torch.relu(self.middle(torch.relu(self.first(x.unsqueeze(1)))))).squeeze(1)


class Pictures(Twice):
    """Has a convolution as well."""

    def __init__(self, n_features: int):
        super().__init__(n_features)
        self.picture = nn.Conv1d(1, 1, 3, padding=1)

    def forward(self, x):
        return self.last(torch.relu(self.middle(self.picture(self.first(x).unsqueeze(1)).squeeze(1))))


def tied(n_features: int) -> nn.Module:
    network = sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh())(n_features)
    network[2].weight = network[4].weight
    return network


def frozen_bias(n_features: int) -> nn.Module:
    network = sequential()(n_features)
    network[2].bias.requires_grad_(False)
    return network


def weight_normed(n_features: int) -> nn.Module:
    network = sequential()(n_features)
    nn.utils.parametrizations.weight_norm(network[2])
    return network


OTHERS = {
    "BatchNorm": sequential(nn.BatchNorm1d(WIDTH)),
    "BatchNorm without parameters": sequential(nn.BatchNorm1d(WIDTH, affine=False)),
    "rows that mix": sequential(MixesRows()),
    "tied weights": tied,
    "normalised weights": weight_normed,
    "a frozen bias": frozen_bias,
    "a layer called twice": Twice,
    "weights used elsewhere": Elsewhere,
    "three axes": Tokens,
    "a convolution": Pictures,
    "small layers": MLP((60, 25), 0.2),
}


@pytest.mark.parametrize("recipe", OTHERS.values(), ids=OTHERS)
def test_other_networks_make_their_jacobian(recipe):
    population = population_of(recipe, 2)
    assert not goes_without_jacobian(population)
    for found, expected in found_and_expected(population):
        torch.testing.assert_close(found, expected)


def test_single_row_does_not_settle_whether_rows_mix():
    population = population_of(OTHERS["rows that mix"])
    assert not goes_without_jacobian(population, 1)
    assert not goes_without_jacobian(population, 40)


@pytest.mark.parametrize("recipe", [Own, OTHERS["BatchNorm without parameters"]], ids=["taken", "refused"])
def test_looking_whether_rows_mix_changes_nothing(recipe):
    population = population_of(recipe)
    population.train(False)
    x, _ = example(population)
    _, pull = population.traced(x)
    before = torch.get_rng_state(), population.state(0)
    pull.layers(K)
    assert torch.equal(torch.get_rng_state(), before[0])
    assert all(torch.equal(tensor, before[1][name]) for name, tensor in population.state(0).items())
    assert not population.template.training


class Largest(TorchDispatchMode):
    """Remembers the number of elements of the largest tensor that was made."""

    elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        output = func(*args, **(kwargs or {}))
        for tensor in output if isinstance(output, tuple | list) else [output]:
            if isinstance(tensor, Tensor):
                self.elements = max(self.elements, tensor.numel())
        return output


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_nothing_as_large_as_the_jacobian_is_made(recipe, monkeypatch):
    population = population_of(recipe)
    x, cotangents = example(population)
    d = sum(parameter.numel() for parameter in population.parameters)

    def largest() -> int:
        with Largest() as seen:
            found, direction = population.traced(x)[1].gramians(cotangents.numpy())
            direction(np.ones_like(found[:, 0]))
        return seen.elements

    assert largest() == d  # the direction
    monkeypatch.setattr(gramians_module, "_SMALL", d)
    assert largest() == K * d


def test_linear_layers_are_watched_no_longer_than_asked():
    network = sequential()(4)
    layers = linear_layers(network)

    def fail():
        with noted(layers) as calls:
            network(torch.zeros(2, 4))
            assert [len(own) for own in calls.calls] == [1, 1, 1]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert not any(layer._forward_hooks for layer in layers)
