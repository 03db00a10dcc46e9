"""
A fair model in MLflow
======================

MLflow's default format is skops, which uses no pickle and executes nothing on loading. It reads only trusted types;
``mamofair.trusted_types()`` lists ours. This example needs ``pip install mlflow``.
"""

from typing import Any

import mlflow.sklearn
from sklearn.model_selection import train_test_split

from mamofair import FairPortfolioClassifier, MostAccurateWithin, trusted_types
from mamofair.datasets import load_adult
from mamofair.metrics import error, gap


def log(rows: int = 8000, limit: float = 0.05) -> tuple[str, dict[str, float]]:
    """Train a model, log it with its error and gap on new people, and return its MLflow URI and both figures."""
    adult = load_adult()
    X, X_new, y, y_new, sex, sex_new = train_test_split(
        adult.X, adult.y, adult.sensitive["sex"], train_size=rows, test_size=rows, random_state=0
    )
    model = FairPortfolioClassifier(effort="fast", selection=MostAccurateWithin(limit), random_state=0)
    decided = model.fit(X, y, sensitive_features=sex).predict(X_new)
    unfairness = gap(y_new, decided, sensitive_features=sex_new, notion="demographic_parity")
    figures = {"error": error(y_new, decided), "gap": unfairness}
    with mlflow.start_run():
        mlflow.log_metrics(figures)
        logged = mlflow.sklearn.log_model(
            model, name="model", skops_trusted_types=trusted_types(), pip_requirements=["mamofair"]
        )
    return logged.model_uri, figures


def load(address: str) -> Any:
    """Return the logged model with its whole front: `at` and `with_selection` choose another point."""
    return mlflow.sklearn.load_model(address)


if __name__ == "__main__":
    address, figures = log()
    print(address, {name: round(value, 3) for name, value in figures.items()})
    print(load(address).front_)
