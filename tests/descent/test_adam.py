"""Our Adam is torch's, to the last bit, and either goes on from the other's state."""

import copy
import pickle

import pytest
import torch

from mamofair._descent.adam import Adam
from mamofair._descent.memory import GradWriter, side_by_side
from mamofair.learners.network.state import filled

SETTINGS = [
    {},
    {"lr": 0.003},
    {"lr": 0.01, "betas": (0.8, 0.99), "eps": 1e-6},
    {"lr": 0.01, "weight_decay": 0.1},
]
SHAPES = [(3, 7, 5), (3, 7), (3, 1, 7), (3, 1), (2,)]  # the last one never has a gradient


def parameters(dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=random, dtype=dtype).requires_grad_() for shape in SHAPES]


def take_steps(optimizer, moved: list[torch.Tensor], steps: range) -> None:
    for step in steps:
        random = torch.Generator().manual_seed(step)
        for parameter in moved[:-1]:
            parameter.grad = torch.randn(parameter.shape, generator=random, dtype=parameter.dtype) * 10.0 ** (
                step % 5 - 2
            )
        optimizer.step()


def assert_same(ours, theirs) -> None:
    assert all(torch.equal(mine, other) for mine, other in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_steps_are_those_of_torch_to_the_last_bit(settings, dtype):
    mine, theirs = parameters(dtype), parameters(dtype)
    ours, reference = Adam(mine, **settings), torch.optim.Adam(theirs, **settings, fused=True)
    before = mine[0].detach().clone()
    take_steps(ours, mine, range(50))
    take_steps(reference, theirs, range(50))
    assert_same(mine, theirs)
    assert not torch.equal(mine[0], before)
    assert torch.equal(mine[-1], parameters(dtype)[-1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_parameters_one_after_another_in_memory_move_as_one_tensor_does(dtype):
    mine = [own[:1].detach().clone().requires_grad_() for own in parameters(dtype)[:-1]]
    whole = torch.cat([own.detach().flatten() for own in mine]).requires_grad_()
    ours, reference = Adam(mine, lr=0.01), torch.optim.Adam([whole], lr=0.01, fused=True)
    for steps in (range(5), range(5, 9)):  # apart again between the two
        with side_by_side(mine):
            write = GradWriter(mine)
            for step in steps:
                whole.grad = torch.randn(whole.shape, generator=torch.Generator().manual_seed(step), dtype=dtype)
                write(whole.grad.numpy()[None])
                ours.step()
                reference.step()
        assert torch.equal(torch.cat([own.flatten() for own in mine]), whole)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_they_are_those_of_the_textbook_but_for_rounding(settings):
    mine, theirs = parameters(torch.float64), parameters(torch.float64)
    take_steps(Adam(mine, **settings), mine, range(50))
    take_steps(torch.optim.Adam(theirs, **settings, foreach=False), theirs, range(50))
    for own, other in zip(mine, theirs, strict=True):
        torch.testing.assert_close(own, other, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("first", "second"), [("ours", "ours"), ("ours", "torch"), ("torch", "ours")])
def test_either_goes_on_from_the_state_of_the_other(first, second):
    def make(kind: str, moved: list[torch.Tensor]):
        return Adam(moved, lr=0.02) if kind == "ours" else torch.optim.Adam(moved, lr=0.02, fused=True)

    whole, parts = parameters(), parameters()
    take_steps(make("torch", whole), whole, range(20))
    start = make(first, parts)
    take_steps(start, parts, range(8))
    goes_on = make(second, parts)
    goes_on.load_state_dict(copy.deepcopy(start.state_dict()))
    take_steps(goes_on, parts, range(8, 20))
    assert_same(parts, whole)


def test_state_has_the_form_of_torch_and_is_not_moved_by_later_steps():
    mine, theirs = parameters(), parameters()
    ours, reference = Adam(mine, lr=0.02), torch.optim.Adam(theirs, lr=0.02, fused=True)
    named = {"decoupled_weight_decay": False}  # torch has named it since 2.7
    assert ours.state_dict() == {"state": {}, "param_groups": [named | reference.state_dict()["param_groups"][0]]}
    take_steps(ours, mine, range(3))
    take_steps(reference, theirs, range(3))
    held, expected = ours.state_dict(), reference.state_dict()
    first = held["state"][0]["exp_avg"].clone()
    assert held["param_groups"] == [named | expected["param_groups"][0]]
    assert held["state"].keys() == expected["state"].keys()
    for i, own in held["state"].items():
        assert own.keys() == expected["state"][i].keys()
        assert_same(own.values(), expected["state"][i].values())
    loaded = Adam(parameters(), lr=0.02)
    loaded.load_state_dict(held)
    take_steps(ours, mine, range(3, 5))
    assert [own["step"] for own in loaded.state_dict()["state"].values()] == [3] * (len(SHAPES) - 1)
    assert torch.equal(held["state"][0]["exp_avg"], first)


def test_a_state_comes_to_where_the_parameters_are():
    mine, elsewhere = parameters(), [own.detach().to("meta").requires_grad_() for own in parameters()]
    optimizer = Adam(mine)
    take_steps(optimizer, mine, range(2))
    for goes_on in (Adam(elsewhere), torch.optim.Adam(elsewhere, fused=False)):
        goes_on.load_state_dict(optimizer.state_dict())
        state = goes_on.state_dict()["state"]
        assert {tensor.device.type for own in state.values() for tensor in own.values()} == {"meta"}


def test_a_loaded_state_replaces_all_of_the_earlier_one():
    mine = parameters()
    optimizer, fresh = Adam(mine), Adam(mine)
    empty = fresh.state_dict()
    take_steps(optimizer, mine, range(2))
    optimizer.load_state_dict(empty)
    assert optimizer.state_dict() == empty
    take_steps(optimizer, mine, range(1))
    assert [int(own["step"]) for own in optimizer.state_dict()["state"].values()] == [1] * (len(SHAPES) - 1)


def test_a_checkpoint_of_a_torch_that_names_fewer_settings_goes_on_and_one_with_others_is_refused():
    whole, parts = parameters(), parameters()
    take_steps(Adam(whole, lr=0.02), whole, range(6))
    start = torch.optim.Adam(parts, lr=0.02, fused=True)
    take_steps(start, parts, range(3))
    held = start.state_dict()
    held["param_groups"][0].pop("decoupled_weight_decay", None)
    take_steps(filled(Adam(parts, lr=0.02), held), parts, range(3, 6))
    assert_same(parts, whole)
    for changed in ({"amsgrad": True}, {"weight_decay": 0.1}, {"betas": (0.5, 0.5)}, {"params": [0]}):
        with pytest.raises(ValueError, match="optimizer"):
            filled(Adam(parts, lr=0.02), held | {"param_groups": [held["param_groups"][0] | changed]})


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda both: pickle.loads(pickle.dumps(both))], ids=["copy", "pickle"]
)
def test_a_copy_moves_the_copied_parameters(copied):
    whole, mine = parameters(), parameters()
    take_steps(Adam(whole, lr=0.02), whole, range(6))
    optimizer = Adam(mine, lr=0.02)
    take_steps(optimizer, mine, range(3))
    twin, others = copied((optimizer, mine))
    take_steps(twin, others, range(3, 6))
    assert_same(others, whole)
    assert not torch.equal(mine[0], others[0])
