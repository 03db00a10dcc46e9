"""Fronts by ratio: what the plug-in rule finds, what runs keep, and what the command line takes."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

import mamofair
from estimators.small_fits import GROUP, SMALL, X, Y
from mamofair import FairBoostingClassifier, FairNetClassifier, FairPlugInClassifier, MostAccurateWithin
from mamofair.cli import app
from mamofair.explanations import who_pays
from mamofair.fronts._front import measure_points
from mamofair.metrics import gap
from mamofair.notions import DEMOGRAPHIC_PARITY, ratio
from mamofair.runs import save
from run_fits import run_of

LIMITS = (0.6, 0.4, 0.3, 0.2, 0.1, 0.05)


def least_errors(values):
    return np.array([values[values[:, 1] <= limit, 0].min() for limit in LIMITS])


@pytest.mark.parametrize("notion", ["demographic_parity", "equal_opportunity"])
@pytest.mark.parametrize("aware", [True, False])
def test_front_by_ratio_is_at_least_as_good_at_limits_on_ratios_as_that_by_differences(notion, aware):
    """On the rows that both searches saw; up to six rows of chance where thresholds are not searched exhaustively."""
    model = FairPlugInClassifier(LogisticRegression(), notion, aware=aware, random_state=0)
    theirs = model.fit(X, Y, sensitive_features=GROUP).front_
    ours = model.set_params(notions=f"{notion}_ratio").fit(X, Y, sensitive_features=GROUP).front_
    slack = 1e-9 if aware else 6 / len(X) + 1e-9
    errors, others = (least_errors(measure_points(front.points, ours.criteria)) for front in (ours, theirs))
    assert (errors <= others + slack).all()
    assert errors[-1] > errors[0]  # limits cost something, so the comparison says something


@pytest.mark.parametrize(
    "make",
    [
        lambda: FairNetClassifier(**SMALL, notions=["dp_ratio", "tpr"], random_state=0),
        lambda: FairBoostingClassifier(notions=["dp_ratio", "tpr"], n_estimators=5, members=3, random_state=0),
        lambda: FairPlugInClassifier(LogisticRegression(), ["dp_ratio", "tpr"], effort="fast", random_state=0),
    ],
    ids=["net", "boosting", "plugin"],
)
def test_every_learner_finds_saves_and_loads_a_front_by_ratio(make, tmp_path):
    model = make().fit(X, Y, sensitive_features=GROUP)
    assert model.front_.columns == ["error", "demographic_parity_ratio[group]", "equal_opportunity[group]"]
    again = mamofair.load(save(run_of(model), tmp_path / "run"))
    assert again.notions_ == model.notions_
    assert again.front_.criteria[0][0] == ratio(DEMOGRAPHIC_PARITY)
    pd.testing.assert_frame_equal(again.front_.frame(), model.front_.frame(), check_exact=True)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_gaps_before_and_after_are_explained_by_ratio():
    before, after = np.repeat([[0, 1]], 50, axis=0).ravel(), np.ones(100, dtype=int)
    group = np.repeat([0, 1], 50)
    before[group == 1] = 1
    changed = who_pays(before, after, sensitive_features=group, notions="dp_ratio", favorable=1)
    [row] = changed.gaps().itertuples(index=False)
    expected = [gap(before, each, sensitive_features=group, notion="dp_ratio", favorable=1) for each in (before, after)]
    assert [row.before, row.after] == expected == [0.5, 0.0]
    assert row.by_gains == 0.5
    assert row.by_losses == 0


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("ratios") / "toy.csv"
    X.assign(y=Y, **GROUP).to_csv(path, index=False)
    return path


def run(*arguments):
    done = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    return json.loads(done.stdout)


def test_command_line_takes_the_name_of_a_ratio(table, tmp_path):
    asked = table, "--target", "y", "--sensitive", "group", "--notion", "demographic_parity_ratio"
    fast = "--model", "plugin", "--effort", "fast", "--no-limit", "--out", tmp_path / "run"
    said = run("train", *asked, *fast, "--within", 0.2, "--margin", 0)
    assert said["within"] == 0.2
    model = mamofair.load(tmp_path / "run")
    assert model.front_.columns[1] == "demographic_parity_ratio[group]"
    assert model.selection == MostAccurateWithin(0.2, margin=0)
    people = pd.read_csv(table)
    people.assign(decided=people["y"]).to_csv(tmp_path / "decided.csv", index=False)
    decided = tmp_path / "decided.csv", *asked[1:], "--prediction", "decided", "--limit", 0.2
    [row] = run("audit", *decided)["gaps"]
    assert row["gap"] == gap(people["y"], people["y"], sensitive_features=people["group"], notion="dp_ratio")
