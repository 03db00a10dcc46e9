"""The picture on the page of notions shows what the small proof says."""

import math
import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples" / "impossibility.py"


def test_equal_promises_mean_unequal_mistakes_where_base_rates_differ(capsys):
    """Chouldechova's identity, on counts of Adult and in the lines of the picture."""
    example = runpy.run_path(str(EXAMPLE))
    figure = example["main"](rows=6000, members=4, n_estimators=20)
    assert len(figure.axes) == 3
    assert "Female: 75% of predictions come true at TPR" in capsys.readouterr().out
    for tp, fp, base_rate in ((32, 8, 0.4), (48, 12, 0.6)):  # of 100 people each
        tpr, fpr = tp / (100 * base_rate), fp / (100 * (1 - base_rate))
        assert math.isclose(example["slope"](base_rate, kept=tp / (tp + fp)), tpr / fpr)
