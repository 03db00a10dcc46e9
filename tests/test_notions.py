import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import people, slow_gap
from mamofair.notions import (
    ALL,
    FN,
    FP,
    NOTIONS,
    TN,
    TP,
    Cell,
    Confusion,
    Notion,
    Rate,
    as_notion,
    column,
    spread,
)

BY_HAND = {  # the eight people of conftest.py
    "demographic_parity": 1 / 4,
    "equal_opportunity": 1 / 2,
    "predictive_equality": 0,
    "false_negative_parity": 1 / 2,
    "true_negative_parity": 0,
    "equalized_odds": 1 / 2,
    "accuracy_parity": 1 / 4,
    "predictive_parity": 2 / 3 - 1 / 2,
    "false_discovery_parity": 1 / 2 - 1 / 3,
    "false_omission_parity": 1 / 2,
    "negative_predictive_parity": 1 / 2,
}


@pytest.mark.parametrize("name", BY_HAND)  # a new notion need not be here: the definition row by row is its oracle
def test_gap_of_eight_people_is_what_the_hand_computes(name, eight_people):
    members = np.zeros((8, 4))
    members[np.arange(8), 2 * (1 - eight_people.y) + (eight_people.sex == "M")] = 1
    confusion = Confusion.of_rows(eight_people.predicted.to_numpy(float), members)
    assert as_notion(name).gap(confusion) == pytest.approx(BY_HAND[name])


@given(st.sampled_from(NOTIONS), st.integers(2, 5), st.integers(1, 30), st.integers(0, 10**6))
def test_gap_equals_the_definition_row_by_row(notion, size, n, seed):
    y, groups = people(size, n, seed)
    positive = np.random.default_rng(seed).random(n) < 0.4
    gap = notion.gap(Confusion.of_rows(positive.astype(float), groups.memberships(y)["a"]))
    np.testing.assert_allclose(gap, slow_gap(notion, y, positive, groups.codes[:, 0]))


def test_gaps_of_many_models_are_computed_at_once(rng):
    y, groups = people(3)
    positive = rng.random((7, len(y))) < 0.5
    members = groups.memberships(y)["a"]
    for notion in NOTIONS:
        together = notion.gap(Confusion.of_rows(positive.astype(float), members))
        alone = [notion.gap(Confusion.of_rows(row.astype(float), members)) for row in positive]
        np.testing.assert_array_equal(together, alone)


def test_weights_count_like_repeated_rows(rng):
    y, groups = people(3)
    positive, weight = rng.random(len(y)) < 0.5, rng.integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    weighted = Confusion.of_rows(positive.astype(float), groups.memberships(y, weight)["a"])
    again = Confusion.of_rows(positive[repeated].astype(float), groups[repeated].memberships(y[repeated])["a"])
    for notion in NOTIONS:
        np.testing.assert_allclose(notion.gap(weighted), notion.gap(again))


def test_undefined_rate_is_nan_and_does_not_count():
    counts = np.array([[0.0, 1, 0, 3], [2, 0, 2, 0], [1, 0, 3, 0]])  # nobody in the first group has y = 1
    rate = Rate(TP, given=TP | FN)
    np.testing.assert_array_equal(rate(Confusion.of_counts(counts)), [np.nan, 0.5, 0.25])
    assert Notion("tpr", (rate,)).gap(Confusion.of_counts(counts)) == 0.25


def test_gap_is_nan_with_fewer_than_two_defined_groups():
    counts = np.array([[0.0, 1, 0, 3], [2, 0, 2, 0]])
    assert np.isnan(as_notion("equal_opportunity").gap(Confusion.of_counts(counts)))
    assert np.isnan(as_notion("equalized_odds").gap(Confusion.of_counts(counts)))
    assert np.isnan(spread([np.nan, np.nan]))


def test_one_sided_masses_still_divide_by_the_rows_of_the_label():
    members = np.array([[1.0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])  # y=1: two in a, one in b
    near_boundary = np.full(4, 0.1)
    confusion = Confusion.of_rows(near_boundary, members, negative=near_boundary)
    np.testing.assert_allclose(Rate(TP, given=TP | FN)(confusion), [0.1, 0.1])
    np.testing.assert_allclose(confusion.mass(ALL), [3, 1])


@pytest.mark.parametrize(("event", "given"), [(TP, FP | TN), (TP | FP, TP | FN), (Cell(0), ALL)])
def test_event_outside_its_condition_is_refused(event, given):
    with pytest.raises(ValueError, match="must be a non-empty part of its condition"):
        Rate(event, given=given)


def test_event_that_is_its_condition_is_refused():
    with pytest.raises(ValueError, match="smaller than its condition"):
        Rate(TP | FN, given=TP | FN)


def test_notion_without_rates_is_refused():
    with pytest.raises(ValueError, match="at least one rate"):
        Notion("nothing", ())


def test_every_possible_rate_has_a_sentence_of_its_own():
    subsets = [Cell(i) for i in range(1, 16)]
    rates = [Rate(e, given=g) for e in subsets for g in subsets if e in g and e != g]
    sentences = [str(rate) for rate in rates]
    assert len(rates) == 50
    assert len(set(sentences)) == 50


def test_conditioning_on_the_prediction_is_read_off_the_cells():
    conditioned = {name for name in BY_HAND if as_notion(name).conditions_on_prediction}
    assert conditioned == {
        "predictive_parity",
        "false_discovery_parity",
        "false_omission_parity",
        "negative_predictive_parity",
    }
    assert Rate(FP, given=FP | TN | TP).conditions_on_prediction


def test_names_and_aliases_are_unique_and_found_in_any_spelling():
    names = [name for notion in NOTIONS for name in (notion.name, *notion.aliases)]
    assert len(set(names)) == len(names)
    assert as_notion("Equalized Odds") == as_notion("equalized-odds") == as_notion("eodds")


def test_unknown_notion_offers_the_nearest_names():
    with pytest.raises(
        ValueError,
        match=r"'demografic_parity'. Did you mean demographic_parity.* There are demog",
    ):
        as_notion("demografic_parity")


def test_a_notion_of_ones_own_is_one_line():
    wrong = Notion("error_parity", (Rate(FP | FN),))
    assert wrong.sentence == "P(ŷ≠y) is the same in every group"
    assert column(wrong, "sex") == "error_parity[sex]"
    counts = Confusion.of_counts(np.array([[1.0, 1, 1, 1], [4, 0, 0, 0]]))
    assert wrong.gap(counts) == as_notion("accuracy_parity").gap(counts) == 0.5


def test_labels_under_a_condition():
    assert Rate(TP, given=TP | FN).labels == (1,)
    assert Rate(TN, given=FP | TN).labels == (0,)
    assert Rate(TP, given=TP | FP).labels == (1, 0)
