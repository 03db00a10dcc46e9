"""Conflict: on histories made by hand, and on a real one."""

import numpy as np
import pandas as pd
import pytest

from mamofair import FairNetClassifier, MinNorm
from mamofair.datasets import make_toy
from mamofair.explanations import conflict

GAP = "demographic_parity[black and poor]"  # a name that looks like two
COSINE = f"cosine of cross_entropy and {GAP}"


def history(cosines: list[float]) -> pd.DataFrame:
    n = len(cosines)
    weights = {"weight of cross_entropy": np.linspace(0.5, 1, n), f"weight of {GAP}": np.linspace(0.5, 0, n)}
    return pd.DataFrame({"step": range(n), "member": 0, **weights, COSINE: cosines})


def test_cosines_are_summarised_over_measured_moments():
    found = conflict(history([-0.9, np.nan, -0.3, 0.1, 0.2, 0.3, 0.7]))
    [row] = found.frame().to_dict("records")
    assert (row["first"], row["second"], row["moments"]) == ("cross_entropy", GAP, 6)
    assert row["mean"] == pytest.approx(0.1 / 6)
    assert row["early"] == pytest.approx(-0.6)  # epochs 0 to 2
    assert row["late"] == pytest.approx(0.4)  # epochs 4 to 6
    assert row["opposed"] == pytest.approx(2 / 6)
    weights = found.weights().set_index("objective")
    np.testing.assert_allclose(weights.loc[GAP], [0.25, 0.0, 0.5])


@pytest.mark.parametrize(
    ("cosines", "often"),
    [([-1.0] * 4, "always"), ([1.0] * 4, "never"), ([-1.0] * 3 + [1.0], "mostly"), ([-1.0, 1.0], "sometimes")],
)
def test_sentences_say_how_often_the_goals_were_at_odds(cosines, often):
    first, last = conflict(history(cosines)).sentences()
    against = sum(cosine < 0 for cosine in cosines)
    assert first == (
        f"Being accurate and closing the gap in demographic parity by black and poor {often} pulled against each "
        f"other: at {against} of the {len(cosines)} moments of training at which it was measured."
    )
    assert last == (
        "Of the weight in training, 75% went to being accurate and 25% went to closing the gap in demographic parity "
        "by black and poor, on average."
    )


def test_a_history_without_cosines_is_refused_and_one_without_values_says_so():
    with pytest.raises(ValueError, match="'cosine of …'"):
        conflict(pd.DataFrame({"bound": [1.0]}))
    assert "was not measured" in str(conflict(history([np.nan, np.nan])))


def test_a_real_history_gives_cosines_and_the_weights_that_were_used():
    toy = make_toy()
    model = FairNetClassifier(["dp", "tpr"], members=[MinNorm()], epochs=4, random_state=0)
    found = conflict(model.fit(toy.X, toy.y, sensitive_features=toy.sensitive).history_)
    assert len(found.frame()) == 3
    assert found.frame()["mean"].abs().max() <= 1
    assert found.frame()["moments"].tolist() == [4, 4, 4]
    assert found.weights()["mean"].sum() == pytest.approx(1)
