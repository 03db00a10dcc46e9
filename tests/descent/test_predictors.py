"""Logits with given parameters, whatever the module does to itself and to its input."""

import pickle

import torch
from torch import Tensor, nn

from mamofair._descent.predictors import Predictor


class Careless(nn.Module):
    """Works in place on what it is given, on a buffer and on its own attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.register_buffer("seen", torch.zeros(()))
        self.notes: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        self.seen += len(x)
        logits = self.layer(x.mul_(2) if torch.is_inference_mode_enabled() else x)
        self.notes.append(logits)
        return nn.functional.dropout(logits + self.seen, 0.5, self.training)


def test_calls_do_not_change_the_network_the_parameters_or_the_rows():
    network, x = Careless(), torch.ones(4, 3)
    network(x)  # notes the result of a computation, which torch refuses to copy
    predictor = Predictor(network)
    state = {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
    other = {name: tensor + 1 for name, tensor in state.items()}
    expected = (2 * x) @ state["layer.weight"][0] + state["layer.bias"] + state["seen"] + 4
    for _ in range(2):
        torch.testing.assert_close(predictor(state, x), expected)
        assert not torch.equal(predictor(other, x), expected)
    assert network.training
    assert len(network.notes) == 1
    assert torch.equal(x, torch.ones(4, 3))
    assert state["seen"] == 4


def test_a_copy_in_a_pickle_is_no_larger_for_having_been_used():
    predictor = Predictor(nn.Linear(100, 1))
    state = dict(nn.Linear(100, 1).state_dict())
    before = len(pickle.dumps(predictor))
    predictor(state, torch.zeros(2, 100))
    assert len(pickle.dumps(predictor)) == before
    assert torch.equal(
        pickle.loads(pickle.dumps(predictor))(state, torch.ones(2, 100)), predictor(state, torch.ones(2, 100))
    )
