import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from mamofair import FairPlugInClassifier
from mamofair.cli import app
from mamofair.datasets import CATALOG, Dataset, Entry, make_toy
from mamofair.datasets._base import one_hot


@pytest.mark.parametrize("name", [name for name, entry in CATALOG.items() if not entry.files])
def test_what_needs_no_file_keeps_the_contract(name, check_dataset):
    check_dataset(CATALOG[name].load())


def load_moons():
    X, y = make_moons(400, noise=0.2, random_state=0)
    group = np.where(X[:, 0] > np.median(X[:, 0]), "east", "west")
    return Dataset(
        name="moons",
        X=pd.DataFrame(X, columns=["x1", "x2"]),
        y=pd.Series(y, name="lower moon"),
        sensitive=pd.DataFrame({"side": group}),
        favorable=1,
        split_sizes=(200, 100),
        source="scikit-learn",
        license="CC0",
        citation="Pedregosa et al. 2011",
        description="Two moons in the plane.",
        coded_as_one={"side": "east"},
        recipe=to_numpy,
    )


def to_numpy(X, groups):
    return X.to_numpy(copy=True)


def test_a_new_data_set_is_one_function_and_one_line_in_the_catalog(check_dataset, monkeypatch):
    monkeypatch.setitem(CATALOG, "moons", Entry(load_moons, 400, "CC0"))
    moons = CATALOG["moons"].load()
    check_dataset(moons)
    model = FairPlugInClassifier(LogisticRegression(), cv=None, random_state=0)
    assert len(model.fit(moons.X, moons.y, sensitive_features=moons.sensitive).front_)
    listed = json.loads(CliRunner().invoke(app, ["datasets", "--json"]).stdout)
    assert listed["moons"] == {"rows": 400, "license": "CC0", "at_hand": True}


def test_a_dataset_is_frozen():
    with pytest.raises(FrozenInstanceError):
        make_toy().name = "other"


def test_frames_of_different_length_are_refused():
    toy = make_toy()
    with pytest.raises(ValueError, match="found 10, 600 and 600 rows"):
        replace(toy, X=toy.X.head(10))


def test_labels_other_than_0_and_1_are_refused():
    toy = make_toy()
    with pytest.raises(ValueError, match=r"0 and 1 only: found \[-1, 1\]"):
        replace(toy, y=2 * toy.y - 1)


def test_a_sensitive_attribute_among_the_features_is_refused():
    toy = make_toy()
    with pytest.raises(ValueError, match=r"drop \['group'\]"):
        replace(toy, X=toy.X.assign(group="protected"))


def test_one_hot_keeps_the_order_of_categories_and_gives_zeros_for_missing():
    column = pd.Series(pd.Categorical(["b", None, "a", "b"], categories=["b", "a", "never"]))
    np.testing.assert_array_equal(one_hot(column), [[1, 0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0]])
