import numpy as np
import pytest

from mamofair._rows.labels import as_column, as_weights, favorable_label, is_label


@pytest.mark.parametrize(
    ("labels", "favorable"),
    [([0, 1], 1), ([-1, 1], 1), ([True, False], True), ([1.0, 0.0], 1), ([1.0, -1.0], 1)],
)
def test_larger_of_known_labels_is_favorable_by_default(labels, favorable):
    assert favorable_label(np.array(labels)) == favorable


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (["denied", "approved"], "'denied' and 'approved'"),
        ([2.0, 1.0], "2.0 and 1.0"),
        ([0, -1], "0 and -1"),
        (["0", "1"], "'0' and '1'"),
        (["denied"], "'denied'"),
    ],
)
def test_the_alphabet_does_not_decide_what_is_favorable(labels, shown):
    message = f"unless labels are 0/1, booleans or −1/1: found {shown} in `y`. Pass one of them as `favorable=…`"
    with pytest.raises(ValueError, match=message):
        favorable_label(np.array(labels))
    assert favorable_label(np.array(labels), favorable=labels[0]) == labels[0]


@pytest.mark.parametrize("labels", [[0, 0], [1], [False], [-1]])
def test_one_known_label_is_understood(labels):
    assert favorable_label(np.array(labels)) == 1


@pytest.mark.parametrize("labels", [[False, True], [True], [False]])
def test_the_favorable_one_of_booleans_is_said_to_be_true(labels):
    assert favorable_label(np.array(labels)) is True


def test_the_favorable_label_need_not_occur():
    assert favorable_label(np.array(["denied"]), favorable="approved") == "approved"


def test_favorable_must_be_a_label():
    with pytest.raises(ValueError, match="'no' and 'yes': found 1"):
        favorable_label(np.array(["no", "yes"]), favorable=1)
    with pytest.raises(ValueError, match="one of the labels 1: found '1'"):
        favorable_label(np.array([1, 1]), favorable="1")
    with pytest.raises(ValueError, match=r"one of the labels 0 and 1: found \[1\]"):
        favorable_label(np.array([0, 1]), favorable=[1])


def test_three_labels_are_too_many():
    with pytest.raises(ValueError, match=r"two labels: found 3 \(0, 1, 2\)"):
        favorable_label(np.array([0, 1]), np.array([2]))


def test_columns_must_be_flat_and_complete():
    assert as_column([[1], [2]], "y").tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"`y` must have one dimension: found an array of shape \(2, 2\)"):
        as_column(np.zeros((2, 2)), "y")
    with pytest.raises(ValueError, match="`y` must have no missing value: found 1 of 2"):
        as_column(["a", None], "y")


def test_a_zero_at_the_end_of_a_text_counts():
    assert is_label(objects("a", "a\0"), "a\0").tolist() == [False, True]


def objects(*values):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


@pytest.mark.parametrize("labels", [objects((0, 1), (1, 0)), objects([1], [0]), objects({1}, {2})])
def test_labels_that_cannot_be_compared_row_by_row_are_refused(labels):
    with pytest.raises(ValueError, match="`y` must have a number, a text or a boolean in each row: found"):
        as_column(labels, "y")


@pytest.mark.parametrize("weight", [1e308, 1e200, 1e-200, 5e-324])
def test_weights_whose_sums_would_overflow_are_refused(weight):
    with pytest.raises(ValueError, match=r"must lie between 1e-100 and 1e\+100 where it is not 0: found"):
        as_weights([0, weight, 1], rows=3)


@pytest.mark.parametrize("weight", [["a", "b"], [1j, 1], [(1, 2), (1, 3)]])
def test_weights_must_be_numbers(weight):
    with pytest.raises(ValueError, match="`sample_weight` must"):
        as_weights(weight, rows=2)


def test_labels_in_messages_are_cut_short():
    with pytest.raises(ValueError, match="two labels") as caught:
        favorable_label(np.array([letter * 10**5 for letter in "abc"]))
    assert len(str(caught.value)) < 500


def test_text_that_is_no_unicode_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="`y` must have text in valid Unicode"):
        as_column(np.array(["a", "\ud800"], dtype=object), "y")


def test_large_whole_numbers_beside_fractions_stay_different():
    assert len(set(as_column([2**53, 2**53 + 1, -1.0], "y").tolist())) == 3


@pytest.mark.parametrize("kind", [complex, object])
def test_complex_labels_are_refused(kind):
    with pytest.raises(ValueError, match="`y` must have a number, a text or a boolean in each row: found 1j"):
        as_column(np.array([1j, 2**53], dtype=kind), "y")
