"""The examples for torch users run, and find what they promise."""

import runpy
from pathlib import Path

from torch.nn import Flatten, Linear, Sequential, SiLU

from mamofair._descent.training import isolated

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_own_loop_finds_a_front_with_the_users_network():
    with isolated(0):
        network = Sequential(Linear(49, 20), SiLU(), Linear(20, 1), Flatten(0))
        front = runpy.run_path(str(EXAMPLES / "own_loop.py"))["train"](network, epochs=3)
    assert front.columns == ["error", "demographic_parity[sex]", "demographic_parity[race]"]
    assert front.values[0, 0] < 0.21  # the constant's error is .24
    assert all(point.state.keys() == network.state_dict().keys() for point in front.points)


def test_own_loop_is_short():
    assert len((EXAMPLES / "own_loop.py").read_text().splitlines()) < 40


def test_weightings_of_torchjd_train_as_ours_do():
    example = runpy.run_path(str(EXAMPLES / "torchjd_weighting.py"))
    ours, same, other = example["fit"](epochs=2).history_.groupby("member")["cross_entropy"].last()
    assert abs(ours - same) < 0.03  # MGDA is min-norm by another solver; both start at .69
    assert other < 0.6
