"""The examples of the gallery run on few rows, draw what they promise, and show what their prose says."""

import runpy
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

import matplotlib
import numpy as np
import pytest
import torch
from lightgbm import LGBMClassifier
from matplotlib import pyplot as plt
from sklearn.ensemble import HistGradientBoostingClassifier

from mamofair import FairNetClassifier, MostAccurateWithin
from mamofair.datasets import load_adult
from mamofair.learners.plugin.proposals import ROUNDS

EXAMPLES = Path(__file__).parents[1] / "examples"

# With a tenth of the rows, a margin of a standard error may leave no point. The examples have all of them.
pytestmark = pytest.mark.filterwarnings("ignore:None of the [0-9]* models is useful and within:UserWarning")

Run = Callable[..., dict[str, Any]]
#: What makes each of these quick to train: a front, a limit and a picture need no better models.
FEW = {
    FairNetClassifier: {"epochs": 3},
    LGBMClassifier: {"n_estimators": 20},
    HistGradientBoostingClassifier: {"max_iter": 20},
}


def shorten_training(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, few in FEW.items():
        fit = kind.fit

        @wraps(fit)
        def short(self: Any, *rows: Any, fit: Any = fit, few: dict[str, int] = few, **more: Any) -> Any:
            return fit(self.set_params(**few), *rows, **more)

        monkeypatch.setattr(kind, "fit", short)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Return what runs an example on the first rows of Adult, with a short search, and returns its variables."""
    adult = load_adult()

    def run(name: str, rows: int = 4000, figures: int = 1) -> dict[str, Any]:
        few = replace(
            adult,
            X=adult.X[:rows],
            y=adult.y[:rows],
            sensitive=adult.sensitive[:rows],
            split_sizes=(rows // 2, rows // 4),
        )
        monkeypatch.setattr("mamofair.datasets.load_adult", lambda **_: few)
        shorten_training(monkeypatch)
        with plt.rc_context(), torch.random.fork_rng(), patch.dict(ROUNDS, dict.fromkeys(ROUNDS, 0)):
            variables = runpy.run_path(str(EXAMPLES / f"plot_{name}.py"))
            drawn = [plt.figure(number) for number in plt.get_fignums()]
            assert len(drawn) == figures
            for figure in drawn:
                figure.draw_without_rendering()
        return variables

    plt.close("all")  # what another test has left open, whichever came before
    before = matplotlib.get_backend()
    matplotlib.use("template")  # no window: `plt.show()` returns at once
    yield run
    plt.close("all")
    matplotlib.use(before)


def test_every_example_is_tested_and_asks_its_question_in_the_title():
    tested = Path(__file__).read_text()
    for path in EXAMPLES.glob("plot_*.py"):
        assert f'run("{path.stem.removeprefix("plot_")}"' in tested
        _, title, line, *_ = path.read_text().splitlines()
        assert set(line) == {"="}
        assert len(line) == len(title)


def test_smaller_limits_cost_more(run):
    found = run("choose_limit", rows=3000, figures=3)
    model = found["model"]
    chosen = [model.with_selection(MostAccurateWithin(limit)) for limit in found["limits"]]
    picked = [one.selected_ for one in chosen if one.selection_note_ is None]  # the smallest limits are out of reach
    assert len(picked) > 2
    errors, gaps = model.front_.values[[0, *picked]].T  # on validation rows: among new ones, so few show no order
    assert (np.diff(errors) >= 0).all()
    assert (np.diff(gaps) <= 0).all()
    assert gaps[-1] < gaps[0] - 0.03
    assert "people" in str(found["change"])


def test_a_trained_model_is_made_fair_as_it_is(run):
    table = run("trained_model", rows=6000, figures=2)["table"]
    assert table.loc["made fair", "gap"] < table.loc["as it was", "gap"] - 0.03
    assert table.loc["made fair", "error"] < table.loc["as it was", "error"] + 0.04


def test_three_gaps_shrink_at_once(run):
    audits = run("three_attributes", rows=4000, figures=2)["audits"]
    before, after = (audits[name].frame().set_index("attribute")["gap"] for name in ("most accurate", "chosen"))
    assert (after < before + 0.05).all()  # by chance, on 2,000 new rows
    assert after.max() < before.max()


def test_choices_as_measured_and_with_confidence_are_drawn(run):
    found = run("certain_limit", rows=2000)
    assert {"closest to the ideal", "gap ≤ 0.05 as measured"} <= set(found["observed"])
    assert all(0 <= gap < 0.3 and 0.1 < error < 0.26 for gap, error in found["observed"].values())


def test_an_alternative_has_the_smaller_gap(run):
    answers = run("fairer_model", rows=3000)["answers"]
    assert list(answers) == ["logistic regression", "boosted trees"]
    assert answers["logistic regression"].gap.value < 0


def test_costs_and_capacity_lead_to_other_choices(run):
    table = run("costs", rows=4000)["table"]
    assert table.loc["cost", "cost"] < table.loc["error", "cost"]
    assert table.loc["error, a tenth selected", "selected"] < table.loc["error", "selected"]


def test_higher_ratios_are_reached_on_test_rows_and_cost_accuracy(run):
    table = run("four_fifths", rows=4000)["table"].set_index("asked for")
    assert table.loc[0.0, "ratio"] < 0.6
    assert table.loc[0.8, "ratio"] > table.loc[0.0, "ratio"] + 0.15
    assert table.loc[0.8, "error"] < table.loc[0.0, "error"] + 0.05


def test_limit_within_departments_closes_gaps_there_and_one_overall_does_not(run):
    table = run("departments")["table"]
    overall, within = table.loc["overall"], table.loc["within departments"]
    assert overall["gap overall"] < 0.1 < within["gap overall"]
    assert within["gap within"] < 0.1
    assert within["gap within"] < overall["gap within"]
    assert within["error"] < overall["error"]


def test_the_vendor_exceeds_a_limit_and_scores_women_too_low(run):
    found = run("audit_vendor", figures=2)["result"]
    verdicts = found.frame().set_index(["notion", "attribute"])["verdict"]
    assert verdicts["demographic_parity", "race"] == "exceeds"
    women = found.calibration_error().set_index("group").loc["Female"]
    assert women["high"] < 0


def test_a_broken_form_shows_without_labels(run):
    found = run("late_labels", rows=40_000, figures=2)  # a fifth of them are to learn from
    women, late = found["sex_new"] == "Female", found["month"] >= 7
    assert found["decided"][women & late].mean() < found["decided"][women & ~late].mean()
    assert not found["result"].has_truth
    assert found["question"].rows == (found["month"] <= 5).sum()


def test_a_search_refits_a_pipeline_within_the_limit(run):
    found = run("pipeline", rows=4000)
    assert found["search"].best_index_ == found["within_limit"](found["search"].cv_results_)
    best = found["search"].best_estimator_[-1]
    picked = [best.with_selection(MostAccurateWithin(limit)).selected_ for limit in found["table"]["limit"]]
    assert (np.diff(best.front_.values[picked, 1]) <= 0).all()


def test_own_network_finds_a_front(run):
    found = run("own_network", rows=3000)
    assert isinstance(found["model"].front_[0].state, dict)
    assert found["model"].front_.values[0, 0] < 0.24  # of the constant


def test_own_loop_trains_with_our_weighting_and_with_one_of_torchjd(run):
    fronts = run("own_loop", rows=2500)["fronts"]
    for front in fronts.values():
        assert front.columns == ["error", "demographic_parity[sex]", "demographic_parity[race]"]
        assert front.values[0, 0] < 0.22


def test_a_production_model_is_made_fairer_and_loses_no_more_accuracy_than_allowed(run):
    found = run("fine_tuning", rows=4000)
    fair, table = found["fair"], found["table"]
    before, chosen = fair.selection.limit - found["LOSS"], fair.front_.values[fair.selected_]
    assert chosen[0] <= fair.selection.limit
    assert fair.front_.values[0, 0] <= before  # the model itself, or what beats it
    assert table.loc["fine-tuned", "gap"] <= table.loc["in production", "gap"]
    assert table.loc["fine-tuned", "error"] < table.loc["in production", "error"] + 4 * found["LOSS"]  # of 1,000 rows


def test_decisions_that_hang_on_sex_are_made_rarer(run):
    found = run("counterfactual", rows=4000)
    table = found["table"]
    assert "flips" in found["model"].front_.columns
    assert table.loc["flips of at most 0.01", "flips"] <= min(0.03, table.loc["most accurate", "flips"])
    assert (table["error"] < 0.24).all()  # of the constant


def test_tanh_follows_the_true_gap_far_better_than_linear_and_convex_concave(run):
    """The paper's Figure 1."""
    correlations = run("paper_figure_1", figures=2)["correlations"]
    assert correlations["Tanh(c=3)"] > 0.98
    assert max(correlations["Linear()"], correlations["ConvexConcave()"]) < 0.5
