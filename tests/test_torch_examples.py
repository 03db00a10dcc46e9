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


def test_a_trained_model_is_made_fairer_and_loses_no_more_accuracy_than_allowed():
    example = runpy.run_path(str(EXAMPLES / "fine_tuning.py"))
    with isolated(0):
        fair, table = example["fine_tune"](epochs=3, members=4)
    before, chosen = fair.selection.limit - example["LOSS"], fair.front_.values[fair.selected_]
    assert chosen[0] <= fair.selection.limit
    assert fair.front_.values[0, 0] <= before  # the model itself, or what beats it
    assert chosen[1] < fair.front_.values[0, 1]
    assert table.loc["fine-tuned", "gap"] < table.loc["in production", "gap"]
    assert table.loc["fine-tuned", "error"] < table.loc["in production", "error"] + 2 * example["LOSS"]


def test_decisions_that_hang_on_sex_are_made_rarer():
    found = runpy.run_path(str(EXAMPLES / "counterfactual.py"))["compare"](rows=4000, epochs=4, members=6)
    assert found.loc["flips ≤ .01", "flips"] < found.loc["most accurate", "flips"]
    assert (found["error"] < 0.24).all()  # of the constant


def test_weightings_of_torchjd_train_as_ours_do():
    example = runpy.run_path(str(EXAMPLES / "torchjd_weighting.py"))
    ours, same, other = example["fit"](epochs=2).history_.groupby("member")["cross_entropy"].last()
    assert abs(ours - same) < 0.03  # MGDA is min-norm by another solver; both start at .69
    assert other < 0.6
