"""Networks and populations of them: a member is what its network would be alone."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from mamofair._descent.networks import MLP, Average, Population


class WithBuffers(nn.Module):
    """Normalises, drops out, has a parameter nobody uses and one that is frozen."""

    def __init__(self, n_features: int):
        super().__init__()
        self.first = nn.Linear(n_features, 8)
        self.norm = nn.BatchNorm1d(8)
        self.drop = nn.Dropout(0.3)
        self.last = nn.Linear(8, 1)
        self.unused = nn.Linear(2, 2)
        self.first.weight.requires_grad_(False)

    def forward(self, x):
        return self.last(self.drop(torch.relu(self.norm(self.first(x)))))


RECIPES = {"MLP": MLP((7, 5), 0.3), "any module": WithBuffers}


def networks(recipe, size: int = 3) -> list[nn.Module]:
    built = []
    for seed in range(size):
        torch.manual_seed(seed)
        built.append(recipe(4))
    return built


@pytest.fixture(autouse=True)
def random_numbers_of_our_own():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        yield


@pytest.fixture(params=RECIPES)
def recipe(request):
    return RECIPES[request.param]


def test_population_gives_the_logits_of_each_network(recipe):
    members, x = networks(recipe), torch.randn(20, 4)
    population = Population(members)
    population.train(False)
    logits = population(x)
    for own, network in zip(logits, members, strict=True):
        torch.testing.assert_close(own, network.eval()(x).reshape(-1))


def test_state_of_a_member_is_a_state_dict_of_its_network(recipe):
    population, x = Population(networks(recipe)), torch.randn(20, 4)
    population.train(False)
    logits = population(x)
    for i in range(population.size):
        alone = recipe(4).eval()
        alone.load_state_dict(population.state(i))
        torch.testing.assert_close(alone(x).reshape(-1), logits[i])


def test_state_is_a_copy(recipe):
    population = Population(networks(recipe))
    before = population.state(1)
    with torch.no_grad():
        for tensor in population.tensors.values():
            tensor.zero_()
    assert all(tensor.abs().sum() > 0 for name, tensor in before.items() if name.endswith("weight"))


def test_building_a_population_leaves_the_networks_alone(recipe):
    members = networks(recipe)
    before = [{name: tensor.clone() for name, tensor in member.state_dict().items()} for member in members]
    population = Population(members)
    population(torch.randn(20, 4)).sum().backward()
    with torch.no_grad():
        for parameter in population.parameters:
            parameter.add_(1.0)
    for member, old in zip(members, before, strict=True):
        assert all(torch.equal(tensor, old[name]) for name, tensor in member.state_dict().items())


def test_members_share_the_dropout_mask_and_steps_do_not(recipe):
    [network] = networks(recipe, 1)
    population, x = Population([network, network]), torch.randn(20, 4)
    population.train()
    first, second = population(x), population(x)
    assert torch.equal(first[0], first[1])
    assert not torch.equal(first[0], second[0])


def test_stacked_dropout_drops_and_rescales_as_torch_does():
    network = MLP((500,), 0.4)(4)
    nn.init.ones_(network.layers[1].weight)
    population, x = Population([network]), torch.randn(1, 4)
    population.train(False)
    [plain] = population(x)
    population.train()
    dropped = torch.stack([population(x)[0, 0] for _ in range(400)])
    alone = torch.stack([network.train()(x)[0] for _ in range(400)])
    for sample in (dropped, alone):  # the mean is kept; five standard errors
        assert abs(sample.mean() - plain) < 5 * sample.std() / np.sqrt(len(sample))
    torch.testing.assert_close(dropped.std(), alone.std(), rtol=0.25, atol=0)


def test_gradients_of_a_population_are_those_of_its_networks(recipe):
    members, x = [network.double() for network in networks(recipe)], torch.randn(20, 4, dtype=torch.float64)
    population = Population(members)
    population.train(False)
    grads = torch.autograd.grad(population(x).square().sum(), population.parameters, allow_unused=True)
    trained = [name for name, tensor in population.tensors.items() if tensor.requires_grad]
    for i, network in enumerate(members):
        parameters = dict(network.eval().named_parameters())
        network(x).square().sum().backward()
        for name, grad in zip(trained, grads, strict=True):
            own = parameters[name].grad
            assert (own is None) == (grad is None)
            if own is not None:
                torch.testing.assert_close(grad[i], own)


def test_statistics_of_normalisation_belong_to_each_member():
    population, x = Population(networks(WithBuffers)), torch.randn(20, 4)
    population.train()
    population(x)
    for i, network in enumerate(networks(WithBuffers)):
        mean = functional.linear(x, network.first.weight, network.first.bias).mean(0)
        torch.testing.assert_close(population.state(i)["norm.running_mean"], 0.1 * mean)
        assert population.state(i)["norm.num_batches_tracked"] == 1


def test_frozen_parameters_are_not_trained_but_kept():
    population = Population(networks(WithBuffers))
    assert "first.weight" in population.state(0)
    assert len(population.parameters) == len(list(WithBuffers(4).parameters())) - 1


def test_prediction_draws_no_random_numbers(recipe):
    population, before = Population(networks(recipe)), torch.get_rng_state()
    population.train(False)
    population(torch.zeros(2, 4))
    assert torch.equal(torch.get_rng_state(), before)


def test_average_without_decay_is_the_population_and_with_decay_lags_behind(recipe):
    population = Population(networks(recipe))
    start = population.copy()
    newest, slow = Average(population, 0.0), Average(population, 0.9)
    with torch.no_grad():
        for parameter in population.parameters:
            parameter.add_(1.0)
    for average in (newest, slow):
        average.following(population)()
    for before, now, latest, lagging in zip(
        *(part.stacks for part in (start, population, newest.population, slow.population)), strict=True
    ):
        assert torch.equal(latest, now)
        assert ((before <= lagging) & (lagging <= now)).all()
    follow = slow.following(population)
    for _ in range(200):
        follow()
    for now, lagging in zip(population.stacks, slow.population.stacks, strict=True):
        torch.testing.assert_close(now.detach(), lagging, atol=1e-4, rtol=0)
    with pytest.raises(ValueError, match="decay"):
        Average(population, 1.0)


def test_lost_parameters_are_reported():
    population = Population(networks(MLP((3,))))
    population.require_finite(step=7)
    with torch.no_grad():
        population.tensors["layers.0.bias"][1, 0] = torch.nan
    with pytest.raises(FloatingPointError, match=r"layers\.0\.bias .* step 7"):
        population.require_finite(step=7)


def test_small_networks_are_told_from_large_ones():
    assert Population([MLP((60, 25))(49)]).is_small
    assert not Population([MLP((2000, 1000))(49)]).is_small


def test_weights_of_the_published_network_are_drawn_as_its_code_draws_them():
    network = MLP((200, 100), weight_std=0.02)(50)
    for name, parameter in network.named_parameters():
        if "bias" in name:
            assert not parameter.any()
        else:
            torch.testing.assert_close(parameter.std().item(), 0.02, rtol=0.2, atol=0)


@pytest.mark.parametrize("wrong", [{"hidden": (3, 0)}, {"dropout": 1.0}, {"dropout": -0.1}], ids=str)
def test_recipe_checks_itself(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        MLP(**wrong)
