"""Fits that take a moment: the toy, small networks, few epochs."""

from typing import Any

import numpy as np
import pandas as pd

from mamofair import MLP, FairNetClassifier
from mamofair.datasets import make_toy

SMALL: dict[str, Any] = {"members": 3, "epochs": 6, "batch_size": 100, "network": MLP((8,), 0.2), "learning_rate": 0.02}
TOY = make_toy()
X, Y, GROUP = TOY.X, TOY.y, TOY.sensitive


def small(**parameters: Any) -> FairNetClassifier:
    """Return an estimator that is quick to fit."""
    return FairNetClassifier(**(SMALL | {"random_state": 0} | parameters))


def fitted(**parameters: Any) -> FairNetClassifier:
    """Return one fitted to the toy."""
    return small(**parameters).fit(X, Y, sensitive_features=GROUP)


def two_attributes(unknown: int = 0) -> pd.DataFrame:
    """Return the toy's groups and another attribute of three groups, some of it unknown."""
    region = np.random.default_rng(0).choice(["north", "south", "west"], size=len(X)).astype(object)
    region[:unknown] = None
    return GROUP.assign(region=region)


def assert_same(one: FairNetClassifier, other: FairNetClassifier) -> None:
    """Same front, same parameters at every point, bit for bit."""
    pd.testing.assert_frame_equal(one.front_.frame(), other.front_.frame(), check_exact=True)
    for ours, theirs in zip(one.front_.points, other.front_.points, strict=True):
        assert (ours.member, ours.step) == (theirs.member, theirs.step)
        for name, tensor in ours.state.items():
            np.testing.assert_array_equal(tensor.numpy(), theirs.state[name].numpy())
