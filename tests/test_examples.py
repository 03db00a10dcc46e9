"""What the examples show, asserted."""

import math
import runpy
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_tanh_follows_the_true_gap_far_better_than_linear_and_convex_concave():
    """The paper's Figure 1, on several draws of its toy data."""
    correlations = runpy.run_path(str(EXAMPLES / "relaxations.py"))["correlations"]
    for seed in range(3):
        found = correlations(size=21, random_state=seed)
        assert found["Tanh(c=3)"] > 0.98
        assert max(found["Linear()"], found["ConvexConcave()"]) < 0.5


def test_boosting_offers_points_within_several_limits():
    choices = runpy.run_path(str(EXAMPLES / "boosting.py"))["choices"]
    found = choices(limits=(1.0, 0.02), rows=6000, members=8, n_estimators=60)
    assert (found["error"] < 0.2).all()
    assert found["gap"].iloc[1] < found["gap"].iloc[0] / 2
    assert found["trees"].between(1, 60).all()


def test_choosing_draws_every_rule_that_finds_a_point(tmp_path):
    found = runpy.run_path(str(EXAMPLES / "choosing.py"))["main"](str(tmp_path / "choosing.png"), epochs=2)
    assert (tmp_path / "choosing.png").stat().st_size > 10_000
    assert {"closest to the ideal", "gap ≤ .05 as measured"} <= set(found)
    assert all(0 <= gap < 0.3 and 0.1 < error < 0.25 for gap, error in found.values())


def test_costs_and_capacity_lead_to_other_choices():
    found = runpy.run_path(str(EXAMPLES / "costs.py"))["compare"](rows=6000)
    assert found["cost"].idxmin() == "cost"
    assert found["error"].idxmin() == "error"
    assert found.loc["error, at most a tenth selected", "selected"] < 0.12
    assert (found["gap"] < 0.1).all()


def test_higher_ratios_are_reached_on_test_rows_and_cost_accuracy():
    found = runpy.run_path(str(EXAMPLES / "four_fifths.py"))["choices"](ratios=(0.0, 0.8), rows=5000)
    assert found["ratio"].iloc[0] < 0.5
    assert found["ratio"].iloc[1] > 0.7
    assert 0 < found["error"].iloc[1] - found["error"].iloc[0] < 0.05


def test_limit_within_departments_closes_gaps_there_and_one_overall_does_not():
    found = runpy.run_path(str(EXAMPLES / "departments.py"))["choices"](rows=4000).set_index("limited")
    overall, within = found.loc["demographic_parity"], found.loc["conditional_demographic_parity"]
    assert overall["overall"] < 0.1 < within["overall"]
    assert within["within"] < 0.1
    assert within["within"] < overall["within"]
    assert within["error"] < overall["error"]


def test_equal_promises_mean_unequal_mistakes_where_base_rates_differ(capsys):
    """Chouldechova's identity, on counts of Adult and in the lines of the picture."""
    example = runpy.run_path(str(EXAMPLES / "impossibility.py"))
    figure = example["main"](rows=6000, members=4, n_estimators=20)
    assert len(figure.axes) == 3
    assert "Female: 75% of predictions come true at TPR" in capsys.readouterr().out
    for tp, fp, base_rate in ((32, 8, 0.4), (48, 12, 0.6)):  # of 100 people each
        tpr, fpr = tp / (100 * base_rate), fp / (100 * (1 - base_rate))
        assert math.isclose(example["slope"](base_rate, kept=tp / (tp + fp)), tpr / fpr)
