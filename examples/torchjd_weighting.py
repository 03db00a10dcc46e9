"""TorchJD's weightings beside ours
================================

TorchJD's weightings beside ours in one population: any function from a Gramian to weights fits.

Each member trains the same network on the same batches with its own weighting, and all of them share one front.

::

    python examples/torchjd_weighting.py
"""

from collections import Counter

import numpy as np
from torchjd.aggregation import IMTLGWeighting, MGDAWeighting

from mamofair import FairNetClassifier, MinNorm
from mamofair.datasets import load_adult, split

WEIGHTINGS = [MinNorm(), MGDAWeighting(), IMTLGWeighting()]


def fit(epochs: int = 10) -> FairNetClassifier:
    adult = load_adult()
    X, y, _ = adult.design()
    rows = np.concatenate(split(adult, seed=0)[:2])
    model = FairNetClassifier("demographic_parity", members=WEIGHTINGS, epochs=epochs, random_state=0)
    return model.fit(X[rows], y[rows], sensitive_features=adult.sensitive.iloc[rows])


if __name__ == "__main__":
    model = fit()
    print(model.front_.frame())
    found = Counter(point.member for point in model.front_.points)
    for member, weighting in enumerate(WEIGHTINGS):
        print(f"{found[member]:3} points by {type(weighting).__name__}")
