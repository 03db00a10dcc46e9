"""Groups that are too small to judge: left out of the gaps, and named."""

import numpy as np
import pandas as pd
import pytest

from mamofair import FairPlugInClassifier
from mamofair._rows.groups import read_groups
from mamofair.learners.task import read_notions, small_groups
from mamofair.metrics import gap


def people(rng, small):
    """Return features, labels and groups of 400 people of two large regions and some of a small one."""
    region = np.array(["north"] * 200 + ["south"] * 200 + ["islands"] * small)
    X = rng.normal(size=(len(region), 2)) + (region == "north")[:, None]
    return X, (X[:, 0] + rng.normal(size=len(X)) > 0.5).astype(int), pd.Series(region, name="region")


def fit(X, y, region, **parameters):
    model = FairPlugInClassifier(effort="fast", cv=2, random_state=0, **parameters)
    return model.fit(X, y, sensitive_features=region)


def test_a_small_group_is_named_and_does_not_count(rng):
    X, y, region = people(rng, small=12)
    with pytest.warns(UserWarning, match=r"'region' with fewer than 30 rows are too small .*: 'islands' \(12\)\."):
        model = fit(X, y, region)
    assert model.front_.groups == {"region": ("north", "south")}
    known = region.where(region != "islands")
    unknown = fit(X, y, known)  # as if nobody knew where they live
    np.testing.assert_array_equal(model.front_.values, unknown.front_.values)


def test_a_group_that_is_large_enough_counts(rng):
    X, y, region = people(rng, small=12)
    assert fit(X, y, region, min_group=12).front_.groups == {"region": ("islands", "north", "south")}


def test_of_two_groups_none_is_left_out(rng):
    X, y, _ = people(rng, small=0)
    few = pd.Series(np.where(np.arange(len(X)) % 40 == 0, "few", "many"), name="kind")
    model = fit(X, y, few)
    assert model.front_.groups == {"kind": ("few", "many")}
    decided = model.predict(X)
    assert 0 <= gap(y, decided, sensitive_features=few, notion="dp") <= 1


def test_rows_are_counted_under_the_condition_of_the_rate(rng):
    groups = read_groups(pd.Series(["a"] * 50 + ["b"] * 50 + ["c"] * 50, name="x"))
    y = np.array([1] * 50 + [1] * 40 + [0] * 10 + [1] * 20 + [0] * 30)
    found = {name: small_groups(groups, y, read_notions(name, ("x",)), 30) for name in ("dp", "tpr", "eodds")}
    assert found == {"dp": {}, "tpr": {"x": {"c": 20}}, "eodds": {}}  # with false positives, one group would be left
