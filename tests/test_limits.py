"""The estimated limit against the true one, and how it is drawn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from known_posteriors import World
from mamofair import FairPlugInClassifier, FairPortfolioClassifier
from mamofair.datasets import make_toy
from mamofair.fronts import Front, Point, Tally
from mamofair.limits import _line, frontier
from mamofair.notions import DEMOGRAPHIC_PARITY
from mamofair.tables import encoder

TOY = make_toy()
LINEAR = {"estimator": LogisticRegression(), "cv": 2, "random_state": 0}


@pytest.fixture(scope="module")
def front() -> Front:
    return FairPlugInClassifier(**LINEAR).fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive).front_


@pytest.fixture(scope="module")
def line() -> pd.DataFrame:
    return frontier(TOY.X, TOY.y, sensitive_features=TOY.sensitive, **LINEAR).frame()


def drawn(world, n, seed):
    """Return people of a world: which atom, as dummies, their label and their group."""
    rows = world.rows
    chosen = rows.iloc[np.random.default_rng(seed).choice(len(rows), n, p=rows["weight"])]
    return np.eye(len(world.atom))[chosen["x"]], chosen["y"], chosen["a"]


def test_line_is_close_to_the_true_one_and_more_rows_lead_towards_it():
    """Dummies and a logistic regression without a penalty can learn a world of a dozen atoms exactly."""
    world = World.random(12, seed=4)
    apart, above = [], []
    for seed in range(2):
        X, y, a = drawn(world, 4000, seed)
        line = frontier(X, y, sensitive_features=a, estimator=LogisticRegression(C=100), cv=3, random_state=0).frame()
        wanted = line.iloc[[5, 15, 25, 35]]
        truth = np.array([world.least_error({DEMOGRAPHIC_PARITY: limit}) for limit in wanted["gap"]])
        apart.append(np.abs(wanted["error"] - truth).max())
        above.append((wanted["more_rows"] - truth).mean())
    assert max(apart) < 0.025
    assert np.abs(above).max() < 0.02


def test_what_more_rows_may_bring_follows_from_a_quarter_and_half_of_them():
    """With an error of a + b n^−.7 the extrapolation is a."""
    rows = 1000
    line = {n: 0.1 + 3 * n**-0.7 for n in (rows / 4, rows / 2, rows)}
    criteria = ((DEMOGRAPHIC_PARITY, "sex"),)
    fronts = [Front((Point(of_error(error)),), criteria) for error in line.values()]
    found = _line(1, fronts[2], fronts[0], fronts[1], sampled=1.0)
    np.testing.assert_allclose(found["error"], line[rows], atol=1e-9)
    np.testing.assert_allclose(found["more_rows"], 0.1, atol=1e-9)


def test_a_quarter_and_half_of_a_sample_tell_what_more_rows_bring_to_a_model_of_all():
    sample, rows = 1000, 50_000
    criteria = ((DEMOGRAPHIC_PARITY, "sex"),)
    fronts = [Front((Point(of_error(0.1 + 3 * n**-0.7)),), criteria) for n in (sample / 4, sample / 2, rows)]
    found = _line(1, fronts[2], fronts[0], fronts[1], sampled=sample / rows)
    np.testing.assert_allclose(found["more_rows"], 0.1, atol=1e-9)


def of_error(error, gap=0.0):
    """Return the counts of decisions with this error and this gap, at most twice the error."""
    mistakes, more = np.array([-error, error, error, -error]) / 2, np.array([1, 1, -1, -1]) * gap / 4
    group = np.array([0.5, 0, 0, 0.5]) + mistakes
    return Tally({"": group[None], "sex": np.stack([group + more, group - more])})


@pytest.mark.parametrize("quarter", [(0.5, 0.12), (0.5, 0.5)])
def test_more_rows_promise_no_less_error_with_a_limit_than_without_and_never_less_than_none(quarter):
    """Few rows extrapolate to nonsense; a run with an error below 0 could not be read again."""
    criteria = ((DEMOGRAPHIC_PARITY, "sex"),)
    fair_and_free = [quarter, (0.2, 0.11), (0.2, 0.1)]
    less, more, all_rows = (
        Front((Point(of_error(fair)), Point(of_error(free, gap=0.2))), criteria) for fair, free in fair_and_free
    )
    line = _line(1, all_rows, less, more, sampled=1)
    assert line["gap"].iloc[-1] == pytest.approx(0.2)
    assert line["more_rows"].between(max(line["more_rows"].iloc[-1], 0), line["error"]).all()


def test_a_fitted_model_lends_its_front():
    model = FairPortfolioClassifier(effort="fast", random_state=0)
    model.fit(TOY.X, TOY.y, sensitive_features=TOY.sensitive)
    given = {"sensitive_features": TOY.sensitive, "effort": "fast", "random_state": 0}
    line = frontier(TOY.X, TOY.y, model=model, **given).frame()
    useful = model.front_.values[~model.front_.is_constant]
    least = np.interp(useful[:, 1], line["gap"], line["error"])
    assert (useful[:, 0] >= least - 1e-3).all()  # the line has 41 steps
    assert line["error"].iloc[-1] == pytest.approx(useful[:, 0].min())
    of_many = frontier(TOY.X, TOY.y, model=model, rows=16 * len(TOY.X), **given).frame()
    gains = (own["error"] - own["more_rows"] for own in (line, of_many))
    np.testing.assert_allclose(next(gains) * 16**-0.7, next(gains), atol=1e-12)


def test_limit_is_a_convex_line_for_each_gap():
    region = np.random.default_rng(0).choice(["north", "south"], len(TOY.X))
    limit = frontier(
        TOY.X,
        TOY.y,
        sensitive_features=TOY.sensitive.assign(region=region),
        notions=["dp", "tpr"],
        **LINEAR,
    )
    names = ["demographic_parity[group]", "equal_opportunity[group]"]
    names += ["demographic_parity[region]", "equal_opportunity[region]"]
    frame = limit.frame()
    assert frame["criterion"].unique().tolist() == names
    assert "without demographic_parity[group]," in repr(limit)
    for _, line in frame.groupby("criterion"):
        assert (line["more_rows"] <= line["error"] + 1e-12).all()
        assert line["gap"].is_monotonic_increasing
        slope = np.diff(line["error"])
        assert (slope <= 1e-12).all()
        falling = np.flatnonzero(slope < -1e-12)[0] + 1  # level at first, below the smallest gap
        assert (np.diff(slope[falling:]) >= -1e-9).all()


def test_no_point_of_the_same_rules_lies_below_the_limit(front, line):
    """Rules whose threshold moved as well are other rules."""
    least = np.interp(front.values[:, 1], line["gap"], line["error"])
    same = ~front.is_constant & [point.state["multipliers"][-1] == 0 for point in front]
    assert same.sum() > 5
    assert (front.values[same, 0] >= least[same] - 5e-3).all()


def test_groups_below_min_group_do_not_count():
    chosen = (TOY.y == 1) & ((TOY.y == 1).cumsum() <= 20)  # nearly all of whom a good model selects
    few = TOY.sensitive["group"].astype(object).where(~chosen, "few")
    with pytest.warns(UserWarning, match=r"left out of its gaps: 'few' \(20\)"):
        default = frontier(TOY.X, TOY.y, sensitive_features=few, **LINEAR).frame()
    unknown, whole = (
        frontier(TOY.X, TOY.y, sensitive_features=people, min_group=20, **LINEAR).frame()
        for people in (few.where(few != "few", None), few)
    )
    pd.testing.assert_frame_equal(default, unknown)
    assert whole["gap"].iloc[-1] > default["gap"].iloc[-1]


def test_weights_and_seeds_count(line):
    weight = np.where(TOY.y == 1, 3.0, 1.0)
    once, twice = (
        frontier(TOY.X, TOY.y, sensitive_features=TOY.sensitive, sample_weight=weight, **LINEAR).frame()
        for _ in range(2)
    )
    assert not np.allclose(line["error"], once["error"])
    np.testing.assert_array_equal(once.drop(columns="criterion"), twice.drop(columns="criterion"))


def test_limit_is_drawn_behind_the_front(front, line):
    [panel] = front.plot(frontier=line, selected=0).axes
    [points] = (one for one in panel.collections if one.get_label() == "points of the front")
    band = min(panel.collections, key=lambda one: one.get_zorder())
    assert type(band) is not type(points)
    [drawn] = (one for one in panel.lines if one.get_label() == "best found")
    np.testing.assert_array_equal(drawn.get_ydata(), line["error"])
    assert {"best found", "with more rows, perhaps"} <= {text.get_text() for text in panel.get_legend().get_texts()}


def test_text_is_refused_in_one_sentence_unless_the_estimator_takes_it():
    table = TOY.X.assign(x1=np.where(TOY.X["x1"] > 0, "tall", "small"))
    with pytest.raises(ValueError, match=r"^X must be numeric: .*'(tall|small)'\. Encode .*encoder\(\)"):
        frontier(table, TOY.y, sensitive_features=TOY.sensitive, estimator=LogisticRegression())
    with pytest.raises(ValueError, match=r"^X must be numeric: .*encoder\(\)"):
        FairPlugInClassifier(LogisticRegression()).fit(table, TOY.y, sensitive_features=TOY.sensitive)
    for takes_it in (make_pipeline(encoder(), LogisticRegression()), None):
        limit = frontier(
            table, TOY.y, sensitive_features=TOY.sensitive, estimator=takes_it, cv=2, effort="fast", random_state=0
        )
        assert len(limit.frame())
