"""Fine-tune a model in production
===============================

Fine-tune a trained PyTorch model for fairness, and lose no more accuracy than you allow.

All members start at the parameters of your model, and `measure_start=True` measures it before the first step: it is a
point of the front unless another one beats it. Hold back rows that your model was not trained on, or its error there
would be too good, and so would be the limit.

::

    python examples/fine_tuning.py
"""

from copy import deepcopy

import numpy as np
import pandas as pd
import torch
from torch.nn import Flatten, Linear, Module, ReLU, Sequential
from torch.nn.functional import binary_cross_entropy_with_logits

from mamofair import FairestWithin, FairNetClassifier
from mamofair.datasets import load_adult, split
from mamofair.metrics import error, gap

LOSS = 0.01  # the accuracy that may be lost: one point of a hundred


def train(X: np.ndarray, y: np.ndarray, epochs: int) -> Module:
    """Return an ordinary model, trained without any thought of fairness: the one in production."""
    torch.manual_seed(0)
    model = Sequential(Linear(X.shape[1], 32), ReLU(), Linear(32, 1), Flatten(0))
    features, labels = torch.tensor(X), torch.tensor(y, dtype=torch.float32)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for rows in (part for _ in range(epochs) for part in torch.randperm(len(y)).split(256)):
        optimizer.zero_grad()
        binary_cross_entropy_with_logits(model(features[rows]), labels[rows]).backward()
        optimizer.step()
    return model.eval()


def decide(model: Module, X: np.ndarray) -> np.ndarray:
    with torch.inference_mode():
        return (model(torch.tensor(X)) > 0).numpy().astype(int)


def fine_tune(epochs: int = 15, members: int = 12) -> tuple[FairNetClassifier, pd.DataFrame]:
    """Return the fitted front, and error and gap of both models on rows that neither was trained or chosen on."""
    adult = load_adult()
    (X, y, _), sex, (old, held_back, test) = adult.design(), adult.sensitive["sex"], split(adult, seed=0)
    X = ((X - X[old].mean(0)) / X[old].std(0).clip(0.1)).astype("float32")
    model = train(X[old], y[old], epochs)

    rows = np.concatenate([old, held_back])
    fair = FairNetClassifier(
        "demographic_parity",
        network=lambda n_features: deepcopy(model),
        standardize=False,  # the model takes its features as they are
        measure_start=True,
        validation_fraction=np.isin(rows, held_back),
        members=members,
        epochs=epochs,
        learning_rate=0.001,
        random_state=0,
    ).fit(X[rows], y[rows], sensitive_features=sex.iloc[rows])
    limit = error(y[held_back], decide(model, X[held_back])) + LOSS
    fair = fair.with_selection(FairestWithin(limit))

    found = {"in production": decide(model, X[test]), "fine-tuned": fair.predict(X[test])}
    people = {"sensitive_features": sex.iloc[test], "notion": "demographic_parity"}
    numbers = {name: (error(y[test], ours), gap(y[test], ours, **people)) for name, ours in found.items()}
    return fair, pd.DataFrame.from_dict(numbers, orient="index", columns=["error", "gap"])


if __name__ == "__main__":
    fair, table = fine_tune()
    steps = [point.step for point in fair.front_.points]
    print(fair.front_.frame().assign(step=steps))
    print(f"The model in production is row {steps.index(0)}." if 0 in steps else "It beats the model in production.")
    print(f"\nOn test rows; the limit was an error of {fair.selection.limit:.3f} on held-back rows:\n{table.round(3)}")
    lost = table.loc["fine-tuned", "error"] - table.loc["in production", "error"]
    print(
        f"Accuracy lost on test rows: {lost:.3f}, of {LOSS:g} allowed. The limit is kept on held-back rows, by a\n"
        "standard error; on other rows that is likely, not certain."
    )
