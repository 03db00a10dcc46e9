"""Models in MLflow, where it is installed: `pip install mlflow` or `mlflow-skinny`."""

import runpy
from pathlib import Path

import pytest
from sklearn.linear_model import LogisticRegression

from mamofair import FairPlugInClassifier, trusted_types
from mamofair.datasets import make_toy

mlflow = pytest.importorskip("mlflow", reason="MLflow: it is no dependency; `pip install mlflow` runs it")
pytestmark = pytest.mark.filterwarnings("default")  # of MLflow and what it imports

EXAMPLE = Path(__file__).parents[1] / "examples" / "mlflow_model.py"


@pytest.fixture(autouse=True)
def tracking(tmp_path, monkeypatch):
    """Track in a folder of the test, whose database mlflow-skinny has no driver for."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())


def test_the_example_logs_a_model_that_loads_with_its_front():
    example = runpy.run_path(str(EXAMPLE))
    address, figures = example["log"](rows=1500)
    assert figures["error"] < 0.24
    assert figures["gap"] < 0.15
    again = example["load"](address)
    assert len(again.front_) > 1
    assert again.at(0).selected_ == 0


def test_the_default_flavour_is_skops_and_gives_the_same_decisions(tmp_path):
    import mlflow.sklearn

    toy = make_toy()
    model = FairPlugInClassifier(LogisticRegression(), cv=None, random_state=0)
    model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    parts = {"skops_trusted_types": trusted_types(), "pip_requirements": ["mamofair"]}
    mlflow.sklearn.save_model(model, tmp_path / "model", **parts)
    assert (tmp_path / "model" / "model.skops").exists()
    again = mlflow.sklearn.load_model(str(tmp_path / "model"))
    assert (again.predict_proba(toy.X) == model.predict_proba(toy.X)).all()
    served = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    assert (served.predict(toy.X) == model.predict(toy.X)).all()


def test_models_that_are_not_trusted_are_not_saved(tmp_path):
    import mlflow.sklearn

    toy = make_toy()
    model = FairPlugInClassifier(LogisticRegression(), cv=None, random_state=0)
    model.fit(toy.X, toy.y, sensitive_features=toy.sensitive)
    with pytest.raises(mlflow.exceptions.MlflowException, match="FairPlugInClassifier"):
        mlflow.sklearn.save_model(model, tmp_path / "model", pip_requirements=["mamofair"])
