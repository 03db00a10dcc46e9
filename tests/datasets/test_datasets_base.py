from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest

from mamofair.datasets import load_adult, load_compas, make_toy
from mamofair.datasets._base import one_hot


@pytest.mark.parametrize("load", [load_adult, load_compas, make_toy])
def test_what_needs_no_file_keeps_the_contract(load, check_dataset):
    check_dataset(load())


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
