"""A choice that is of use: never worse than one decision for everyone while a useful point exists."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import SELECTIONS
from examples_of_points import criteria, front, point
from mamofair import FairPlugInClassifier
from mamofair.fronts import Front, Point, Tally
from mamofair.performance import Cost
from mamofair.selection import ClosestToIdeal, FairestWithin, Knee, MostAccurateWithin, Weighted
from mamofair.selection._uncertainty import performance_errors

A = "demographic_parity[a]"
RULES = [ClosestToIdeal(), Knee(), Weighted({A: 1}), MostAccurateWithin(0.05), MostAccurateWithin(0.05, margin=0)]


@given(
    st.lists(st.tuples(st.integers(300, 700), st.integers(0, 499)), min_size=1, max_size=12, unique=True),
    st.sampled_from(RULES),
)
def test_no_rule_returns_a_point_that_loses_to_a_constant_while_a_useful_one_exists(rows, rule):
    """One decision for everyone errs 500 times in 1,000; to be useful, a point must beat it by a standard error."""
    ours = front(*rows)
    choice = rule.choose(ours)
    errors = performance_errors(ours, ours.performance)
    useful = ours.values[:, 0] + errors <= 0.5
    assert useful.any() == useful[choice.row]
    if not useful.any():
        assert choice.row == ours.values[:, 0].argmin()
        assert "No model is better than one decision for everyone by a standard error" in choice.note


def test_a_constant_is_chosen_if_it_is_allowed_even_beside_useful_points():
    ours = front((300, 200), (500, 0), constants=(1,))
    assert Weighted({A: 1})(ours) == 0
    assert Weighted({A: 1}, allow_constant=True)(ours) == 1
    assert Weighted({A: 1}, allow_constant=True).choose(ours).note is None


def test_with_costs_the_best_constant_is_that_of_the_costs():
    """A tenth of the people have the favorable label: denying everyone is hard to beat in errors, easy in costs."""
    cells = np.array([[80.0, 120, 20, 780]])  # TP, FP, FN, TN: an error of .14, and a cost of .32 where misses cost 10
    ours = Front((Point(Tally({"": cells, "a": np.vstack([cells, cells])})),), criteria(1))
    assert ClosestToIdeal().choose(ours).note is not None
    assert ClosestToIdeal(performance=Cost(fp=1, fn=10)).choose(ours).note is None
    assert ClosestToIdeal(performance="balanced_error").choose(ours).note is None


@pytest.mark.parametrize(("select_rate", "constant"), [(None, 0.4), (0.3, 0.4), ((0.2, 0.3), 0.44), ((0.9, 1.0), 0.58)])
def test_the_best_constant_selects_a_share_that_is_allowed(select_rate, constant):
    """Of 1,000 people 400 have the label. Selecting a share s of all at random errs .4(1 − s) + .6 s times."""
    cells = np.array([[300.0, 100, 100, 500]])
    ours = Front((Point(Tally({"": cells, "a": np.vstack([cells, cells])})),), criteria(1))
    assert ClosestToIdeal(select_rate=select_rate).of_best_constant(ours) == pytest.approx(constant)


def test_a_fallback_is_noted_on_the_estimator_and_warned_of_once(recwarn):
    rng = np.random.default_rng(0)
    X, sex = rng.normal(size=(300, 2)), rng.choice(["f", "m"], 300)
    y = (X[:, 0] + (sex == "m") > 0.5).astype(int)
    model = FairPlugInClassifier(effort="fast", selection=MostAccurateWithin(0.0), random_state=0)
    model.fit(X, y, sensitive_features=sex)
    [warned] = [str(one.message) for one in recwarn]
    assert warned == model.selection_note_
    assert "models is useful and within the limits by 1 standard error on these rows" in warned
    model.predict(X)
    assert len(recwarn) == 1
    within = model.with_selection(MostAccurateWithin(1.0))
    assert within.selection_note_ is None
    assert model.at(3).selection_note_ is None  # chosen by hand
    assert len(recwarn) == 1


def test_rules_of_the_contract_say_whether_they_fell_back():
    ours = Front(tuple(point(error, 200) for error in (100, 200)), criteria(1))
    for rule in SELECTIONS:
        if isinstance(rule, ClosestToIdeal | Knee):
            assert rule.choose(ours).note is None
    with pytest.raises(ValueError, match="No point has error ≤ 0\\.05"):
        FairestWithin(0.05)(ours)
