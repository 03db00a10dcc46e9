"""What the examples show, asserted."""

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
