"""The example for people who have a model already."""

import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_own_model_is_made_fair_without_training_it_again(capsys):
    found = runpy.run_path(str(EXAMPLES / "own_model.py"))["compare"](rows=1500, limit=0.03)
    assert found.loc["as it was", "gap"] > 0.1
    assert found.loc["made fair", "gap"] < 0.08
    assert found.loc["made fair", "error"] < found.loc["as it was", "error"] + 0.04
    assert "demographic_parity[sex]" in capsys.readouterr().out
