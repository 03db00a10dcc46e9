"""The examples for torch users run, and find what they promise."""

import runpy
from pathlib import Path

import torch
from torch.nn import Flatten, Linear, Sequential, SiLU

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_own_loop_finds_a_front_with_the_users_network():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = Sequential(Linear(49, 20), SiLU(), Linear(20, 1), Flatten(0))
        front = runpy.run_path(str(EXAMPLES / "own_loop.py"))["train"](network, epochs=3)
    assert front.columns == ["error", "demographic_parity[sex]", "demographic_parity[race]"]
    assert front.values[0, 0] < 0.21  # the constant's error is .24
    assert all(point.state.keys() == network.state_dict().keys() for point in front.points)


def test_own_loop_is_short():
    assert len((EXAMPLES / "own_loop.py").read_text().splitlines()) < 40


def test_weightings_of_torchjd_train_as_well_as_ours():
    example = runpy.run_path(str(EXAMPLES / "torchjd_weighting.py"))
    history = example["fit"](epochs=2).history_
    last = history[history["step"] == history["step"].max()].set_index("member")
    assert len(last) == len(example["WEIGHTINGS"])
    assert (last["cross_entropy"] < 0.5).all()  # it starts at .69
