"""`calibration_fraction="plan"`: the rows that count are held back, and the others still stand for everyone."""

import numpy as np
import pandas as pd
import pytest

from mamofair import (
    ClosestToIdeal,
    FairBoostingClassifier,
    FairNetClassifier,
    FairPlugInClassifier,
    FairPortfolioClassifier,
    MostAccurateWithin,
    load,
)
from mamofair.metrics import front_intervals
from mamofair.runs import Run, save
from mamofair.selection import plan_calibration

pytestmark = pytest.mark.usefixtures("short_search")

RULE = MostAccurateWithin(0.25, confidence=0.8)
KINDS = {
    "net": lambda **own: FairNetClassifier(epochs=2, members=3, **own),
    "boosting": lambda **own: FairBoostingClassifier(n_estimators=3, members=2, **own),
    "plugin": lambda **own: FairPlugInClassifier(effort="fast", cv=2, **own),
    "portfolio": lambda **own: FairPortfolioClassifier(effort="fast", **own),
}


def table(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.random(n) < 0.35
    X = rng.normal(size=(n, 3)) + 0.5 * sex[:, None]
    y = (X[:, 0] + rng.normal(size=n) - 0.6 * sex > 0.5).astype(int)
    return X, y, pd.DataFrame({"sex": np.where(sex, "F", "M")})


def fit(kind, rows, **parameters):
    X, y, people = rows
    given = {"selection": RULE, "calibration_fraction": "plan", "random_state": 0} | parameters
    return KINDS[kind](**given).fit(X, y, sensitive_features=people)


@pytest.mark.parametrize("kind", KINDS)
def test_each_gap_is_tested_on_the_rows_that_the_plan_names(kind):
    rows = table()
    model = fit(kind, rows, notions=["demographic_parity", "equal_opportunity"])
    plan = plan_calibration(rows[1], sensitive_features=rows[2], limit=0.25, confidence=0.8, notions=["dp", "tpr"])
    for point in model.front_:
        tables = {name: counts.sum(axis=1).tolist() for name, counts in point.calibration.counts.items()}
        for name, part in plan.frame().groupby("gap"):
            assert tables[name] == part["needed"].tolist()
        assert tables[""] == [0]  # these rows are like nobody as a whole
    sizes = model.search_.sizes
    assert sizes["calibration"] < plan.frame()["needed"].sum()  # a row serves both gaps
    assert RULE.answer(model.front_).status in ("certified", "not enough data", "no solution")


@pytest.mark.parametrize("kind", ["plugin", "net"])
def test_rows_that_are_left_are_weighted_to_be_like_everyone(kind):
    rows = table()
    model = fit(kind, rows, notions="equal_opportunity", validation_fraction=0.5)
    counts = model.front_[0].valid.counts["sex"]
    share = counts.sum() / len(rows[1])
    for i, group in enumerate(("F", "M")):
        own = rows[1][rows[2]["sex"] == group]
        labels = np.array([counts[i, 0] + counts[i, 2], counts[i, 1] + counts[i, 3]])
        wanted = share * np.array([own.sum(), (1 - own).sum()])
        np.testing.assert_allclose(labels, wanted, rtol=1e-9 if kind == "plugin" else 0.02)


def test_a_planned_front_survives_saving(tmp_path):
    model = fit("plugin", table(), notions="equal_opportunity")
    save(Run(model, {"data": {}}, {"sex": ("F", "M")}), tmp_path / "run")
    again = load(tmp_path / "run")
    assert str(RULE.answer(again.front_)) == str(RULE.answer(model.front_))
    assert again.search_.sizes == model.search_.sizes


def test_every_row_has_one_part():
    X, y, people = table()
    sizes = fit("net", (X, y, people), notions="equal_opportunity").search_.sizes
    assert sum(sizes.values()) == len(y)


def test_the_error_of_planned_rows_is_nobodys():
    model = fit("plugin", table(), notions="equal_opportunity")
    with pytest.raises(ValueError, match="needs calibration rows that represent everyone: found rows of a plan"):
        front_intervals(model.front_, part="calibration")


def test_a_mask_of_validation_rows_keeps_its_rows():
    X, y, people = table()
    mask = np.arange(len(y)) % 3 == 0
    model = fit("net", (X, y, people), notions="equal_opportunity", validation_fraction=mask)
    assert model.search_.sizes["validation"] == mask.sum()


def test_what_a_plan_needs():
    X, y, people = table(300)
    with pytest.raises(ValueError, match="must have a limit to plan for: found selection=ClosestToIdeal"):
        fit("plugin", (X, y, people), selection=ClosestToIdeal())
    with pytest.raises(ValueError, match="must have rows of equal weight"):
        KINDS["plugin"](selection=RULE, calibration_fraction="plan").fit(
            X, y, sensitive_features=people, sample_weight=np.ones(len(y))
        )
    with pytest.raises(ValueError, match=r"must have more rows of 'F' with a favorable label: found \d+, if half"):
        fit("plugin", (X, y, people), notions="tpr", selection=MostAccurateWithin(0.02, confidence=0.95))
    with pytest.raises(ValueError, match="must be a number to train from a stream: found 'plan'"):
        KINDS["net"](selection=RULE, calibration_fraction="plan").fit_stream([(X, y, people)])
    with pytest.raises(ValueError, match="at least 0 and less than 1, or 'plan': found 'most'"):
        fit("plugin", (X, y, people), calibration_fraction="most")
