"""The default network in closed form: logits and derivatives are those of the module and of autograd."""

import copy
import itertools
import pickle

import numpy as np
import pytest
import torch

from mamofair._descent import closed_form
from mamofair._descent.closed_form import Scratch
from mamofair._descent.networks import MLP, Population
from mamofair._descent.training import isolated
from mamofair.descent import pullback

FEATURES = 4


def population(size: int, recipe: MLP = MLP((6, 5), 0.3), dtype: torch.dtype = torch.float64) -> Population:
    with isolated(0):
        found = Population([recipe(FEATURES).to(dtype) for _ in range(size)])
    found.train()
    return found


def rows(n: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return torch.randn(n, FEATURES, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def by_autograd(networks: Population, x: torch.Tensor, cotangents: torch.Tensor):
    with isolated(5):  # the same dropout masks
        logits = networks(x)
    return logits.detach(), pullback(logits, cotangents, networks.parameters)


@pytest.mark.parametrize("n", [1, 9])
@pytest.mark.parametrize("hidden", [(), (6,), (6, 5), (6, 5, 3)], ids=str)
@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("library", [np, torch], ids=["cpu", "other devices"])
def test_logits_jacobian_and_gradient_are_those_of_autograd(library, size, hidden, n, monkeypatch):
    monkeypatch.setattr(closed_form, "_library", lambda device: library)
    networks, x, memory = population(size, MLP(hidden, 0.3)), rows(n), Scratch()
    for k in (1, 2, 3):  # with the same memory
        cotangents = torch.randn(k, size, n, generator=torch.Generator().manual_seed(k), dtype=x.dtype)
        expected, jacobian = by_autograd(networks, x, cotangents)
        with isolated(5):
            logits, pull = networks.traced(x, memory)
        torch.testing.assert_close(torch.as_tensor(logits), expected)
        found = torch.as_tensor(pull(cotangents.numpy()))
        torch.testing.assert_close(found, jacobian, rtol=1e-12, atol=1e-12)
        pull.assign_grad(networks.parameters, cotangents[0].numpy())
        found = torch.cat([parameter.grad.flatten(1) for parameter in networks.parameters], dim=1)
        torch.testing.assert_close(found, jacobian[0])


def test_in_single_precision_they_are_those_of_autograd_to_a_millionth():
    networks, x = population(2, MLP((60, 25), 0.2), torch.float32), rows(500, dtype=torch.float32)
    cotangents = torch.randn(2, 2, 500, generator=torch.Generator().manual_seed(1)) / 500
    expected, jacobian = by_autograd(networks, x, cotangents)
    with isolated(5):
        logits, pull = networks.traced(x)
    assert (torch.as_tensor(logits) - expected).norm() <= 1e-6 * expected.norm()
    assert (torch.as_tensor(pull(cotangents.numpy())) - jacobian).norm() <= 1e-6 * jacobian.norm()


def test_batches_of_other_sizes_and_changed_parameters_leave_no_trace_in_memory():
    memory, networks = Scratch(), population(2)
    for seed, n in enumerate([9, 8, 9, 7, 8, 9]):
        with torch.no_grad():
            for parameter in networks.parameters:
                parameter.add_(0.01)
        x, found = rows(n, seed), []
        cotangents = torch.randn(2, 2, n, generator=torch.Generator().manual_seed(seed), dtype=x.dtype)
        for own in (memory, Scratch()):
            with isolated(seed):
                logits, pull = networks.traced(x, own)
            found.append((logits, pull(cotangents.numpy()).copy()))
        assert all(np.array_equal(first, second) for first, second in zip(*found, strict=True))


def test_replaced_parameters_are_seen():
    networks, x = population(1), rows(5)
    with torch.no_grad():
        before = networks(x)
        networks.tensors = {name: tensor + 1 for name, tensor in networks.tensors.items()}
        assert not torch.equal(networks(x), before)


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda held: pickle.loads(pickle.dumps(held))], ids=["copy", "pickle"]
)
def test_copies_have_memory_of_their_own(copied):
    networks = population(2)
    with torch.inference_mode():
        networks(rows(900))
    assert len(pickle.dumps(networks)) < 50_000
    twin = copied(networks)
    with torch.no_grad():
        twin.tensors["layers.0.weight"].zero_()
        assert not torch.equal(twin(rows(5)), networks(rows(5)))


@pytest.mark.parametrize("dropout", [0.001, 0.1, 0.2, 0.5, 0.9, 0.999])
def test_dropout_leaves_out_its_share_and_keeps_the_mean(dropout):
    network = MLP((3,), dropout)(FEATURES)
    with isolated(1):
        drawn, slope = network.draw_kept(66_667, torch.device("cpu"))
    kept, share = torch.as_tensor(drawn), 1 - 1 / slope
    error = np.sqrt(share * (1 - share) / len(kept))
    assert abs(share - dropout) < 0.004
    assert abs((~kept).double().mean() - share) < 5 * error
    assert abs(slope * kept.double().mean() - 1) < 5 * error / (1 - share)
    neighbours = ~kept[:-1] & ~kept[1:]  # eight units share a random word
    assert abs(neighbours.double().mean() - share**2) < 5 * error


def test_each_batch_leaves_out_other_units_and_the_same_ones_again_from_the_same_random_state():
    network, drawn = MLP((3,), 0.5)(FEATURES), []
    for seed in (1, 1, 2):
        with isolated(seed):
            drawn += [network.draw_kept(200, torch.device("cpu"))[0] for _ in range(2)]
    assert np.array_equal(drawn[0], drawn[2])
    assert np.array_equal(drawn[1], drawn[3])
    for one, other in itertools.combinations([drawn[0], drawn[1], drawn[4], drawn[5]], 2):
        assert 0.4 < (one == other).mean() < 0.6


def test_without_dropout_nothing_is_drawn():
    network, before = MLP((3,), 0.0)(FEATURES).float(), torch.get_rng_state()
    network(rows(5, dtype=torch.float32))
    assert torch.equal(torch.get_rng_state(), before)
