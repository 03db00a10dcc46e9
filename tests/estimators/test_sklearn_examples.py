"""The examples for scikit-learn's users run, and show what they say they show."""

import runpy
from pathlib import Path
from typing import Any

import pytest
from sklearn import config_context
from small_fits import SMALL

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def test_pipeline_offers_points_within_several_limits():
    found = example("pipeline")["choices"](rows=1500, limits=(1.0, 0.1), **SMALL | {"epochs": 8})
    assert found["limit"].tolist() == [1.0, 0.1]
    assert (found["error"] < 0.3).all()
    assert found["gap"].is_monotonic_decreasing


def test_fair_model_scores_fairer_in_cross_validation():
    found = example("fairness_scorer")["scores"](folds=3, **SMALL | {"epochs": 20})
    assert found.loc["fair", "fairness"] > found.loc["ordinary", "fairness"]
    assert (found["accuracy"] > 0.6).all()


def test_grid_search_chooses_the_most_accurate_within_the_bound():
    settings = {name: value for name, value in SMALL.items() if name != "network"}
    grid = example("grid_search")["search"](limit=0.15, folds=2, **settings)
    accuracy, gaps = grid.cv_results_["mean_test_accuracy"], -grid.cv_results_["mean_test_fairness"]
    within = gaps <= 0.15
    best = accuracy[within].max() if within.any() else accuracy[gaps.argmin()]
    assert accuracy[grid.best_index_] == best
    assert len(grid.best_estimator_.front_) >= 1
