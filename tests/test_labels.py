import numpy as np
import pytest

from mamofair.labels import as_column, favorable_label


@pytest.mark.parametrize(
    ("labels", "favorable"),
    [([0, 1], 1), ([-1, 1], 1), ([True, False], True), (["denied", "approved"], "denied"), ([2.0, 1.0], 2.0)],
)
def test_larger_label_is_favorable_by_default(labels, favorable):
    assert favorable_label(np.array(labels)) == favorable


@pytest.mark.parametrize("labels", [[0, 0], [1], [False], [-1]])
def test_one_known_label_is_understood(labels):
    assert favorable_label(np.array(labels)) == 1


def test_one_label_of_unknown_meaning_asks():
    with pytest.raises(ValueError, match="one label only, 'denied'"):
        favorable_label(np.array(["denied"]))
    assert favorable_label(np.array(["denied"]), favorable="approved") == "approved"


def test_favorable_must_be_a_label():
    with pytest.raises(ValueError, match="'no' and 'yes': found 1"):
        favorable_label(np.array(["no", "yes"]), favorable=1)


def test_three_labels_are_too_many():
    with pytest.raises(ValueError, match=r"two labels: found 3 \(0, 1, 2\)"):
        favorable_label(np.array([0, 1]), np.array([2]))


def test_columns_must_be_flat_and_complete():
    assert as_column([[1], [2]], "y").tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"`y` must have one dimension: found an array of shape \(2, 2\)"):
        as_column(np.zeros((2, 2)), "y")
    with pytest.raises(ValueError, match="`y` must have no missing value: found 1 of 2"):
        as_column(["a", None], "y")
